import { Detail } from "@raycast/api";
import { act, useState, type ReactElement } from "react";
import { Library, type ListPage } from "@persyk/store";
import { useSimilar } from "../../src/hooks/useSimilar";
import { Screen } from "../raycast-api/screen";
import { enterCommand, resetWorld, world } from "../raycast-api/world";

beforeEach(() => {
  resetWorld();
  enterCommand("search-sessions");
});

const page: ListPage = {
  sessions: ["Call the bank", "Garden notes"].map((label, at) => ({
    location: `/data/sessions/s${at}`,
    id: `s${at}`,
    label,
    createdAt: "2026-03-01T09:00:00.000Z",
    archived: false,
    interrupted: false,
    verdict: "valid",
    messages: 1,
    recordings: 0,
    durationMs: 0,
  })),
  diagnostics: [],
  cursor: null,
};

/** A library whose list comes when the test lets it, or fails. */
class SlowLibrary extends Library {
  readonly signals: (AbortSignal | undefined)[] = [];
  answer: (what: ListPage | Error) => void = () => undefined;

  override list({ signal }: { signal?: AbortSignal } = {}): Promise<ListPage> {
    this.signals.push(signal);
    return new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
      this.answer = (what) => (what instanceof Error ? reject(what) : resolve(what));
    });
  }
}

let setTyped: (text: string) => void = () => undefined;
const type = (text: string) => act(async () => setTyped(text));

function Similar({ library }: { library: Library }): ReactElement {
  const [text, setText] = useState("");
  setTyped = setText;
  const rows = useSimilar(library, text, { execute: true, hits: [] });
  return <Detail markdown={rows.map((row) => row.title).join("\n")} />;
}

async function typed(): Promise<{ library: SlowLibrary; screen: Screen }> {
  const library = new SlowLibrary({ writeRoot: "/data/sessions" });
  const screen = await Screen.mount(<Similar library={library} />);
  await type("ban");
  await screen.until("the titles are being read", () => library.signals.length === 1);
  return { library, screen };
}

test("the next letter does not end the reading of the titles", async () => {
  const { library, screen } = await typed();
  await type("bank");
  await screen.settled();
  expect(library.signals[0]?.aborted).toBe(false);
  library.answer(page);
  await screen.until("a similar title is there", () => screen.markdown() === "Call the bank");
  expect(library.signals).toHaveLength(1);
  expect(world().toasts).toEqual([]);
  await screen.close();
});

test("leaving ends the reading, and nobody is told", async () => {
  const { library, screen } = await typed();
  await screen.close();
  expect(library.signals[0]?.aborted).toBe(true);
  expect(world().toasts).toEqual([]);
});

test("a failure is shown, and the next letter reads again", async () => {
  const { library, screen } = await typed();
  library.answer(Object.assign(new Error("The folder is not readable"), { code: "access-denied", remedy: "Allow it" }));
  await screen.until("it says so", () => world().toasts.length === 1);
  expect(world().toasts[0]?.title).toBe("No Access to the Folder");
  expect(world().toasts[0]?.primaryAction?.title).toBe("Open Files and Folders Settings");
  await type("bank");
  await screen.until("the titles are read again", () => library.signals.length === 2);
  library.answer(page);
  await screen.until("a similar title is there", () => screen.markdown() === "Call the bank");
  await screen.close();
});
