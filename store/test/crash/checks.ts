/** What must hold whatever happens, as functions that name each violation: run against the product and against mutants. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { type BigIntStats } from "node:fs";
import { type LogIndex } from "../../src/log/log-index";
import { scanLog } from "../../src/log/scan";
import { LayeredLock } from "../../src/lock/session-lock";
import { type OpenFile } from "../../src/platform/fs";
import { createSession } from "../../src/session/create";
import { Program, until } from "../support/program";
import { message, readLog, type Sandbox } from "../support/sandbox";
import { crashPoints, parseTrace, TRACED, type Event } from "./power-loss";

export const hasStrace = process.platform === "linux" && spawnSync("strace", ["-V"]).status === 0;
export const hasPrlimit = process.platform === "linux" && spawnSync("prlimit", ["--version"]).status === 0;

const TORN = '{"type":"message","id":"torn","par';

/** Runs a writer under strace and gives what it did below the sandbox and what it said. */
export async function record(sandbox: Sandbox, bundle: string, args: readonly string[]): Promise<Event[]> {
  const trace = join(sandbox.folder, `trace-${fs.readdirSync(sandbox.folder).length}`);
  const program = new Program(
    "strace",
    ["-f", "-y", "-xx", "-s", "100000000", "-o", trace, "-e", `trace=${TRACED}`, process.execPath, bundle].concat([
      sandbox.locks,
      ...args,
    ]),
    { UV_THREADPOOL_SIZE: "1", TEXT_BYTES: "1" },
  );
  await program.success();
  return parseTrace(fs.readFileSync(trace, "utf8"), sandbox.root);
}

const acknowledged = (said: readonly string[]): string[] =>
  said.filter((line) => line.startsWith("ack ")).flatMap((line) => line.split(" ").slice(1));

/** What a log in memory holds. */
async function scanBytes(bytes: Buffer): Promise<LogIndex> {
  const stat = { ...fs.statSync("/", { bigint: true }), size: BigInt(bytes.length), blocks: 8n, isFile: () => true };
  const file: OpenFile = {
    fd: -1,
    async read(buffer, offset, length, position) {
      return { bytesRead: bytes.copy(buffer, offset, position, position + length) };
    },
    write: () => Promise.reject(new Error("read-only")),
    stat: async () => stat as BigIntStats,
    sync: () => Promise.reject(new Error("read-only")),
    truncate: () => Promise.reject(new Error("read-only")),
    close: async () => undefined,
  };
  return scanLog(file);
}

export interface Findings {
  states: number;
  violations: string[];
}

/** Power loss at every moment of a run that appends: no acknowledged record is ever lost, no tail is misjudged. */
export async function appendSurvivesPowerLoss(
  sandbox: Sandbox,
  bundle: string,
  mode: "append" | "batch",
  count: number,
): Promise<Findings> {
  const session = await createSession(sandbox.root, sandbox.context);
  await session.close();
  const path = join(session.location, "session.jsonl");
  const existing = new Map([[path, fs.readFileSync(path)]]);
  const events = await record(sandbox, bundle, [mode, session.location, String(count), "m"]);
  const seen = new Map<string, Promise<LogIndex>>();
  const violations: string[] = [];
  let states = 0;
  for (const { said, states: possible } of crashPoints(events, sandbox.root, existing)) {
    const ids = acknowledged(said);
    for (const state of possible) {
      const bytes = state.get(path);
      if (bytes === undefined) {
        violations.push("the log is gone");
        continue;
      }
      const key = bytes.toString("latin1");
      if (!seen.has(key)) states += 1;
      const scanned = seen.get(key) ?? scanBytes(bytes);
      seen.set(key, scanned);
      const log = await scanned;
      const lost = ids.filter((id) => !log.entries.has(id));
      if (lost.length > 0) violations.push(`lost ${lost.length} acknowledged records`);
      if (log.verdict === "blocked") violations.push("a cut looks like a foreign record");
    }
  }
  if (acknowledged([...saidBy(events)]).length < count) violations.push("the recording is incomplete");
  return { states, violations };
}

function saidBy(events: readonly Event[]): string[] {
  return events.flatMap((event) => (event.kind === "say" ? [event.line] : []));
}

/** Power loss at every moment of a run that creates sessions: acknowledged ones are there, none is there in part. */
export async function createSurvivesPowerLoss(sandbox: Sandbox, bundle: string): Promise<Findings> {
  const events = await record(sandbox, bundle, ["create", sandbox.root, "3", "s"]);
  const violations: string[] = [];
  let states = 0;
  for (const { said, states: possible } of crashPoints(events, sandbox.root, new Map())) {
    for (const state of possible) {
      states += 1;
      for (const id of acknowledged(said)) {
        if (!state.has(join(sandbox.root, id, "session.jsonl"))) violations.push(`lost the session ${id}`);
      }
      for (const [path, bytes] of state) {
        if (!path.endsWith("/session.jsonl")) continue;
        if ((await scanBytes(bytes)).verdict !== "valid") violations.push("a session without its whole header");
      }
    }
  }
  if (acknowledged(saidBy(events)).length !== 3) violations.push("the recording is incomplete");
  return { states, violations };
}

/** Power loss at every moment of a recovery: the records and the fragment are there, and it is done once it says so. */
export async function recoverySurvivesPowerLoss(sandbox: Sandbox, bundle: string): Promise<Findings> {
  const location = await tornSession(sandbox);
  const path = join(location, "session.jsonl");
  const existing = new Map([[path, fs.readFileSync(path)]]);
  const events = await record(sandbox, bundle, ["recover-once", location]);
  const violations: string[] = [];
  let states = 0;
  for (const { said, states: possible } of crashPoints(events, sandbox.root, existing)) {
    for (const state of possible) {
      states += 1;
      const log = state.get(path);
      if (log === undefined || !(await scanBytes(log)).entries.has("a")) violations.push("lost a record");
      const inLog = log?.toString().endsWith(TORN) === true;
      const kept = [...state].some(
        ([name, bytes]) => name.includes("/session.jsonl.fragment-") && bytes.toString() === TORN,
      );
      if (!inLog && !kept) violations.push("lost the fragment");
      if (said.includes("recovered truncate-fragment") && inLog) violations.push("said recovered and was not");
    }
  }
  return { states, violations };
}

async function tornSession(sandbox: Sandbox): Promise<string> {
  const session = await createSession(sandbox.root, sandbox.context);
  await session.append([message("a", "a")], { parentId: null });
  await session.close();
  fs.appendFileSync(join(session.location, "session.jsonl"), TORN);
  return session.location;
}

/** A limit of the file size cuts one write short: the cause is told and the log is whole. */
export async function shortWritesAreNoticed(sandbox: Sandbox, bundle: string): Promise<Findings> {
  const violations: string[] = [];
  const session = await createSession(sandbox.root, sandbox.context);
  await session.close();
  for (const limit of [700, 913, 1_200]) {
    const args = [
      `--fsize=${limit}`,
      process.execPath,
      bundle,
      sandbox.locks,
      "append",
      session.location,
      "50",
      `m${limit}`,
    ];
    const program = new Program("prlimit", args);
    await program.ended;
    if (!program.stderr.includes("file-too-large")) violations.push("the cause of a short write is not told");
    const log = await scanBytes(readLog(session.location));
    if (log.verdict !== "valid") violations.push(`a short write left the log ${log.verdict}`);
    if (acknowledged(program.lines).some((id) => !log.entries.has(id))) violations.push("lost an acknowledged record");
  }
  return { states: 3, violations };
}

/** A sync that fails once is no acknowledgement, though the next one would succeed. */
export async function failedSyncIsNotRetried(sandbox: Sandbox, bundle: string): Promise<Findings> {
  const session = await createSession(sandbox.root, sandbox.context);
  await session.close();
  const path = join(session.location, "session.jsonl");
  const inject = [
    "-f",
    "-qq",
    "-o",
    "/dev/null",
    "-P",
    path,
    "-e",
    "trace=fsync",
    "-e",
    "inject=fsync:error=EIO:when=3",
  ];
  const program = new Program(
    "strace",
    [...inject, process.execPath, bundle, sandbox.locks, "append", session.location, "9", "m"],
    { UV_THREADPOOL_SIZE: "1" },
  );
  await program.ended;
  const violations: string[] = [];
  if (acknowledged(program.lines).join(" ") !== "m-0 m-1") violations.push(`acknowledged ${program.lines.join(", ")}`);
  if (!program.stderr.includes("outcome-unknown")) violations.push("the unknown outcome is not told");
  return { states: 1, violations };
}

/** Opening never changes a byte. */
export async function openingWritesNothing(sandbox: Sandbox, bundle: string): Promise<Findings> {
  const location = await tornSession(sandbox);
  const before = readLog(location);
  const program = Program.node(bundle, [sandbox.locks, "open", location]);
  await program.success();
  const violations = readLog(location).equals(before) ? [] : ["opening changed the log"];
  if (!program.lines.includes("verdict tail-pending")) violations.push(`opened as ${program.lines.join()}`);
  return { states: 1, violations };
}

/** A recovery waits for whoever holds the session. */
export async function recoveryTakesTheLock(sandbox: Sandbox, bundle: string): Promise<Findings> {
  const location = await tornSession(sandbox);
  const { dev, ino } = fs.statSync(location, { bigint: true });
  const before = readLog(location);
  const violations: string[] = [];
  let program: Program | undefined;
  await new LayeredLock({ directory: sandbox.locks }).withLock({ dev, ino, location }, {}, async () => {
    const started = Program.node(bundle, [sandbox.locks, "recover-once", location]);
    program = started;
    const waits = (): boolean => fs.readdirSync(sandbox.locks).some((name) => name.endsWith(".waiting"));
    await until(() => waits() || started.lines.some((line) => line.startsWith("recovered")), "it waits or is done");
    if (!readLog(location).equals(before)) violations.push("the log was changed under somebody else's lock");
  });
  await program?.success();
  if (readLog(location).equals(before)) violations.push("nothing was recovered");
  return { states: 1, violations };
}
