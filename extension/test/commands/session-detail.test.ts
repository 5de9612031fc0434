import { existsSync, readFileSync, readdirSync, appendFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type Screen } from "../raycast-api/screen";
import { launchView } from "./bundles";
import { testFolder, writeSession, type SessionPlan } from "./library-fixture";

const { folder, root, enter } = testFolder();

const call: Omit<SessionPlan, "id"> = {
  createdAt: "2026-04-01T09:00:00.000Z",
  turns: [
    { text: "Call the bank", startMs: 0, endMs: 900 },
    { role: "assistant", text: "Which bank?" },
    { text: "The *blue* one", startMs: 2_000, endMs: 2_900 },
  ],
  recording: {
    durationMs: 3_000,
    state: "finished",
    outcome: "incomplete",
    gaps: [{ reason: "transcription_failed", startMs: 1_000, endMs: 1_900 }],
  },
};

async function open(id: string, preferences: Record<string, unknown> = {}) {
  const world = enter(preferences);
  const screen = await launchView("session-detail", { arguments: { session: ` ${id} ` } });
  await screen.until("the session is read", () => !screen.isLoading);
  return { world, screen };
}

async function titled(screen: Screen, title: string): Promise<void> {
  await screen.until(`the title is ${title}`, () => screen.markdown().startsWith(`# ${title}`));
}

test("words, speakers, times only where they are real, and gaps in their places", async () => {
  writeSession(root, { ...call, id: "shown" });
  const { screen } = await open("shown");
  const [head, picture, ...pieces] = screen.markdown().split("\n\n");
  expect(head).toBe("# Call the bank");
  expect(picture).toMatch(/^!\[Waveform/);
  expect(pieces).toEqual([
    "`0:00` **You**  \nCall the bank",
    "**Assistant**  \nWhich bank?",
    "`0:01` *— Gap, 1 s: not transcribed —*",
    "`0:02` **You**  \nThe \\*blue\\* one",
  ]);
  const svg = Buffer.from(/base64,([^)]*)/.exec(picture ?? "")?.[1] ?? "", "base64").toString();
  expect(svg).toMatch(/^<svg /);
  expect(svg).toContain("prefers-color-scheme");
  expect(screen.metadata()).toMatchObject({ Messages: "3", Recording: "3 s", Gaps: "1 gap", "Session ID": "shown" });
  await screen.close();
});

test("a session that is not there says so, and offers the search", async () => {
  const { world, screen } = await open("missing-session");
  expect(screen.markdown()).toContain("No Such Session");
  await screen.perform("Search Sessions");
  expect(world.launches).toMatchObject([{ name: "search-sessions" }]);
  await screen.close();
});

test("rename, archive and restore are seen at once and are in the file", async () => {
  const location = writeSession(root, { ...call, id: "renamed" });
  const { world, screen } = await open("renamed");
  await screen.perform("Rename Session…");
  await screen.fill("name", "   ");
  await screen.perform("Rename Session");
  expect(screen.fieldError("name")).toBe("Enter a name");
  await screen.fill("name", "A new name");
  await screen.perform("Rename Session");
  await titled(screen, "A new name");
  await screen.perform("Archive Session");
  await screen.until("it is archived", () => screen.metadata()["Archived"] === "Yes");
  await screen.perform("Restore Session");
  await screen.until("it is restored", () => screen.metadata()["Archived"] === undefined);
  expect(readFileSync(path.join(location, "session.jsonl"), "utf8")).toContain('"A new name"');
  expect(world.toasts.map((toast) => toast.title)).toEqual(["Session Renamed", "Session Archived", "Session Restored"]);
  await screen.close();
});

test("messages are labelled and removed one by one, after asking", async () => {
  writeSession(root, { ...call, id: "messages" });
  const { world, screen } = await open("messages");
  await screen.perform("Show Messages");
  await screen.until("the messages are there", () => screen.items().length === 3);
  await screen.perform("Label Message…", screen.item("Call the bank").instance);
  await screen.fill("label", "todo");
  await screen.perform("Save Label");
  await screen.until(
    "the label is shown",
    () => screen.kind === "list" && screen.item("Call the bank").accessories.includes("todo"),
  );
  world.answers.push(false, true);
  await screen.perform("Remove Message…", screen.item("The *blue* one").instance);
  expect(screen.items()).toHaveLength(3);
  await screen.perform("Remove Message…", screen.item("The *blue* one").instance);
  await screen.until("it is gone", () => screen.items().length === 2);
  expect(world.alerts.every((alert) => alert.primaryAction?.style === "destructive")).toBe(true);
  await screen.back();
  await screen.until("the detail follows", () => !screen.markdown().includes("blue"));
  expect(screen.markdown()).toContain("> Label: todo");
  await screen.close();
});

test.each([
  ["Plain Text (.txt)", "txt", "Call the bank"],
  ["Markdown (.md)", "md", "Call the bank"],
  ["JSON (.json)", "json", '"Call the bank"'],
  ["Subtitles (.srt)", "srt", "00:00:02,000 --> 00:00:02,900"],
  ["Web Subtitles (.vtt)", "vtt", "WEBVTT"],
  ["Picture (.svg)", "svg", "<svg"],
])("export as %s never overwrites", async (title, extension, content) => {
  writeSession(root, { ...call, id: `export-${extension}` });
  const home = path.join(folder, `home-${extension}`);
  const downloads = path.join(home, "Downloads");
  const homedir = jest.spyOn(os, "homedir").mockReturnValue(home);
  try {
    const { world, screen } = await open(`export-${extension}`);
    await screen.perform(title);
    await screen.until("it is written", () => world.toasts.length === 1);
    await screen.perform(title);
    await screen.until("it is written again", () => world.toasts.length === 2);
    expect(readdirSync(downloads).sort()).toEqual([`Call the bank 2.${extension}`, `Call the bank.${extension}`]);
    expect(readFileSync(path.join(downloads, `Call the bank.${extension}`), "utf8")).toContain(content);
    world.toasts[0]?.primaryAction?.onAction(world.toasts[0]);
    expect(world.opened).toEqual([{ how: "finder", target: path.join(downloads, `Call the bank.${extension}`) }]);
    await screen.close();
  } finally {
    homedir.mockRestore();
  }
});

test("the recording is played and shown where it lies", async () => {
  const location = writeSession(root, { ...call, id: "played" });
  const { world, screen } = await open("played");
  const wav = path.join(location, "assets/played-r.wav");
  await screen.perform("Play Recording");
  await screen.perform("Show Recording in Finder");
  expect(world.opened).toEqual([
    { how: "open", target: wav },
    { how: "finder", target: wav },
  ]);
  expect(screen.actions()).toContain("Transcribe Recording Again");
  await screen.close();
});

test("an interrupted recording is recovered after saying what will be done, without losing sound", async () => {
  const location = writeSession(root, {
    ...call,
    id: "torn",
    recording: { durationMs: 2_650, state: "open" },
    tail: '{"type":"mess',
  });
  const { world, screen } = await open("torn");
  expect(screen.markdown()).toContain("The Last Line Is Not Complete");
  expect(screen.markdown()).toContain("A Recording Did Not End");
  expect(screen.metadata()["Recording"]).toBe("3 s");
  world.answers.push(true);
  await screen.perform("Recover Session…");
  await screen.until("it is recovered", () => world.toasts.some((toast) => toast.title === "Session Recovered"));
  await screen.until("the warnings are gone", () => !screen.markdown().includes("Not Complete"));
  expect(world.alerts[0]?.message).toContain("A recording of 3 s is finished; no sound is lost.");
  expect(readFileSync(path.join(location, "assets/torn-r.wav")).readUInt32LE(40)).toBe(2.65 * 48_000);
  expect(readFileSync(path.join(location, "session.jsonl"), "utf8")).toContain("recording.interrupted");
  await screen.close();
});

test("a damaged session is read-only, says where, and offers nothing that writes", async () => {
  const location = writeSession(root, { ...call, id: "damaged" });
  appendFileSync(path.join(location, "session.jsonl"), "not a record\n");
  const { world, screen } = await open("damaged");
  expect(screen.markdown()).toContain("# This Session Is Read-Only");
  expect(screen.markdown()).toMatch(/line \d+, byte \d+/);
  const actions = screen.actions();
  expect(actions).not.toContain("Rename Session…");
  expect(actions).not.toContain("Recover Session…");
  await screen.perform("Show in Finder");
  expect(world.opened).toEqual([{ how: "finder", target: location }]);
  await screen.close();
});

test("deleting asks first, and then nothing is left", async () => {
  const location = writeSession(root, { ...call, id: "deleted" });
  const { world, screen } = await open("deleted");
  world.answers.push(false, true);
  await screen.perform("Delete Session…");
  expect(existsSync(location)).toBe(true);
  await screen.perform("Delete Session…");
  await screen.until("it is gone", () => world.toasts.some((toast) => toast.title === "Session Deleted"));
  expect(existsSync(location)).toBe(false);
  expect(world.alerts[0]?.primaryAction?.style).toBe("destructive");
  await screen.close();
});

test("branches are listed, and an older one can be shown", async () => {
  const location = writeSession(root, {
    id: "branched",
    createdAt: "2026-04-01T09:00:00.000Z",
    turns: [{ text: "First" }, { text: "Old end" }],
  });
  const entry = { type: "message", id: "new", parentId: "branched-e1", timestamp: "2026-04-01T10:00:00.000Z" };
  const message = {
    role: "user",
    timestamp: Date.parse("2026-04-01T10:00:00.000Z"),
    content: [{ type: "text", text: "New end" }],
  };
  appendFileSync(path.join(location, "session.jsonl"), `${JSON.stringify({ ...entry, message })}\n`);
  const { screen } = await open("branched");
  expect(screen.markdown()).toContain("New end");
  await screen.perform("Show Branches");
  await screen.until("the branches are there", () => screen.items().length === 2);
  expect(screen.item("New end").accessories).toContain("Newest");
  await screen.perform("Show Branch", screen.item("Old end").instance);
  await screen.until(
    "the old branch is shown",
    () => screen.kind === "detail" && screen.markdown().includes("Old end"),
  );
  expect(screen.markdown()).not.toContain("New end");
  expect(screen.metadata()["Branch"]).toContain("has gone on");
  await screen.perform("Show Newest Branch");
  await screen.until("the newest is back", () => screen.markdown().includes("New end"));
  await screen.close();
});
