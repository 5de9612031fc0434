/** Stories of users through the commands themselves: a worker for each command, the real host, files in place of a microphone. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import path from "node:path";
import { inspectWav, openSession, readTranscript, wavHeader, type Session } from "@persyk/store";
import { writeFakeHelper, type Scenario } from "../capture/fake-helper";
import { writeSession } from "../commands/library-fixture";
import { type Isolate } from "./isolate";
import { BYTES_PER_SECOND, HEADER_BYTES, RecordingBench, sample, script, until, words } from "./recording-fixture";
import { sentRanges } from "./sent-ranges";

let bench: RecordingBench;
const proxies: Server[] = [];
beforeEach(() => {
  bench = new RecordingBench();
});
afterEach(async () => {
  await bench.stop();
  for (const proxy of proxies.splice(0)) proxy.close();
});

const record = { do: "view", command: "record" } as const;
const types = () => (bench.locations().length === 0 ? [] : bench.records()).map((entry) => entry["type"]);
const messages = () => bench.records().filter(({ type }) => type === "message");

/** The command with a helper that behaves in one fixed way as its microphone. */
function withHelper(scenario: Scenario, sound = sample): Isolate {
  const program = path.join(bench.folder, "helper.sh");
  const quoted = [process.execPath, writeFakeHelper(bench.folder), scenario, sound].map((part) => `'${part}'`);
  // As the archives of Raycast's store deliver it: without the execute bit.
  writeFileSync(program, `#!/bin/sh\nexec ${quoted.join(" ")}\n`, { mode: 0o644 });
  return bench.isolate({ env: { PERSYK_AUDIO_SOURCE: "", PERSYK_CAPTURE_HELPER: program } });
}

/** Recovers a session from its detail, up to the toast with this title. */
async function recover(session: string, title: string): Promise<void> {
  const view = bench.isolate({ answers: [true] });
  await view.call({ do: "view", command: "session-detail", arguments: { session } });
  await view.call({ do: "until", text: "Recover" });
  await view.call({ do: "perform", action: "Recover Session…" });
  const deadline = Date.now() + 60_000;
  while (!(await view.world()).toasts.join("\n").includes(title)) {
    if (Date.now() > deadline) throw new Error(`No toast "${title}": ${(await view.world()).toasts.join("; ")}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function inSession<Result>(location: string, work: (session: Session) => Promise<Result>): Promise<Result> {
  const session = await openSession(location);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

test("2: the helper is killed at 2.65 s: the view says so, and every written frame is in the recording", async () => {
  await bench.start();
  const view = bench.isolate({ pace: 1 });
  await view.call(record);
  // Sound comes by the tenth of a second: at 2.65 s there are 2.6.
  await until("2.6 s are written", () => bench.soundBytes() >= 2.6 * BYTES_PER_SECOND);
  for (const { pid } of bench.captures()) process.kill(pid, "SIGKILL");
  await view.call({ do: "until", text: "The Capture Ended Early" });
  await until("the host has ended", () => bench.processes().length === 0);
  const written = bench.soundBytes();
  // The samples are counted as they lie there: the sizes in the header may be those of the last sync.
  expect(await inspectWav(bench.wavPath())).toMatchObject({ dataBytes: written - (written % 2) });
  const end = bench.records().find(({ type }) => type === "recording.interrupted");
  expect(end).toMatchObject({ reason: "helper-died", durationMs: Math.round(written / (BYTES_PER_SECOND / 1000)) });
  const shown = bench.isolate();
  await shown.call({ do: "view", command: "session-detail", arguments: { session: bench.locations()[0] ?? "" } });
  await shown.call({ do: "until", text: "A Recording Was Interrupted" });
  // Its end is in the session, so that a recovery has nothing to do: what is offered is what is there.
  expect(await shown.call<string>({ do: "text" })).not.toContain("Recover Session");
  expect(await shown.call<string>({ do: "text" })).toContain("Transcribe Recording Again");
});

test("2: what a killed helper had written and not announced, and not claimed in its header, is in the recording too", async () => {
  await bench.start();
  const view = withHelper("killed");
  await view.call(record);
  await view.call({ do: "until", text: "The Capture Ended Early" });
  await until("the host has ended", () => bench.processes().length === 0);
  expect(await inspectWav(bench.wavPath())).toMatchObject({ outcome: "intact", frames: 63_600, durationMs: 2_650 });
  expect(bench.records().find(({ type }) => type === "recording.interrupted")).toMatchObject({ durationMs: 2_650 });
  const sound = readFileSync(bench.wavPath()).subarray(HEADER_BYTES);
  expect(sound.equals(readFileSync(sample).subarray(HEADER_BYTES, HEADER_BYTES + sound.length))).toBe(true);
});

test("6: the device goes at 5 s and another comes: one WAV, one gap, the messages before and after it in order", async () => {
  const delayMs = 1_000;
  const turns = script.turns.map(({ startMs, endMs, text }) => ({
    startMs: startMs + delayMs,
    endMs: endMs + delayMs,
    text,
  }));
  await bench.start({ script: { turns } });
  // The sample's own pause before it, so that the device goes between two sentences.
  const [whole, pauseAt] = [readFileSync(sample).subarray(HEADER_BYTES), 7.8 * BYTES_PER_SECOND];
  const pause = whole.subarray(pauseAt, pauseAt + (delayMs * BYTES_PER_SECOND) / 1000);
  const sound = path.join(bench.folder, "delayed.wav");
  writeFileSync(sound, Buffer.concat([wavHeader(pause.length + whole.length), pause, whole]));
  const view = withHelper("device-lost", sound);
  await view.call(record);
  await until("it is finished", () => types().includes("recording.finished"));
  await view.call({ do: "until", text: words.at(-1) ?? "" });
  expect(bench.wavPaths()).toHaveLength(1);
  expect(await inspectWav(bench.wavPath())).toMatchObject({
    outcome: "intact",
    dataBytes: pause.length + whole.length,
  });
  const finished = bench.records().find(({ type }) => type === "recording.finished");
  expect(finished).toMatchObject({ gaps: [{ reason: "device-lost", startMs: 5_000, endMs: 5_700 }] });
  expect(bench.said()).toEqual(words);
  const { turns: said } = await inSession(bench.locations()[0] ?? "", (session) => readTranscript(session));
  expect(said.map(({ range }) => range !== null && range.endMs <= 5_000)).toEqual([true, false, false]);
  expect(said.map(({ range }) => range !== null && range.startMs >= 5_000)).toEqual([false, true, true]);
  expect((await view.world()).clipboard).toEqual([words.join("\n")]);
});

test("7: the socket opens 3 s late: sent is the WAV from offset 44 to 250 ms after the stop", async () => {
  await bench.start();
  const waiting: Socket[] = [];
  let open = false;
  const pass = (socket: Socket) => {
    const { port } = new URL(bench.server.url);
    const onward = connect(Number(port), "127.0.0.1");
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      from.pipe(to);
      from.on("error", () => to.destroy());
    }
  };
  const proxy = createServer((socket) => (open ? pass(socket) : waiting.push(socket)));
  proxies.push(proxy);
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  const late = new URL(bench.server.url);
  late.port = String(port);
  const view = bench.isolate({ pace: 1, preferences: { endpoint: late.href } });
  await view.call(record);
  await until("three seconds are recorded", () => bench.soundBytes() > 3 * BYTES_PER_SECOND);
  expect(messages()).toEqual([]);
  open = true;
  waiting.forEach(pass);
  await view.call({ do: "until", text: words[1] ?? "" });
  const atStop = bench.soundBytes();
  await view.call({ do: "perform", action: "Stop Recording" });
  await until("it is finished", () => types().includes("recording.finished"));
  await until("the host has ended", () => bench.processes().length === 0);
  const sent = await sentRanges(bench.locations()[0] ?? "");
  expect(sent[0]?.start).toBe(HEADER_BYTES);
  // Nothing between is left out or sent twice, and the end of the file is the end of what was sent.
  expect(sent.slice(1).map(({ start }) => start)).toEqual(sent.slice(0, -1).map(({ end }) => end));
  expect(sent.at(-1)?.end).toBe(bench.wavBytes());
  expect(bench.soundBytes()).toBeGreaterThanOrEqual(atStop + 0.25 * BYTES_PER_SECOND);
  expect(bench.said().slice(0, 2)).toEqual(words.slice(0, 2));
});

test("8: the disk is full: a visible stop, its reason, a valid WAV", async () => {
  await bench.start();
  const view = withHelper("disk-full");
  await view.call(record);
  await view.call({ do: "until", text: "The Disk Is Full" });
  await until("it is finished", () => types().includes("recording.finished"));
  expect((await inspectWav(bench.wavPath())).outcome).toBe("intact");
  expect(JSON.stringify(messages())).toContain(words[0]);
});

test("9: of two recorders the live one is not recovered, the dead one is, and a third run changes nothing", async () => {
  await bench.start();
  const first = bench.isolate({ pace: 1 });
  await first.call({ do: "no-view", command: "quick-record" });
  await until("there is sound", () => bench.soundBytes() > 1.5 * BYTES_PER_SECOND);
  const [dead = ""] = bench.locations();
  const recorders = bench.processes().filter(({ command }) => command.includes("session-host.cjs"));
  // Both ends die at once: neither the helper nor the host finishes the file.
  for (const { pid } of recorders) process.kill(pid, "SIGSTOP");
  for (const { pid } of bench.captures()) process.kill(pid, "SIGKILL");
  for (const { pid } of recorders) process.kill(pid, "SIGKILL");
  await until("nothing runs any more", () => bench.processes().length === 0);

  const second = bench.isolate({ pace: 1 });
  await second.call({ do: "no-view", command: "quick-record" });
  const live = bench.locations().find((location) => location !== dead) ?? "";
  const [liveWav = ""] = bench.wavPaths(live);
  const [deadWav = ""] = bench.wavPaths(dead);
  await until("there is sound", () => statSync(liveWav).size > BYTES_PER_SECOND);
  const written = statSync(deadWav).size - HEADER_BYTES;
  expect(await inspectWav(deadWav)).toMatchObject({ outcome: "repaired", dataBytes: written });

  await recover(live, "The Recording Is Still Running");
  expect(readFileSync(path.join(live, "session.jsonl"), "utf8")).not.toContain("recording.interrupted");
  await recover(dead, "Session Recovered");
  expect(await inspectWav(deadWav)).toMatchObject({ outcome: "intact", dataBytes: written });
  const before = [readFileSync(path.join(dead, "session.jsonl")), readFileSync(deadWav)];
  const third = bench.isolate({ answers: [true] });
  await third.call({ do: "view", command: "session-detail", arguments: { session: dead } });
  await third.call({ do: "settled" });
  expect(await third.call<string>({ do: "text" })).not.toContain("Recover Session…");
  const again = await inSession(dead, (session) => session.recover());
  expect(again).toMatchObject({ action: "none", recordings: [] });
  expect([readFileSync(path.join(dead, "session.jsonl")), readFileSync(deadWav)]).toEqual(before);

  // The refused recovery has cost the live recording nothing.
  const size = statSync(liveWav).size;
  await until("its sound goes on", () => statSync(liveWav).size > size);
  const stop = bench.isolate();
  await stop.call({ do: "no-view", command: "quick-record" });
  expect((await stop.world()).huds[0]).toMatch(/^Copied /);
});

test("10: a search finds what the documentation says, and nothing else", async () => {
  await bench.start();
  const texts = ["Die lange Straße", "Notre e\u0301cole", "ガラス", "قال مرحبا بكم", "Hauptstrasse", "ｶﾞﾗｽ"];
  // Names that look like no needle: only the literal search can find these sessions.
  const names = ["1111", "2222", "3333", "4444", "5555", "6666"];
  texts.forEach((text, at) =>
    writeSession(bench.sessions, {
      id: `session-${at}`,
      createdAt: "2026-01-02T03:04:05.000Z",
      name: names[at] ?? "",
      turns: [{ text }],
    }),
  );
  const view = bench.isolate();
  await view.call({ do: "view", command: "search-sessions" });
  const found = async (needle: string): Promise<string[]> => {
    await view.call({ do: "search", text: needle });
    await view.call({ do: "settled" });
    return view.call<string[]>({ do: "titles" });
  };
  expect(await found("STRAẞE")).toEqual(["1111"]);
  expect(await found("STRASSE")).toEqual(["5555"]);
  expect(await found("E\u0301COLE")).toEqual(["2222"]);
  expect(await found("\u00e9cole")).toEqual([]);
  expect(await found("ガラ")).toEqual(["3333"]);
  expect(await found("ｶﾞ")).toEqual(["6666"]);
  expect(await found("مرحبا")).toEqual(["4444"]);
});
