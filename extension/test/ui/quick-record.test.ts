import { type HostState } from "../../src/host/state";
import { quickRecord } from "../../src/lib/quick-record";
import { enterCommand, resetWorld, world, type World } from "../raycast-api/world";
import { base, Stage } from "./stage";

function enter(preferences: Record<string, unknown> = {}): World {
  resetWorld();
  enterCommand("quick-record");
  world().preferences = { sessionsDirectory: "/data/sessions", ...preferences };
  return world();
}

function finished(text: string, more: Partial<HostState> = {}): HostState {
  return { ...base, phase: "finished", result: { text, entryIds: [], outcome: "complete", announced: false }, ...more };
}

test("the first press starts, says to what it listens, and only then closes the window", async () => {
  const [stage, seen] = [new Stage(), enter()];
  await quickRecord(stage);
  expect(stage.calls).toEqual(["start"]);
  expect(seen.huds).toEqual(["Listening to Built-in Microphone"]);
  expect(seen.subtitle).toBe("Recording");
  expect(seen.launches).toMatchObject([{ name: "recording-status", type: "background" }]);
});

test("the second press stops, copies, and gives the subtitle back", async () => {
  const [stage, seen] = [new Stage(), enter()];
  await stage.show({ kind: "live", state: base });
  stage.end = { kind: "ended", state: finished("Call the bank", { elapsedMs: 8_000 }) };
  await quickRecord(stage);
  expect(stage.calls).toEqual(["stop", "announced"]);
  expect(seen.clipboard).toMatchObject([{ content: { text: "Call the bank" } }]);
  expect(seen.huds).toEqual(["Copied 8 s of speech"]);
  expect(seen.subtitle).toBeNull();
});

test("no speech is said, and the clipboard keeps what it has", async () => {
  const [stage, seen] = [new Stage(), enter()];
  await stage.show({ kind: "live", state: base });
  stage.end = { kind: "ended", state: finished("", { elapsedMs: 8_000 }) };
  await quickRecord(stage);
  expect(seen.clipboard).toEqual([]);
  expect(seen.huds).toEqual(["No speech was heard. 8 s are kept"]);
});

test("without a transcription, it says what was recorded", async () => {
  const [stage, seen] = [new Stage(), enter({ provider: "none" })];
  await stage.show({ kind: "live", state: base });
  stage.end = { kind: "ended", state: finished("", { elapsedMs: 8_000 }) };
  await quickRecord(stage);
  expect(seen.huds).toEqual(["Recorded 8 s"]);
});

test("a press after it ended by itself copies and starts nothing", async () => {
  const [stage, seen] = [new Stage(), enter()];
  await stage.show({ kind: "ended", state: finished("Just now") });
  await quickRecord(stage);
  expect(stage.calls).toEqual(["announced"]);
  expect(seen.clipboard).toMatchObject([{ content: { text: "Just now" } }]);
});

test("an end of long ago is no reason not to start, and is never copied over something newer", async () => {
  const [stage, seen] = [new Stage(), enter()];
  const startedAt = new Date(Date.now() - 3_600_000).toISOString();
  await stage.show({ kind: "ended", state: finished("Long ago", { startedAt }) });
  await quickRecord(stage);
  expect(stage.calls).toEqual(["start"]);
  expect(seen.clipboard).toEqual([]);
});

test("after a crash it starts and says where the interrupted one is", async () => {
  const [stage, seen] = [new Stage(), enter()];
  await stage.show({ kind: "dead", state: base });
  await quickRecord(stage);
  expect(stage.calls).toEqual(["start"]);
  expect(seen.huds[0]).toContain("The recording before it was interrupted: see Search Sessions.");
});

test("a recording that dies while it is being stopped is not reported as copied", async () => {
  const [stage, seen] = [new Stage(), enter()];
  await stage.show({ kind: "live", state: base });
  stage.end = { kind: "dead", state: base };
  await quickRecord(stage);
  expect(seen.clipboard).toEqual([]);
  expect(seen.huds[0]).toContain("was interrupted. Its sound is kept");
});

test("gaps are said with the copy", async () => {
  const [stage, seen] = [new Stage(), enter()];
  await stage.show({ kind: "live", state: base });
  const result = { text: "Some", entryIds: ["e"], outcome: "incomplete" as const, announced: false };
  stage.end = { kind: "ended", state: { ...base, phase: "finished", elapsedMs: 8_000, result } };
  await quickRecord(stage);
  expect(seen.huds).toEqual(["Copied 8 s of speech. Some of it is not transcribed yet"]);
});

test.each([
  ["a missing key", { provider: "openai" }, null],
  ["wrong preferences", { maximumMinutes: "soon" }, null],
  ["a start that fails", {}, Object.assign(new Error("No."), { code: "permission-denied", remedy: "Allow it." })],
])("%s is shown in Record, which has the button that mends it", async (_what, preferences, failure) => {
  const [stage, seen] = [new Stage(), enter(preferences)];
  stage.failure = failure;
  await quickRecord(stage);
  expect(seen.launches).toMatchObject([{ name: "record", type: "userInitiated" }]);
  expect(seen.clipboard).toEqual([]);
});

test("where Record is disabled, the words must do", async () => {
  const [stage, seen] = [new Stage(), enter({ provider: "openai" })];
  seen.disabledCommands.add("record");
  await quickRecord(stage);
  expect(seen.huds[0]).toMatch(/^No API Key\. .*Enter a key/);
});

test("while macOS asks for the microphone, it says so and claims no recording", async () => {
  const [stage, seen] = [new Stage(), enter()];
  stage.started = { ...base, phase: "starting", elapsedMs: 0 };
  await quickRecord(stage);
  expect(seen.huds).toEqual(["Waiting for permission. Allow the microphone, and the recording starts"]);
  expect(seen.subtitle).not.toBe("Recording");
});

test("a recording that was thrown away while it was being stopped is not said to be kept", async () => {
  const [stage, seen] = [new Stage(), enter()];
  await stage.show({ kind: "live", state: base });
  const result = { text: "", entryIds: [], outcome: "discarded" as const, announced: false };
  stage.end = { kind: "ended", state: { ...base, phase: "finished", result } };
  await quickRecord(stage);
  expect(seen.huds).toEqual(["Nothing is being recorded"]);
});

test("a failure that nobody was told is explained by the next press, which starts nothing", async () => {
  const [stage, seen] = [new Stage(), enter()];
  const warnings = [{ code: "disk-full", message: "The disk is full", remedy: "Free some space" }];
  await stage.show({ kind: "ended", state: { ...finished("Some words"), phase: "failed", warnings } });
  await quickRecord(stage);
  expect(stage.calls).toEqual(["announced"]);
  expect(seen.launches.map(({ name }) => name)).toContain("record");
});

test("a microphone that is not connected is said with the one that is used instead", async () => {
  const [stage, seen] = [new Stage(), enter()];
  const message = "The chosen microphone is not connected.";
  stage.started = { ...base, warnings: [{ code: "device-fallback", message, remedy: "Connect it." }] };
  await quickRecord(stage);
  expect(seen.huds).toEqual(["Listening to Built-in Microphone. The chosen microphone is not connected"]);
});
