/** Stories of users through the commands themselves: a worker for each command, the real host, files in place of a microphone. */
import { readdirSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import path from "node:path";
import { inspectWav } from "@persyk/store";
import { writeFakeHelper, type Scenario } from "../capture/fake-helper";
import { writeSession } from "../commands/library-fixture";
import { processesWith, type Isolate } from "./isolate";
import { RecordingBench, sample, until, words } from "./recording-fixture";

const BYTES_PER_SECOND = 48_000;
const HEADER_BYTES = 44;

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
const soundBytes = () => bench.wavBytes() - HEADER_BYTES;

function wavPaths(): string[] {
  const assets = path.join(bench.locations()[0] ?? "", "assets");
  return readdirSync(assets)
    .filter((name) => name.endsWith(".wav"))
    .map((name) => path.join(assets, name));
}

/** The command with a helper that behaves in one fixed way as its microphone. */
function withHelper(scenario: Scenario): Isolate {
  const program = path.join(bench.folder, "helper.sh");
  const quoted = [process.execPath, writeFakeHelper(bench.folder), scenario, sample].map((part) => `'${part}'`);
  // As the archives of Raycast's store deliver it: without the execute bit.
  writeFileSync(program, `#!/bin/sh\nexec ${quoted.join(" ")}\n`, { mode: 0o644 });
  return bench.isolate({ env: { PERSYK_AUDIO_SOURCE: "", PERSYK_CAPTURE_HELPER: program } });
}

function kill(what: string): void {
  const found = bench.processes().filter(({ command }) => command.includes(what));
  expect(found).not.toEqual([]);
  for (const { pid } of found) process.kill(pid, "SIGKILL");
}

/** Kills what the processes of the recording have started; the name of its folder is not in its arguments. */
function killChildren(what: string): void {
  const parents = new Set(bench.processes().map(({ pid }) => pid));
  const found = processesWith(what).filter(({ parent }) => parents.has(parent));
  expect(found).not.toEqual([]);
  for (const { pid } of found) process.kill(pid, "SIGKILL");
}

async function detail(answers: boolean[]): Promise<Isolate> {
  const view = bench.isolate({ answers });
  const [session = ""] = bench.locations();
  await view.call({ do: "view", command: "session-detail", arguments: { session } });
  await view.call({ do: "until", text: "Recover" });
  return view;
}

const toast = async (view: Isolate, title: string): Promise<void> => {
  const deadline = Date.now() + 60_000;
  while (!(await view.world()).toasts.join("\n").includes(title)) {
    if (Date.now() > deadline) throw new Error(`No toast "${title}": ${(await view.world()).toasts.join("; ")}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

test("2: the helper is killed: the view says so, and every written frame is in the recording", async () => {
  await bench.start();
  const view = bench.isolate({ pace: 1 });
  await view.call(record);
  await until("there are two seconds of sound", () => soundBytes() > 2 * BYTES_PER_SECOND);
  killChildren("capture-stand-in");
  await view.call({ do: "until", text: "The Capture Ended Early" });
  await until("the host has ended", () => bench.processes().length === 0);
  const written = soundBytes();
  expect(written).toBeGreaterThan(2 * BYTES_PER_SECOND);
  const [wav = ""] = wavPaths();
  // The samples are counted as they lie there: the sizes in the header may be those of the last sync.
  expect(await inspectWav(wav)).toMatchObject({ dataBytes: written - (written % 2) });
  const end = bench.records().find(({ type }) => type === "recording.interrupted");
  expect(end).toMatchObject({ reason: "helper-died", durationMs: Math.round(written / (BYTES_PER_SECOND / 1000)) });
  const shown = bench.isolate();
  await shown.call({ do: "view", command: "session-detail", arguments: { session: bench.locations()[0] ?? "" } });
  await shown.call({ do: "until", text: "A Recording Was Interrupted" });
  // Its end is in the session, so that a recovery has nothing to do: what is offered is what is there.
  expect(await shown.call<string>({ do: "text" })).not.toContain("Recover Session");
  expect(await shown.call<string>({ do: "text" })).toContain("Transcribe Recording Again");
});

test("6: the device goes and another comes: one WAV, one gap, the messages in order", async () => {
  await bench.start();
  const view = withHelper("device-lost");
  await view.call(record);
  await until("it is finished", () => types().includes("recording.finished"));
  await view.call({ do: "until", text: words[1] ?? "" });
  expect(wavPaths()).toHaveLength(1);
  const finished = bench.records().find(({ type }) => type === "recording.finished");
  expect(finished).toMatchObject({ gaps: [{ reason: "device-lost", startMs: 4_300, endMs: 5_000 }] });
  expect((await view.world()).clipboard).toEqual([words.slice(0, 2).join("\n")]);
});

test("7: the socket opens late, and the first words are there all the same", async () => {
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
  await until("three seconds are recorded", () => soundBytes() > 3 * BYTES_PER_SECOND);
  expect(messages()).toEqual([]);
  open = true;
  waiting.forEach(pass);
  await until("it is finished", () => types().includes("recording.finished"));
  const [first] = messages();
  expect(JSON.stringify(first)).toContain(words[0]);
  expect(messages()).toHaveLength(words.length);
});

test("8: the disk is full: a visible stop, its reason, a valid WAV", async () => {
  await bench.start();
  const view = withHelper("disk-full");
  await view.call(record);
  await view.call({ do: "until", text: "The Disk Is Full" });
  await until("it is finished", () => types().includes("recording.finished"));
  const [wav = ""] = wavPaths();
  expect((await inspectWav(wav)).outcome).toBe("intact");
  expect(JSON.stringify(messages())).toContain(words[0]);
});

test("9: a live recording is not recovered, a dead one is, and once more changes nothing", async () => {
  await bench.start();
  const quick = bench.isolate({ pace: 1 });
  await quick.call({ do: "no-view", command: "quick-record" });
  await until("there is sound", () => soundBytes() > BYTES_PER_SECOND);
  const live = await detail([true]);
  await live.call({ do: "perform", action: "Recover Session…" });
  await toast(live, "The Recording Is Still Running");
  expect(types()).not.toContain("recording.interrupted");
  kill("session-host.cjs");
  await until("nothing runs any more", () => bench.processes().length === 0);
  const dead = await detail([true]);
  await dead.call({ do: "perform", action: "Recover Session…" });
  await toast(dead, "Session Recovered");
  const [before, sound] = [JSON.stringify(bench.records()), soundBytes()];
  const third = bench.isolate({ answers: [true] });
  await third.call({ do: "view", command: "session-detail", arguments: { session: bench.locations()[0] ?? "" } });
  await third.call({ do: "settled" });
  expect(await third.call<string>({ do: "text" })).not.toContain("Recover Session…");
  expect([JSON.stringify(bench.records()), soundBytes()]).toEqual([before, sound]);
});

test("10: a search finds what the documentation says, and nothing else", async () => {
  await bench.start();
  const texts = ["Die lange Straße", "Notre e\u0301cole", "ガラス", "قال مرحبا بكم"];
  // Names that look like no needle: only the literal search can find these sessions.
  const names = ["1111", "2222", "3333", "4444"];
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
  expect(await found("STRASSE")).toEqual([]);
  expect(await found("E\u0301COLE")).toEqual(["2222"]);
  expect(await found("\u00e9cole")).toEqual([]);
  expect(await found("ガラ")).toEqual(["3333"]);
  expect(await found("ｶﾞ")).toEqual([]);
  expect(await found("مرحبا")).toEqual(["4444"]);
});
