import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { encodeBatch, encodeNewLog } from "../src/event-log/encode";
import { EventLogBackend } from "../src/event-log/backend";
import { newHeader } from "../src/event-log/header";
import { logPath } from "../src/event-log/paths";
import { type EventLogMeta, type JsonValue, type LogEvent } from "../src/event-log/types";
import { interleave, ms, rate, rounds, times, timing, type Sample } from "./measure";
import { type BenchRow } from "./row";

const PEER = "@deepseek-ai/dsh-session-persistence-jsonl";

/** The part of the reference that is measured. */
interface Peer {
  create(meta: EventLogMeta): Promise<unknown>;
  append(id: string, events: readonly LogEvent[]): Promise<unknown>;
  load(id: string): Promise<unknown>;
  list(): Promise<unknown>;
  readFrom(id: string, fromSeq: number): Promise<unknown>;
  dispose(): Promise<unknown>;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return (typeof value === "object" || typeof value === "function") && value !== null;
}

function call(target: unknown, name: string, ...args: unknown[]): Promise<unknown> {
  const method: unknown = isObject(target) ? Reflect.get(target, name) : undefined;
  if (typeof method !== "function") throw new Error(`the reference has no ${name}`);
  return Promise.resolve(Reflect.apply(method, target, args));
}

/** Opens the reference on a root; null when it is not installed. */
async function peerOn(root: string): Promise<Peer | null> {
  let modules: Record<string, unknown>[];
  try {
    const names = ["@deepseek-ai/cordis", "@deepseek-ai/dsh-session", PEER];
    modules = await Promise.all(names.map(async (name) => ({ ...(await import(name)) }) as Record<string, unknown>));
  } catch {
    return null;
  }
  const [cordis, session, jsonl] = modules;
  const Context = cordis?.["Context"];
  if (typeof Context !== "function") return null;
  const context: unknown = Reflect.construct(Context, []);
  await call(context, "plugin", session?.["SessionStore"]);
  const fiber = await call(context, "plugin", jsonl?.["JsonlSessionPersistence"], { root });
  const store: unknown = isObject(context) ? Reflect.get(context, "sessionPersistence") : undefined;
  return {
    create: (meta) => call(store, "create", { version: 0, delegationDepth: 0, ...meta }),
    append: (id, events) => call(store, "append", id, events),
    load: (id) => call(store, "load", id),
    list: () => call(store, "list"),
    readFrom: (id, fromSeq) => call(store, "readFrom", id, fromSeq),
    dispose: () => call(fiber, "dispose"),
  };
}

const meta = (id: string, cwd: string): EventLogMeta => ({ id, cwd, createdAt: 1_700_000_000_000 });

/** Turns of 500 events, 490 of them deltas of a word, as a streaming model makes them. */
function makeEvents(count: number): LogEvent[] {
  const events: LogEvent[] = [];
  let seed = 42;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 8) % below;
  };
  let time = 1_700_000_000_000;
  const add = (type: string, data: JsonValue, isMessage = false): void => {
    time += 1 + random(40);
    events.push({ type, seq: events.length, time, data, ...(isMessage ? { surfaceOp: "append" as const } : {}) });
  };
  for (let turn = 1; events.length < count; turn += 1) {
    const text = [{ type: "text", text: "what next?" }];
    add("turn/start", { turn });
    add("user/message", { id: `u${turn}`, role: "user", source: { kind: "user" }, content: text }, true);
    add("step/start", { turn, step: 1 });
    for (let word = 0; word < 490; word += 1) {
      const chunk = { type: "text-delta", index: 0, text: `word${random(5000).toString(36)} ` };
      add("assistant/chunk", { turn, step: 1, chunk });
    }
    const source = { kind: "model", provider: "p", model: "m" };
    add(
      "assistant/message",
      { turn, step: 1, message: { id: `a${turn}`, role: "assistant", source, content: text } },
      true,
    );
    add("step/end", { turn, step: 1 });
    add("turn/end", { turn, reason: { kind: "completed" } });
    for (let item = 0; item < 3; item += 1) add("todo/write", { items: [random(100)] });
  }
  return events.slice(0, count);
}

function batchesOf(events: readonly LogEvent[], size: number): LogEvent[][] {
  const batches: LogEvent[][] = [];
  for (let at = 0; at < events.length; at += size) batches.push(events.slice(at, at + size));
  return batches;
}

/** Bars against the reference: Event-log backend. Both run in this process, in turn. */
export async function bench(): Promise<BenchRow[]> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "persyk-bench-event-log-"));
  try {
    if ((await peerOn(path.join(folder, "probe"))) === null) return [];
    const events = makeEvents(100_000);
    return [
      ...(await benchAppends(folder, events)),
      ...(await benchReads(folder, events)),
      ...(await benchRoots(folder, events)),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function row(what: string, sample: { ours: Sample; theirs: Sample }, most: number): BenchRow {
  const { ours, theirs } = sample;
  const against = "the DSH package 0.1.0-rc.8";
  const met = ours.wallMs <= theirs.wallMs * most;
  const bar = `≤ ${most} ×`;
  return {
    what,
    ours: timing(ours),
    against,
    theirs: timing(theirs),
    ratio: times(ours.wallMs, theirs.wallMs),
    bar,
    met,
  };
}

async function benchAppends(folder: string, events: readonly LogEvent[]): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  let runs = 0;
  for (const [size, count, bar] of [
    [1, 2000, 2],
    [100, 50_000, 1.5],
  ] as const) {
    const batches = batchesOf(events.slice(0, count), size);
    const run = async (store: Peer | EventLogBackend): Promise<void> => {
      await store.create(meta("s", "/bench"));
      for (const batch of batches) await store.append("s", batch);
      await store.dispose();
    };
    const freshRoot = (): string => {
      runs += 1;
      return path.join(folder, `append-${runs}`);
    };
    const sample = await interleave(
      {
        ours: () => run(new EventLogBackend({ root: freshRoot() })),
        theirs: async () => {
          const peer = await peerOn(freshRoot());
          if (peer !== null) await run(peer);
        },
      },
      rounds(5),
    );
    const ratio = sample.theirs.wallMs / sample.ours.wallMs;
    rows.push({
      what: `event log: append ${count.toLocaleString("en-US")} events, ${size} a batch`,
      ours: `${rate(count, sample.ours.wallMs)} (${ms(sample.ours.cpuMs)} CPU)`,
      against: "the DSH package 0.1.0-rc.8",
      theirs: `${rate(count, sample.theirs.wallMs)} (${ms(sample.theirs.cpuMs)} CPU)`,
      ratio: `${ratio.toFixed(2)} × the rate`,
      bar: `≥ ${bar} ×`,
      met: ratio >= bar,
    });
  }
  return rows;
}

async function benchReads(folder: string, events: readonly LogEvent[]): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const size of [100, 1]) {
    const root = path.join(folder, `read-${size}`);
    writeLog(root, "s", "/bench", batchesOf(events, size));
    const name = size === 1 ? "one event a frame" : `${size} events a frame`;
    const on = async (work: (store: Peer | EventLogBackend) => Promise<unknown>, isOurs: boolean): Promise<void> => {
      const store = isOurs ? new EventLogBackend({ root }) : await peerOn(root);
      if (store === null) throw new Error("the reference is gone");
      await work(store);
      await store.dispose();
    };
    const both = (work: (store: Peer | EventLogBackend) => Promise<unknown>) =>
      interleave({ ours: () => on(work, true), theirs: () => on(work, false) }, rounds(5));
    const loads = await both((store) => store.load("s"));
    const last = events.length - 10;
    const reads = await both((store) => store.readFrom("s", last));
    // Half of a log of single events is JSON.parse, on both sides; there the bar is not to be slower.
    rows.push(row(`event log: load 100,000 events, ${name}`, loads, size === 1 ? 1.2 : 0.8));
    rows.push(row(`event log: last 10 of 100,000, ${name}`, reads, size === 1 ? 0.1 : 0.05));
  }
  return rows;
}

async function benchRoots(folder: string, events: readonly LogEvent[]): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  const few = closedTurn(events);
  for (const projects of [100, 2000]) {
    const root = path.join(folder, `root-${projects}`);
    for (let index = 0; index < 2000; index += 1) {
      writeLog(root, `session-${index}`, `/srv/project-${index % projects}`, [few]);
    }
    const peer = await peerOn(root);
    if (peer === null) continue;
    await peer.list();
    const list = await interleave(
      { ours: () => new EventLogBackend({ root }).list(), theirs: () => peer.list() },
      rounds(5),
    );
    rows.push(row(`event log: list 2,000 sessions in ${projects.toLocaleString("en-US")} projects`, list, 0.2));
    if (projects !== 2000) continue;
    // Each load is of another session, so that neither side has seen it. The reference knows no lookup by project.
    let next = 0;
    const another = (): number => (next += 1);
    const ours = new EventLogBackend({ root });
    const byProject = await interleave(
      {
        ours: () => {
          const index = another();
          return ours.load(`session-${index}`, { cwd: `/srv/project-${index}` });
        },
        theirs: () => peer.load(`session-${another()}`),
      },
      rounds(5),
    );
    rows.push(row("event log: load one among 2,000 projects, its project known", byProject, 0.01));
    const byId = await interleave(
      { ours: () => ours.load(`session-${another()}`), theirs: () => peer.load(`session-${another()}`) },
      rounds(5),
    );
    rows.push(row("event log: load one among 2,000 projects, by its id alone", byId, 0.01));
    await ours.dispose();
    await peer.dispose();
  }
  return rows;
}

/** Twenty events of one turn that has ended, so that loading them has nothing to repair. */
function closedTurn(events: readonly LogEvent[]): LogEvent[] {
  const ending = events.slice(493, 500);
  return [...events.slice(0, 13), ...ending].map((event, seq) => ({ ...event, seq }));
}

/** Writes a log without the ceremony of appending, in the format that both sides read. */
function writeLog(root: string, id: string, cwd: string, batches: readonly (readonly LogEvent[])[]): void {
  const header = newHeader(meta(id, cwd));
  const encoding = { compression: "zstd", packChunks: true } as const;
  const target = logPath(root, cwd, id, "zstd");
  mkdirSync(path.dirname(target), { recursive: true });
  const parts = [encodeNewLog(header, [], encoding)];
  for (const batch of batches) parts.push(encodeBatch(batch, encoding));
  writeFileSync(target, Buffer.concat(parts));
}
