import { appendFileSync, mkdirSync } from "node:fs";
import path from "node:path";
import { sessionTitle } from "../../src/lib/format";
import { launchView } from "./bundles";
import { testFolder, writeSession } from "./library-fixture";

const { folder, root, enter } = testFolder();
const blockedTitle = sessionTitle("", "2026-04-04T09:00:00.000Z");
const day = (n: number) => `2026-03-${String(n).padStart(2, "0")}T09:00:00.000Z`;

beforeAll(() => {
  for (let n = 1; n <= 28; n += 1) {
    writeSession(root, { id: `plain-${n}`, createdAt: day(n), turns: [{ text: `Note number ${n} about the garden` }] });
  }
  writeSession(root, {
    id: "bank",
    createdAt: "2026-04-01T09:00:00.000Z",
    name: "Call the bank",
    turns: [{ text: "Call *the* STRASSE bank about the transfer", startMs: 100, endMs: 900 }],
    recording: { durationMs: 1_500, state: "finished" },
  });
  writeSession(root, {
    id: "old",
    createdAt: "2026-04-02T09:00:00.000Z",
    archived: true,
    turns: [{ text: "Archived words" }],
  });
  writeSession(root, {
    id: "broken",
    createdAt: "2026-04-03T09:00:00.000Z",
    turns: [{ text: "Half a thought" }],
    recording: { durationMs: 700, state: "open" },
  });
  const blocked = writeSession(root, { id: "blocked", createdAt: "2026-04-04T09:00:00.000Z", turns: [{ text: "x" }] });
  appendFileSync(path.join(blocked, "session.jsonl"), "not a record\n");
});

test("an empty library says what to do", async () => {
  const nothing = path.join(folder, "nothing");
  mkdirSync(nothing);
  const world = enter({ sessionsDirectory: nothing });
  const screen = await launchView("search-sessions");
  await screen.settled();
  expect(screen.emptyView()?.title).toBe("No Sessions Yet");
  await screen.perform("Record", screen.emptyView()?.instance);
  expect(world.launches).toMatchObject([{ name: "record", type: "userInitiated" }]);
  await screen.close();
});

test("all sessions, newest first, page by page, each with its state in words", async () => {
  enter();
  const screen = await launchView("search-sessions");
  await screen.settled();
  const titles = screen.items().map((item) => item.title);
  expect(titles[0]).toBe(blockedTitle);
  expect(titles.slice(1, 4)).toEqual(["Half a thought", "Archived words", "Call the bank"]);
  expect(screen.item(blockedTitle).accessories).toContain("Read-Only");
  expect(screen.item("Half a thought").accessories).toContain("Interrupted");
  // Its end is not in the session, and its length all the same that of its sound.
  expect(screen.item("Half a thought").accessories).toContain("1 s");
  expect(screen.item("Archived words").accessories).toContain("Archived");
  expect(titles).toHaveLength(30);
  expect(screen.hasMore).toBe(true);
  await screen.loadMore();
  await screen.until("the second page is there", () => screen.items().length === 32);
  expect(screen.hasMore).toBe(false);
  expect(new Set(screen.items().map((item) => item.id)).size).toBe(32);
  await screen.close();
});

test("typing goes from list to hit without ever emptying the list", async () => {
  enter();
  const screen = await launchView("search-sessions");
  await screen.settled();
  let emptied = false;
  for (const text of ["s", "stra", "straSSe"]) {
    await screen.search(text);
    await screen.until("the search is done", () => {
      emptied ||= screen.items().length === 0;
      return !screen.isLoading;
    });
  }
  expect(emptied).toBe(false);
  expect(screen.items().map(({ title, section }) => [section, title])).toEqual([["Found", "Call the bank"]]);
  await screen.until("the side detail is read", () => screen.item("Call the bank").markdown?.includes("---") === true);
  const markdown = screen.item("Call the bank").markdown ?? "";
  expect(markdown).toContain("Call \\*the\\* **STRASSE** bank");
  expect(markdown).toContain("`0:00`");
  await screen.close();
});

test("nothing found is said in words, and similar titles stand apart", async () => {
  enter();
  const screen = await launchView("search-sessions");
  await screen.settled();
  await screen.search("Call the bnak");
  await screen.until("similar titles are there", () =>
    screen.items().some((item) => item.section === "Similar Titles"),
  );
  expect(screen.items().filter((item) => item.section === "Found")).toEqual([]);
  expect(screen.items()[0]?.title).toBe("Call the bank");
  await screen.search("qqqqqqqqqqqq");
  await screen.until("nothing is found", () => screen.emptyView()?.title === "Nothing Found");
  await screen.close();
});

test.each([
  ["voice", ["Half a thought", "Call the bank"]],
  ["archived", ["Archived words"]],
  ["interrupted", [blockedTitle, "Half a thought"]],
])("the filter %s", async (filter, titles) => {
  enter();
  const screen = await launchView("search-sessions");
  await screen.settled();
  await screen.choose(filter);
  await screen.until("the filter is applied", () => !screen.isLoading && screen.items().length === titles.length);
  expect(screen.items().map((item) => item.title)).toEqual(titles);
  await screen.close();
});

test("agent sessions are listed, searched and read from the event-log roots", async () => {
  const logs = path.join(__dirname, "../../../fixtures/event-log/06-raw-torn-tools/before");
  enter({ eventLogDirectories: logs });
  const screen = await launchView("search-sessions");
  await screen.settled();
  await screen.choose("agent");
  await screen.until("agent sessions are there", () => !screen.isLoading && screen.items().length > 0);
  expect(screen.items()[0]?.section).toBe("Agent Sessions");
  expect(screen.actions(screen.items()[0]?.instance)).not.toContain("Delete Session…");
  await screen.until("it is read", () => screen.items()[0]?.markdown?.includes("hello 1") === true);
  await screen.search("REPLY 1");
  await screen.until("it is found", () => !screen.isLoading && screen.items().length === 1);
  await screen.search("nobody said this");
  await screen.until("nothing is found", () => !screen.isLoading && screen.items().length === 0);
  await screen.close();
});

test("without agent folders the filter says which preference is missing", async () => {
  const world = enter();
  const screen = await launchView("search-sessions");
  await screen.choose("agent");
  await screen.until("it says so", () => screen.emptyView()?.title === "No Agent Session Folders");
  await screen.perform("Open Preferences", screen.emptyView()?.instance);
  expect(world.opened).toEqual([{ how: "preferences", target: "extension" }]);
  await screen.close();
});

test("a folder that was named and is not there is said beside the sessions", async () => {
  enter({ additionalDirectories: path.join(folder, "gone") });
  const screen = await launchView("search-sessions");
  await screen.settled();
  expect(screen.items()[0]?.section).toBe("Needs Attention");
  expect(screen.items().map((item) => item.title)).toContain("Call the bank");
  await screen.close();
});

test("copying from the list copies the transcript of that session and says which", async () => {
  const world = enter({ concealedCopy: true });
  const screen = await launchView("search-sessions");
  await screen.settled();
  await screen.perform("Copy Transcript", screen.item("Call the bank").instance);
  await screen.until("it was copied", () => world.huds.length > 0);
  expect(world.clipboard[0]).toMatchObject({
    content: { text: "Call *the* STRASSE bank about the transfer" },
    concealed: true,
  });
  expect(world.huds).toEqual(["Copied “Call the bank”"]);
  await screen.close();
});

test("wrong preferences have a face with the action that mends them", async () => {
  const world = enter({ maximumMinutes: "soon" });
  const screen = await launchView("search-sessions");
  expect(screen.markdown()).toContain("Check the Preferences");
  await screen.perform("Open Preferences");
  expect(world.opened).toEqual([{ how: "preferences", target: "extension" }]);
  await screen.close();
});
