import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { inspectWav, wavHeader } from "@persyk/store";
import { readHostState } from "../../src/host/client";
import { spokenLength } from "../../src/lib/format";
import { children, processesWith } from "./isolate";
import { BYTES_PER_SECOND, HEADER_BYTES, RecordingBench, sample, script, until, words } from "./recording-fixture";

let bench: RecordingBench;
beforeEach(() => {
  bench = new RecordingBench();
});
afterEach(() => bench.stop());

const record = { do: "view", command: "record" } as const;
const [firstWords = "", , lastWords = ""] = words;
const ended = () => bench.records().some((entry) => entry["type"] === "recording.finished");

test("the first run starts nothing before it was said where the sound goes", async () => {
  await bench.start();
  const view = bench.isolate({ localStorage: {}, pace: 8 });
  await view.call(record);
  await view.call({ do: "until", text: "Ready to Record" });
  expect(await view.call<string>({ do: "text" })).toContain("Speech is sent to 127.0.0.1");
  expect(bench.locations()).toEqual([]);
  await view.call({ do: "perform", action: "Start Recording" });
  await view.call({ do: "until", text: firstWords });
});

test("live words, window closed, opened again on the running recording, stopped, copied", async () => {
  await bench.start();
  const view = bench.isolate({ pace: 2 });
  await view.call(record);
  await view.call({ do: "until", text: "Not saved yet" });
  await view.call({ do: "until", text: firstWords });
  const text = await view.call<string>({ do: "text" });
  for (const word of ["Elapsed", "Level", "Device", "Recording"]) expect(text).toContain(word);
  await view.closeWindow();
  const bytes = bench.wavBytes();
  await until("the sound goes on", () => bench.wavBytes() > bytes);
  const again = bench.isolate();
  await again.call(record);
  await again.call({ do: "until", text: firstWords });
  expect(bench.locations()).toHaveLength(1);
  await again.call({ do: "until", text: words[1] ?? "" });
  await again.call({ do: "perform", action: "Stop Recording" });
  await until("it is finished", ended);
  await again.call({ do: "until", text: "Record Again" });
  const { clipboard, toasts } = await again.world();
  expect(clipboard[0]).toContain(firstWords);
  expect(toasts.join()).toContain("Transcript Copied");
  expect(children().filter(({ zombie }) => zombie)).toEqual([]);
});

test("discarding asks, and then nothing is left of it", async () => {
  await bench.start();
  const view = bench.isolate({ pace: 2, answers: [false, true] });
  await view.call(record);
  await view.call({ do: "until", text: "Listening" });
  await view.call({ do: "perform", action: "Discard Recording…" });
  expect(bench.locations()).toHaveLength(1);
  await view.call({ do: "perform", action: "Discard Recording…" });
  await until("the session is gone", () => bench.locations().length === 0);
});

test("a saved message is removed while the recording goes on", async () => {
  await bench.start();
  const view = bench.isolate({ pace: 2, answers: [true] });
  await view.call(record);
  await view.call({ do: "until", text: "Remove Message…" });
  await view.call({ do: "perform", action: firstWords });
  await until("the removal is in the session", () =>
    bench.records().some((entry) => entry["type"] === "message.removed"),
  );
  await until("it is finished", ended);
  const copy = bench.isolate();
  await copy.call({ do: "no-view", command: "copy-last-transcript" });
  const [text] = (await copy.world()).clipboard;
  expect(text).toContain(lastWords);
  expect(text).not.toContain(firstWords);
});

test("a refused key never stops the recording, and the sound is transcribed afterwards", async () => {
  await bench.start({ key: "the-right-key" });
  const wrong = { authStyle: "bearer", apiKey: "the-wrong-key" };
  const view = bench.isolate({ pace: 4, preferences: wrong });
  await view.call(record);
  await view.call({ do: "until", text: "The Key Was Refused" });
  await until("it is finished", ended);
  expect(bench.wavBytes()).toBeGreaterThan(13 * 48_000);
  expect(JSON.stringify(bench.records())).not.toContain("the-wrong-key");
  await view.closeWindow();
  await until("the host has ended", () => bench.processes().length === 0);
  const [location = ""] = bench.locations();
  const detail = bench.isolate({ pace: 8, preferences: { ...wrong, apiKey: "the-right-key" } });
  await detail.call({ do: "view", command: "session-detail", arguments: { session: location } });
  await detail.call({ do: "until", text: "Transcribe Recording Again" });
  await detail.call({ do: "perform", action: "Transcribe Recording Again" });
  await detail.call({ do: "until", text: lastWords });
  expect(bench.locations()).toHaveLength(1);
});

test("3: a dead host is said to be dead, its sound is whole and listed at its full length, and the recovery finishes it", async () => {
  await bench.start();
  const view = bench.isolate({ pace: 4 });
  await view.call(record);
  await view.call({ do: "until", text: "Listening" });
  await until("there is sound", () => bench.soundBytes() > 4 * BYTES_PER_SECOND);
  await view.closeWindow();
  const captures = bench.captures().map(({ pid }) => pid);
  for (const { pid } of bench.processes()) if (isHost(pid)) process.kill(pid, "SIGKILL");
  const remaining = () =>
    processesWith("capture-stand-in").filter(({ pid, zombie }) => !zombie && captures.includes(pid));
  await until("the capture has ended too", () => remaining().length === 0);
  // The capture has finished the file by itself: its header claims every sample.
  const written = bench.soundBytes();
  expect(await inspectWav(bench.wavPath())).toMatchObject({ outcome: "intact", dataBytes: written });
  const search = bench.isolate({ answers: [true] });
  await search.call({ do: "view", command: "search-sessions" });
  await search.call({ do: "until", text: "The Recording Was Interrupted" });
  await search.call({ do: "until", text: spokenLength((written / BYTES_PER_SECOND) * 1000) });
  expect(await search.call<string>({ do: "text" })).toContain("A recording did not end properly");
  await search.call({ do: "perform", action: "Recover Session…" });
  await until("the end is in the session", () =>
    bench.records().some((entry) => entry["type"] === "recording.interrupted"),
  );
  const end = bench.records().find((entry) => entry["type"] === "recording.interrupted");
  expect(end).toMatchObject({ durationMs: Math.round((written / BYTES_PER_SECOND) * 1000) });
});

function isHost(pid: number): boolean {
  return bench.processes().some((info) => info.pid === pid && info.command.includes("session-host.cjs"));
}

test.each([
  ["from the beginning", 0],
  ["after words", 4],
])(
  "5: exact silence %s is a warning within 2 s of sound, with a cause, and no message",
  async (_when, speechSeconds) => {
    await bench.start({ script: { turns: script.turns.slice(0, speechSeconds === 0 ? 0 : 1) } });
    const silent = path.join(bench.folder, "silent.wav");
    const speech = readFileSync(sample).subarray(HEADER_BYTES, HEADER_BYTES + speechSeconds * BYTES_PER_SECOND);
    const zeros = Buffer.alloc(6 * BYTES_PER_SECOND);
    writeFileSync(silent, Buffer.concat([wavHeader(speech.length + zeros.length), speech, zeros]));
    const view = bench.isolate({ source: silent, pace: 1 });
    await view.call(record);
    await view.call({ do: "until", text: "No Sound Arrives" });
    expect(await view.call<string>({ do: "text" })).toContain("microphone permission");
    // What is shown is this notice; its time is that of the sound, however busy this machine is.
    const shown = await readHostState(bench.support);
    const notice = shown.kind === "none" ? undefined : shown.state.warnings.find(({ code }) => code === "silent-input");
    expect(notice?.atMs).toBeGreaterThan(speechSeconds * 1000);
    expect(notice?.atMs).toBeLessThanOrEqual((speechSeconds + 2) * 1000);
    await until("it is finished", ended);
    const said = script.turns.slice(0, speechSeconds === 0 ? 0 : 1).map(({ text }) => text);
    expect(bench.said()).toEqual(said);
    if (said.length === 0) await view.call({ do: "until", text: "No Speech Was Heard" });
    await view.call({ do: "until", text: "Record Again" });
    expect((await view.world()).clipboard).toEqual(said);
  },
);

test("the connection is cut, and the recording says so and goes on", async () => {
  let isCut = false;
  let isSeen = false;
  await bench.start({
    hooks: {
      // Nobody gets through until it was seen that the connection is gone.
      connected: (connection) => {
        if (isCut && !isSeen) connection.destroy();
      },
      outgoing: (event, send, connection) => {
        send(event);
        if (!isCut && JSON.stringify(event).includes("transcription.completed")) {
          isCut = true;
          connection.destroy();
        }
      },
    },
  });
  const view = bench.isolate({ pace: 1 });
  await view.call(record);
  await view.call({ do: "until", text: firstWords });
  await view.call({ do: "until", text: "interrupted; the recording goes on" });
  expect(isCut).toBe(true);
  expect(ended()).toBe(false);
  isSeen = true;
  await until("it is finished", ended);
  // The script's times count from each connection's own start, so that only the number of messages is known.
  expect(bench.records().filter((entry) => entry["type"] === "message")).toHaveLength(words.length);
  expect(bench.wavBytes()).toBeGreaterThan(13 * 48_000);
});

test("a WAV file becomes a session with its words", async () => {
  await bench.start();
  const view = bench.isolate({ pace: 8 });
  await view.call({ do: "view", command: "transcribe-audio-file" });
  await view.call({ do: "fill", id: "file", value: [path.join(__dirname, "not-there.wav")] });
  await view.call({ do: "perform", action: "Transcribe File" });
  expect(await view.call<string>({ do: "field-error", id: "file" })).toBe("This file is not there");
  await view.call({ do: "fill", id: "file", value: [path.join(__dirname, "../../../assets/sample.wav")] });
  await view.call({ do: "perform", action: "Transcribe File" });
  await view.call({ do: "until", text: firstWords });
  await view.call({ do: "until", text: lastWords });
  await until("it is finished", ended);
  expect(script.turns).toHaveLength(3);
});

test("the menu bar shows the running recording and stops it, and starts nothing itself", async () => {
  await bench.start();
  const idle = bench.isolate();
  await idle.call({ do: "view", command: "recording-status" });
  expect(await idle.call<string>({ do: "text" })).toBe("");
  expect(bench.processes()).toEqual([]);
  const view = bench.isolate({ pace: 2 });
  await view.call(record);
  await view.call({ do: "until", text: firstWords });
  await view.closeWindow();
  const menu = bench.isolate();
  await menu.call({ do: "view", command: "recording-status" });
  await menu.call({ do: "until", text: "Stop Recording" });
  await menu.call({ do: "perform", action: "Stop Recording" });
  await menu.closeWindow();
  await until("it is finished", ended);
});
