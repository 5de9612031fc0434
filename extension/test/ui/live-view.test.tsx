import { LiveView } from "../../src/components/LiveView";
import { type HostState } from "../../src/host/state";
import { type RecordingTarget } from "../../src/lib/recording";
import { parseSettings, type Settings } from "../../src/lib/settings";
import { Screen } from "../raycast-api/screen";
import { enterCommand, resetWorld, world } from "../raycast-api/world";
import { base, Stage } from "./stage";

const microphone: RecordingTarget = { kind: "microphone" };

function settingsOf(values: Record<string, unknown> = {}): Settings {
  const parsed = parseSettings({ sessionsDirectory: "/data/sessions", ...values });
  if (parsed.kind === "invalid") throw new Error(parsed.problem.cause);
  return parsed.settings;
}

async function open(stage: Stage, settings = settingsOf(), welcomed = true): Promise<Screen> {
  resetWorld();
  enterCommand("record");
  if (welcomed) world().localStorage.set("welcomed", "yes");
  return Screen.mount(<LiveView settings={settings} start={microphone} source={stage} />);
}

test("saved and provisional words are told apart by words", async () => {
  const stage = new Stage();
  await stage.show({
    kind: "live",
    state: {
      ...base,
      saved: [{ entryId: "e1", role: "user", text: "Call the *bank*" }],
      provisional: [{ itemId: "p1", text: "and then" }],
    },
  });
  const screen = await open(stage);
  await screen.until("it is attached", () => screen.markdown() !== "");
  expect(screen.markdown()).toBe("Call the \\*bank\\*\n\n> **Not saved yet:** and then");
  expect(screen.metadata()).toEqual({
    State: "Recording",
    Elapsed: "0:01",
    Level: "Good (-20 dB)",
    Device: "Built-in Microphone",
    Transcription: "Local: connected",
  });
  expect(stage.calls).toEqual([]);
  await screen.close();
});

test("it renders only when something can be seen to change", async () => {
  const stage = new Stage();
  await stage.show({ kind: "live", state: base });
  const screen = await open(stage);
  await screen.until("it is attached", () => screen.markdown() !== "");
  const before = screen.commits;
  for (let elapsedMs = 1_000; elapsedMs < 2_000; elapsedMs += 50) {
    await stage.show({ kind: "live", state: { ...base, elapsedMs, levelDb: -20.2 } });
  }
  expect(screen.commits).toBe(before);
  await stage.show({ kind: "live", state: { ...base, elapsedMs: 2_000 } });
  expect(screen.commits).toBe(before + 1);
  expect(screen.metadata()["Elapsed"]).toBe("0:02");
  await screen.close();
});

test("while macOS asks for the microphone, it says so, and goes on by itself", async () => {
  const stage = new Stage();
  stage.started = { ...base, phase: "starting", elapsedMs: 0 };
  const screen = await open(stage);
  await screen.until("it waits", () => screen.markdown().includes("Waiting for permission"));
  expect(screen.markdown()).toContain("Nothing is recorded yet");
  expect(screen.metadata()["State"]).toBe("Waiting to Start");
  await stage.show({ kind: "live", state: base });
  await screen.until("it listens", () => screen.markdown().includes("Listening"));
  await screen.close();
});

test("an end before someone's eyes is copied once, and told to the next command", async () => {
  const stage = new Stage();
  await stage.show({ kind: "live", state: base });
  const screen = await open(stage, settingsOf({ concealedCopy: true }));
  await screen.until("it is attached", () => screen.markdown() !== "");
  await screen.perform("Stop Recording");
  expect(stage.calls).toEqual(["stop"]);
  const result = { text: "Call the bank", entryIds: ["e1"], outcome: "complete" as const, announced: false };
  const state: HostState = { ...base, phase: "finished", result };
  await stage.show({ kind: "ended", state });
  await stage.show({ kind: "ended", state: { ...state, result: { ...result, announced: true } } });
  await screen.until("it is announced", () => stage.calls.includes("announced"));
  expect(world().clipboard).toMatchObject([{ content: { text: "Call the bank" }, concealed: true }]);
  expect(screen.markdown()).toBe("Call the bank");
  expect(screen.actions()[0]).toBe("Copy Transcript");
  await screen.close();
});

test("an end of long ago is shown and does not replace what is on the clipboard", async () => {
  const stage = new Stage();
  const result = { text: "Yesterday", entryIds: ["e1"], outcome: "incomplete" as const, announced: false };
  const startedAt = new Date(Date.now() - 3_600_000).toISOString();
  await stage.show({ kind: "ended", state: { ...base, startedAt, phase: "finished", result } });
  const screen = await open(stage);
  await screen.until("it is shown", () => screen.markdown().includes("Yesterday"));
  expect(screen.markdown()).toContain("Some of it is not transcribed");
  expect(world().clipboard).toEqual([]);
  await screen.perform("Record Again");
  await screen.until("it records", () => stage.calls.includes("start"));
  await screen.close();
});

test("the first run starts nothing by itself", async () => {
  const stage = new Stage();
  const screen = await open(stage, settingsOf(), false);
  await screen.until("it says what it does", () => screen.markdown().includes("Ready to Record"));
  expect(screen.markdown()).toContain("not sent anywhere");
  expect(stage.calls).toEqual([]);
  await screen.perform("Start Recording");
  await screen.until("it starts", () => screen.markdown().includes("Waiting for permission"));
  expect(stage.calls).toEqual(["start"]);
  expect(world().localStorage.get("welcomed")).toBe("yes");
  await screen.close();
});

test.each([
  ["permission-denied", "No Microphone Access", "Open Microphone Settings"],
  ["no-input-device", "No Input Device", "Open Sound Settings"],
  ["no-engine", "No Speech Engine", "Open Preferences"],
  ["disk-full", "The Disk Is Full", "Show in Finder"],
  ["host-not-started", "The Recording Did Not Start", "Try Again"],
])("a start that fails with %s has a face and its remedy first", async (code, title, action) => {
  const stage = new Stage();
  stage.failure = Object.assign(new Error("What happened"), { code, remedy: "What to do" });
  const screen = await open(stage);
  await screen.until("it says so", () => screen.markdown().includes(`# ${title}`));
  expect(screen.markdown()).toContain("What happened.");
  expect(screen.markdown()).toContain("What to do.");
  expect(screen.actions()[0]).toBe(action);
  await screen.perform(action);
  await screen.close();
});

test.each([
  ["silent-input", "No Sound Arrives"],
  ["device-changed", "The Input Device Changed"],
  ["connection-lost", "Transcription Is Interrupted"],
  ["invalid_api_key", "The Key Was Refused"],
])("the warning %s stands above the words while the recording goes on", async (code, title) => {
  const stage = new Stage();
  const warnings = [{ code, message: "The cause", remedy: "The remedy" }];
  await stage.show({
    kind: "live",
    state: { ...base, warnings, saved: [{ entryId: "e1", role: "user", text: "Words" }] },
  });
  const screen = await open(stage);
  await screen.until("it warns", () => screen.markdown().includes(title));
  expect(screen.markdown()).toBe(`> **Warning: ${title}.** The cause. The remedy.\n\nWords`);
  expect(screen.actions()[0]).toBe("Stop Recording");
  await screen.close();
});

test("a dead recording is said to be interrupted, with its session", async () => {
  const stage = new Stage();
  await stage.show({ kind: "dead", state: base });
  const screen = await open(stage);
  await screen.until("it says so", () => screen.markdown().includes("The Recording Was Interrupted"));
  expect(screen.actions()[0]).toBe("Recover Session");
  await screen.perform("Recover Session");
  expect(world().launches).toMatchObject([{ name: "session-detail", arguments: { session: "/data/sessions/s1" } }]);
  // It stays in Search Sessions until somebody has recovered it.
  expect(stage.calls).not.toContain("announced");
  await screen.close();
});

test("no words is a result of its own", async () => {
  const stage = new Stage();
  const result = { text: "", entryIds: [], outcome: "complete" as const, announced: false };
  await stage.show({ kind: "ended", state: { ...base, phase: "finished", result } });
  const screen = await open(stage);
  await screen.until("it says so", () => screen.markdown().includes("No Speech Was Heard"));
  expect(screen.markdown()).toContain("Built-in Microphone");
  expect(world().clipboard).toEqual([]);
  await screen.close();
});

test("discarding and removing ask first", async () => {
  const stage = new Stage();
  await stage.show({
    kind: "live",
    state: { ...base, saved: [{ entryId: "e1", role: "user", text: "Words" }] },
  });
  const screen = await open(stage);
  await screen.until("it is attached", () => screen.markdown() !== "");
  world().answers.push(false, true, false, true);
  await screen.perform("Words");
  await screen.perform("Words");
  expect(stage.calls).toEqual(["remove e1"]);
  await screen.perform("Discard Recording…");
  expect(stage.calls).not.toContain("discard");
  await screen.perform("Discard Recording…");
  await screen.until("it is discarded", () => stage.calls.includes("discard"));
  await screen.close();
});
