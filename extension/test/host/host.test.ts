import { spawn } from "node:child_process";
import { readdirSync, readFileSync, renameSync } from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { openSession } from "@persyk/store";
import {
  markAnnounced,
  readHostState,
  requestDiscard,
  requestStop,
  startHost,
  waitForEnd,
  watchHost,
} from "../../src/host/client";
import { processStart, sameProcess } from "../../src/host/process-start";
import { type HostState } from "../../src/host/state";
import { build, readEntries, removeBuilt, sampleBytes, wavOf, Workbench } from "./bench";

const KEY = "sk-test-not-a-real-key-0123456789";
let hostPath: string;
const benches: Workbench[] = [];

function bench(): Workbench {
  const made = new Workbench();
  benches.push(made);
  return made;
}

beforeAll(() => {
  hostPath = build("host");
});

afterAll(() => {
  for (const made of benches) made.clear();
  removeBuilt();
});

async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Processes whose command line names the folder: nothing of a recording may stay behind. */
function processesOf(folder: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder);
      } catch {
        return false;
      }
    });
}

function zombiesOf(parent: number): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
        const [state, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return state === "Z" && Number(ppid) === parent;
      } catch {
        return false;
      }
    });
}

async function nothingLeft(made: Workbench): Promise<void> {
  await until(() => (processesOf(path.dirname(hostPath)).length === 0 ? true : undefined));
  expect(zombiesOf(process.pid)).toEqual([]);
  const leftovers = made.files(made.supportPath).map((file) => path.basename(file));
  expect(leftovers.filter((name) => !["state.json", "host.log", "running", "announced"].includes(name))).toEqual([]);
  for (const file of made.files()) expect([file, readFileSync(file).includes(KEY)]).toEqual([file, false]);
}

async function recorded(made: Workbench, atLeastMs: number): Promise<HostState> {
  return until(async () => {
    const view = await readHostState(made.supportPath);
    return view.kind === "live" && view.state.elapsedMs >= atLeastMs ? view.state : undefined;
  });
}

const linux = process.platform === "linux" ? describe : describe.skip;

linux("the session host", () => {
  test("records on its own, stops on request, leaves nothing behind", async () => {
    const made = bench();
    const options = made.options({ provider: { kind: "none" }, source: { kind: "file", path: samplePath(), pace: 1 } });
    const state = await startHost({ ...options, apiKey: KEY }, { nodePath: process.execPath, hostPath });
    expect(state.phase).toBe("recording");
    expect(state.pid).not.toBe(process.pid);
    await recorded(made, 500);
    await requestStop(made.supportPath);
    const end = await waitForEnd(made.supportPath);
    if (end.kind !== "ended") throw new Error(end.kind);
    expect(end.state.phase).toBe("finished");
    const location = end.state.session?.location ?? "";
    const wav = wavOf(location).subarray(44);
    expect(wav.length).toBeGreaterThan(500 * 48);
    expect(sampleBytes.subarray(0, wav.length).equals(wav)).toBe(true);
    expect((await readEntries(location)).map(({ type }) => type)).toEqual(["recording.started", "recording.finished"]);
    await nothingLeft(made);
    expect(end.state.result?.announced).toBe(false);
    await markAnnounced(made.supportPath);
    const announced = await readHostState(made.supportPath);
    expect(announced.kind === "ended" && announced.state.result?.announced).toBe(true);
  });

  test("the key is in no argument list, environment or file of the running host", async () => {
    const made = bench();
    const options = made.options({ provider: { kind: "none" }, source: { kind: "file", path: samplePath(), pace: 1 } });
    const { pid } = await startHost({ ...options, apiKey: KEY }, { nodePath: process.execPath, hostPath });
    for (const name of ["cmdline", "environ"]) expect(readFileSync(`/proc/${pid}/${name}`).includes(KEY)).toBe(false);
    for (const file of made.files()) expect(readFileSync(file).includes(KEY)).toBe(false);
    await requestStop(made.supportPath);
    await waitForEnd(made.supportPath);
    await nothingLeft(made);
  });

  test("a second start while one records is refused, whoever asks", async () => {
    const made = bench();
    const options = made.options({ provider: { kind: "none" }, source: { kind: "file", path: samplePath(), pace: 1 } });
    const starts = await Promise.allSettled(
      [1, 2, 3].map(() => startHost(options, { nodePath: process.execPath, hostPath })),
    );
    expect(starts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const start of starts) if (start.status === "rejected") expect(start.reason.code).toBe("already-recording");
    await expect(startHost(options, { nodePath: process.execPath, hostPath })).rejects.toMatchObject({
      code: "already-recording",
    });
    expect(readdirSync(made.root)).toHaveLength(1);
    await requestStop(made.supportPath);
    await waitForEnd(made.supportPath);
    await nothingLeft(made);
  });

  test("SIGTERM means stop", async () => {
    const made = bench();
    const options = made.options({ provider: { kind: "none" }, source: { kind: "file", path: samplePath(), pace: 1 } });
    const { pid } = await startHost(options, { nodePath: process.execPath, hostPath });
    process.kill(pid, "SIGTERM");
    const end = await waitForEnd(made.supportPath);
    expect(end.kind === "ended" && end.state.phase).toBe("finished");
    await nothingLeft(made);
  });

  test("discard deletes the session that the recording made", async () => {
    const made = bench();
    const options = made.options({ provider: { kind: "none" }, source: { kind: "file", path: samplePath(), pace: 1 } });
    await startHost(options, { nodePath: process.execPath, hostPath });
    await requestDiscard(made.supportPath);
    const end = await waitForEnd(made.supportPath);
    expect(end.kind === "ended" && end.state.result?.outcome).toBe("discarded");
    expect(readdirSync(made.root).filter((name) => !name.startsWith("."))).toEqual([]);
    await nothingLeft(made);
  });

  test("a host that is killed is found dead; its sound is finalised and recovered in full length", async () => {
    const made = bench();
    const options = made.options({ provider: { kind: "none" }, source: { kind: "file", path: samplePath(), pace: 1 } });
    await startHost(options, { nodePath: process.execPath, hostPath });
    const { pid } = await recorded(made, 500);
    process.kill(pid, "SIGKILL");
    const end = await waitForEnd(made.supportPath);
    if (end.kind !== "dead") throw new Error(end.kind);
    await until(() => (processesOf(path.dirname(hostPath)).length === 0 ? true : undefined));
    const location = end.state.session?.location ?? "";
    const session = await openSession(location);
    const report = await session.recover();
    await session.close();
    const wav = wavOf(location);
    expect(wav.readUInt32LE(40)).toBe(wav.length - 44);
    expect(sampleBytes.subarray(0, wav.length - 44).equals(wav.subarray(44))).toBe(true);
    expect(report.recordings).toHaveLength(1);
    const types = (await readEntries(location)).map(({ type }) => type);
    expect(types).toEqual(["recording.started", "recording.interrupted"]);
    // The next recording starts as if nothing had been.
    await startHost(options, { nodePath: process.execPath, hostPath });
    await requestStop(made.supportPath);
    await waitForEnd(made.supportPath);
    await nothingLeft(made);
  });

  test("the capture killed under the host: an interrupted recording with every written sample", async () => {
    const made = bench();
    const options = made.options({ provider: { kind: "none" }, source: { kind: "file", path: samplePath(), pace: 1 } });
    await startHost(options, { nodePath: process.execPath, hostPath });
    const { session, recordingId } = await recorded(made, 500);
    const capture = processesOf(samplePath()).map(Number);
    expect(capture).toHaveLength(1);
    process.kill(capture[0] ?? 0, "SIGKILL");
    const end = await waitForEnd(made.supportPath);
    if (end.kind !== "ended") throw new Error(end.kind);
    expect(end.state.result?.outcome).toBe("interrupted");
    const entries = await readEntries(session?.location ?? "");
    const wav = wavOf(session?.location ?? "");
    const durationMs = Math.round((wav.length - 44) / 48);
    expect(entries.at(-1)).toMatchObject({ type: "recording.interrupted", recordingId, durationMs });
    expect(wav.length).toBeGreaterThanOrEqual(44 + 500 * 48);
    expect(wav.readUInt32LE(40)).toBe(wav.length - 44);
    expect(wav.readUInt32LE(4)).toBe(wav.length - 8);
    expect(sampleBytes.subarray(0, wav.length - 44).equals(wav.subarray(44))).toBe(true);
    await nothingLeft(made);
  });

  test.each(["the session's folder", "the lock file"])("%s vanishes: the host ends itself", async (what) => {
    const made = bench();
    const options = made.options({ provider: { kind: "none" }, source: { kind: "file", path: samplePath(), pace: 1 } });
    await startHost(options, { nodePath: process.execPath, hostPath });
    const { session } = await recorded(made, 200);
    const gone = what === "the lock file" ? path.join(made.supportPath, "host", "running") : (session?.location ?? "");
    renameSync(gone, path.join(made.folder, "elsewhere"));
    const end = await waitForEnd(made.supportPath);
    expect(end.kind).toBe("ended");
    await nothingLeft(made);
  });

  test("a pid that another process has taken is not taken for the host", () => {
    const child = spawn("sleep", ["30"]);
    try {
      expect(processStart(child.pid ?? 0)).not.toBe(processStart(process.pid));
      expect(processStart(2 ** 22 + 1)).toBe("");
    } finally {
      child.kill();
    }
  });

  test("where the start time takes a program to ask for, watching a host asks for it once", () => {
    const starts = new Map([[7, "monday"]]);
    let asked = 0;
    const look = {
      start: (pid: number) => ((asked += 1), starts.get(pid) ?? ""),
      exists: (pid: number) => starts.has(pid),
    };
    const isRunning = sameProcess(look, false);
    for (let times = 0; times < 5; times += 1) expect(isRunning(7, "monday")).toBe(true);
    expect(asked).toBe(1);
    starts.delete(7);
    expect(isRunning(7, "monday")).toBe(false);
    // Another process has the pid: having been there once counts for nothing.
    starts.set(7, "tuesday");
    expect(isRunning(7, "monday")).toBe(false);
    expect(isRunning(7, "")).toBe(false);
  });

  test("the command's isolate is terminated in mid-recording: the host goes on, nothing is lost, no zombie", async () => {
    const made = bench();
    const program = path.join(path.dirname(hostPath), "command.cjs");
    const client = JSON.stringify(path.join(__dirname, "../../src/host/client.ts"));
    const { buildSync } = await import("esbuild");
    buildSync({
      stdin: {
        contents: `import { startHost, watchHost } from ${client};
          import { parentPort, workerData } from "node:worker_threads";
          startHost(workerData.options, workerData.launch).then((state) => {
            watchHost(workerData.options.supportPath, () => {});
            parentPort.postMessage(state.pid);
          });`,
        resolveDir: __dirname,
        loader: "ts",
      },
      outfile: program,
      bundle: true,
      platform: "node",
      format: "cjs",
    });
    const options = made.options({ provider: { kind: "none" }, source: { kind: "file", path: samplePath(), pace: 2 } });
    const worker = new Worker(program, { workerData: { options, launch: { nodePath: process.execPath, hostPath } } });
    await new Promise((resolve) => worker.once("message", resolve));
    await worker.terminate();
    const seen: number[] = [];
    const stopWatching = watchHost(made.supportPath, (view) => {
      if (view.kind === "live") seen.push(view.state.elapsedMs);
    });
    const end = await waitForEnd(made.supportPath);
    stopWatching();
    if (end.kind !== "ended") throw new Error(end.kind);
    // A view that was opened later has seen it live.
    expect(seen.length).toBeGreaterThan(2);
    expect(
      wavOf(end.state.session?.location ?? "")
        .subarray(44)
        .equals(sampleBytes),
    ).toBe(true);
    await nothingLeft(made);
  });
});

function samplePath(): string {
  return path.join(__dirname, "../../../assets/sample.wav");
}
