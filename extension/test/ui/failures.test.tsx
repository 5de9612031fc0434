import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type ReactElement } from "react";
import { LiveView } from "../../src/components/LiveView";
import { RecordingStatus } from "../../src/components/RecordingStatus";
import { quickRecord } from "../../src/lib/quick-record";
import { parseSettings, type Settings } from "../../src/lib/settings";
import { writeSession } from "../commands/library-fixture";
import { Screen } from "../raycast-api/screen";
import { enterCommand, resetWorld, world } from "../raycast-api/world";
import { base, Stage } from "./stage";

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
beforeAll(() => process.on("unhandledRejection", note));
afterAll(() => process.off("unhandledRejection", note));
beforeEach(() => {
  unhandled.length = 0;
  resetWorld();
  enterCommand("record");
  world().localStorage.set("welcomed", "yes");
});
afterEach(async () => {
  // Rejections are told after the tasks that are under way.
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});

const folder = mkdtempSync(path.join(os.tmpdir(), "persyk-ui-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const settings = settingsOf();

function settingsOf(): Settings {
  const parsed = parseSettings({ sessionsDirectory: folder, concealedCopy: true });
  if (parsed.kind === "invalid") throw new Error(parsed.problem.cause);
  return parsed.settings;
}

const denied = () =>
  Object.assign(new Error("The state cannot be read"), { code: "access-denied", remedy: "Allow the folder" });
const live = (stage: Stage): ReactElement => (
  <LiveView settings={settings} start={{ kind: "microphone" }} source={stage} />
);
const lastToast = () => world().toasts.at(-1);

test("a state that cannot be read is said with its remedy, in Record and in the menu bar", async () => {
  for (const mount of [live, (stage: Stage) => <RecordingStatus source={stage} />]) {
    const stage = new Stage();
    stage.failing.set("view", denied());
    const screen = await Screen.mount(mount(stage));
    await screen.until("it says so", () => screen.text().includes("No Access to the Folder"));
    expect(screen.text()).toMatch(/The state cannot be read\.\s+Allow the folder\./);
    await screen.perform("Open Files and Folders Settings");
    expect(world().opened.at(-1)?.target).toContain("Privacy_FilesAndFolders");
    await screen.close();
  }
});

test("Quick Record starts nothing while it is not known whether something is recorded", async () => {
  const stage = new Stage();
  stage.failing.set("view", denied());
  world().preferences = { sessionsDirectory: folder };
  world().disabledCommands.add("record");
  await quickRecord(stage);
  expect(stage.calls).toEqual([]);
  expect(world().huds[0]).toContain("The state cannot be read. Allow the folder.");
});

test.each(["Record", "the menu bar"])("a stop that fails in %s is said with its remedy", async (where) => {
  const stage = new Stage();
  await stage.show({ kind: "live", state: base });
  stage.failing.set("stop", denied());
  const screen = await Screen.mount(where === "Record" ? live(stage) : <RecordingStatus source={stage} />);
  await screen.until("it is attached", () => screen.actions().includes("Stop Recording"));
  await screen.perform("Stop Recording");
  await screen.until("it says so", () => lastToast()?.title === "No Access to the Folder");
  expect(lastToast()?.message).toBe("The state cannot be read. Allow the folder.");
  expect(lastToast()?.primaryAction?.title).toBe("Open Files and Folders Settings");
  await screen.close();
});

test("an end that cannot be marked as told, and a removal that fails, are said", async () => {
  const stage = new Stage();
  await stage.show({ kind: "live", state: { ...base, saved: [{ entryId: "e1", role: "user", text: "Words" }] } });
  stage.failing.set("remove", denied()).set("announced", denied());
  const screen = await Screen.mount(live(stage));
  await screen.until("it is attached", () => screen.actions().includes("Words"));
  world().answers.push(true);
  await screen.perform("Words");
  await screen.until("it says so", () => world().toasts.length === 1);
  const result = { text: "", entryIds: [], outcome: "complete" as const, announced: false };
  await stage.show({ kind: "ended", state: { ...base, phase: "finished", result } });
  await screen.until("it says so again", () => world().toasts.length === 2);
  expect(world().toasts.map(({ title }) => title)).toEqual(["No Access to the Folder", "No Access to the Folder"]);
  await screen.close();
});

test("Copy Saved Text copies the whole recording, beyond what is shown, and nothing that may still change", async () => {
  const texts = Array.from({ length: 250 }, (_none, at) => `Sentence ${at + 1}`);
  const location = writeSession(folder, {
    id: "long",
    createdAt: "2026-03-01T09:00:00.000Z",
    turns: texts.map((text, at) => ({ text, startMs: at * 10, endMs: at * 10 + 9 })),
    recording: { durationMs: 100, state: "open" },
  });
  const stage = new Stage();
  const saved = texts.slice(-200).map((text, at) => ({ entryId: `e${at}`, role: "user" as const, text }));
  const provisional = [{ itemId: "p1", text: "Not settled" }];
  const state = { ...base, session: { id: "long", location }, recordingId: "long-r", saved, provisional };
  await stage.show({ kind: "live", state });
  const screen = await Screen.mount(live(stage));
  await screen.until("it is attached", () => screen.markdown().includes("Not settled"));
  await screen.perform("Copy Saved Text");
  await screen.until("it is copied", () => world().clipboard.length === 1);
  expect(world().clipboard[0]).toMatchObject({ content: { text: texts.join("\n") }, concealed: true });
  await screen.close();
});

test("a recording that is transcribed again copies its own words only; without any there is nothing to copy", async () => {
  const location = writeSession(folder, {
    id: "again",
    createdAt: "2026-03-01T09:00:00.000Z",
    turns: [{ text: "Of the first time", startMs: 0, endMs: 50 }],
    recording: { durationMs: 100, state: "open" },
  });
  const stage = new Stage();
  const state = { ...base, session: { id: "again", location }, recordingId: "another" };
  await stage.show({ kind: "live", state: { ...state, provisional: [{ itemId: "p1", text: "Not settled" }] } });
  const screen = await Screen.mount(live(stage));
  await screen.until("it is attached", () => screen.markdown().includes("Not settled"));
  await screen.perform("Copy Saved Text");
  await screen.until("it says so", () => lastToast()?.title === "Nothing to Copy");
  expect(world().clipboard).toEqual([]);
  await screen.close();
});
