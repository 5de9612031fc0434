/** What goes wrong in the reference, one test a defect (H1 to H21 in docs/event-logs.md), and does not here. */
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import * as zlib from "node:zlib";
import { isStoreError, type StoreErrorCode } from "../../src/errors";
import { headerLine, newHeader } from "../../src/event-log/header";
import { type EventLogMeta, type JsonValue, type LogEvent } from "../../src/event-log/types";
import { FaultyFs, systemError } from "./faulty-fs";
import { Reference } from "./reference";
import { backend, event, freshRoot, meta, onlyLog, openTurn, treeOf, turn, userMessage } from "./support";

const reference = new Reference();
afterAll(() => reference.close());

async function codeOf(promise: Promise<unknown>): Promise<StoreErrorCode | "fulfilled"> {
  try {
    await promise;
    return "fulfilled";
  } catch (error) {
    if (isStoreError(error)) return error.code;
    throw error;
  }
}

/** A root with a session "s" of one closed turn, and others beside it. */
async function rootWith(...ids: string[]): Promise<string> {
  const root = freshRoot();
  const store = backend(root);
  for (const id of ["s", ...ids]) {
    await store.create(meta(id));
    await store.append(id, turn(0, 1));
  }
  await store.dispose();
  return root;
}

const logOf = (root: string, id: string): string => join(root, "--srv-alpha--", id, "session.jsonl.zstd");

async function referenceReads(root: string, id = "s", config = {}): Promise<number> {
  const theirs = await reference.mount(root, config);
  const { count } = await theirs.digest("inspect", id);
  await theirs.unmount();
  return count;
}

it("H1: two writers never write the same sequence number", async () => {
  const root = await rootWith();
  const [first, second] = [backend(root), backend(root)];
  await first.load("s");
  await second.load("s");
  await first.append("s", turn(6, 2));
  expect(await codeOf(second.append("s", turn(6, 2)))).toBe("lock-busy");
  await first.release("s");
  // The second one now sees what the first one wrote.
  expect(await codeOf(second.append("s", turn(6, 2)))).toBe("event-log-seq-mismatch");
  await second.append("s", turn(12, 3));
  expect((await first.inspect("s")).events.length).toBe(18);
  expect(await referenceReads(root)).toBe(18);
});

it("H1: a writer that knows nothing of leases is noticed before anything is written", async () => {
  const root = await rootWith();
  const ours = backend(root);
  await ours.append("s", turn(6, 2));
  const theirs = await reference.mount(root);
  await theirs.call("append", "s", turn(12, 3));
  const before = treeOf(root);
  expect(await codeOf(ours.append("s", turn(12, 3)))).toBe("event-log-changed");
  expect(treeOf(root)).toEqual(before);
  await ours.append("s", turn(18, 4));
  expect(await referenceReads(root)).toBe(24);
  await theirs.unmount();
});

it("H2: looking at or loading a session that another process writes adds no closers", async () => {
  const root = await rootWith();
  const owner = backend(root);
  await owner.append("s", openTurn(6, 2));
  const before = treeOf(root);
  const visitor = backend(root);
  expect((await visitor.inspect("s")).events.at(-1)).toMatchObject({ type: "turn/end" });
  expect(await codeOf(visitor.load("s"))).toBe("lock-busy");
  expect(treeOf(root)).toEqual(before);
  await owner.append("s", [
    event(9, "step/end", { turn: 2, step: 1 }),
    event(10, "turn/end", { turn: 2, reason: { kind: "completed" } }),
  ]);
  expect(await referenceReads(root)).toBe(11);
});

it("H3: one bad log of any kind hides no other", async () => {
  const root = await rootWith("flipped", "garbage", "folder", "loop", "moved", "kept");
  const flipped = readFileSync(logOf(root, "flipped"));
  flipped[20] = (flipped[20] ?? 0) ^ 0xff;
  writeFileSync(logOf(root, "flipped"), flipped);
  writeFileSync(logOf(root, "garbage"), "not a log at all");
  rmSync(logOf(root, "folder"));
  mkdirSync(logOf(root, "folder"));
  rmSync(logOf(root, "loop"));
  symlinkSync("session.jsonl.zstd", logOf(root, "loop"));
  cpSync(join(root, "--srv-alpha--", "moved"), join(root, "--srv-alpha--", "copy-of-moved"), { recursive: true });
  cpSync(join(root, "--srv-alpha--"), join(root, "--copied-project--"), { recursive: true, verbatimSymlinks: true });
  const store = backend(root);
  const { sessions, problems } = await store.list();
  expect(sessions.map((entry) => entry.header.id).sort()).toEqual(["kept", "moved", "s"]);
  expect(new Set(problems.map((problem) => problem.code))).toEqual(
    new Set(["event-log-corrupt", "unsafe-path", "event-log-identity-mismatch"]),
  );
  for (const problem of problems) expect(problem.path).toContain(root);
  // A copied project folder makes no session unreadable.
  expect((await store.inspect("kept")).events.length).toBe(6);
});

it("H4, H6: a stray file in a project folder stops nothing, and nothing stays broken after it is gone", async () => {
  const root = await rootWith();
  const stray = join(root, "--srv-alpha--", "notes.jsonl");
  writeFileSync(stray, "mine\n");
  const store = backend(root);
  expect(await store.list()).toMatchObject({
    sessions: [{ header: { id: "s" } }],
    problems: [{ code: "event-log-flat-layout", path: stray }],
  });
  await store.append("s", turn(6, 2));
  await store.create(meta("new"));
  await store.append("new", turn(0, 1));
  rmSync(stray);
  expect((await store.list()).problems).toEqual([]);
  const opposite = join(root, "--srv-beta--/x/session.jsonl");
  mkdirSync(dirname(opposite), { recursive: true });
  writeFileSync(opposite, "");
  const late = backend(root);
  await late.create(meta("later"));
  expect(await codeOf(late.append("later", turn(0, 1)))).toBe("event-log-encoding-mismatch");
  rmSync(opposite);
  await late.append("later", turn(0, 1));
});

it("H5: a log that a tool rewrote as one frame is named and the rest is listed", async () => {
  const root = await rootWith("whole");
  const text = (await backend(root).readRaw("whole"))?.content ?? "";
  writeFileSync(logOf(root, "whole"), zlib.zstdCompressSync(text));
  expect(await backend(root).list()).toMatchObject({
    sessions: [{ header: { id: "s" } }],
    problems: [{ code: "event-log-corrupt", path: logOf(root, "whole") }],
  });
});

it.each(["deleted", "replaced", "shortened"])("H7: nothing is appended to a log that was %s meanwhile", async (how) => {
  const root = await rootWith();
  const path = logOf(root, "s");
  const store = backend(root);
  await store.append("s", turn(6, 2));
  if (how === "deleted") rmSync(path);
  if (how === "shortened") truncateSync(path, statSync(path).size - 1);
  if (how === "replaced") {
    writeFileSync(`${path}.other`, readFileSync(path));
    renameSync(`${path}.other`, path);
  }
  const before = treeOf(root);
  expect(await codeOf(store.append("s", turn(12, 3)))).toBe("event-log-changed");
  expect(treeOf(root)).toEqual(before);
});

it("H8: after a rollback that failed nothing more is written before the log was validated again", async () => {
  const root = await rootWith();
  const faulty = new FaultyFs();
  const store = backend(root, { fs: faulty.fs });
  await store.append("s", turn(6, 2));
  faulty.fault = (operation) => {
    if (operation === "write") return { shortWrite: 10 };
    return operation === "truncate" ? systemError("EIO") : undefined;
  };
  expect(await codeOf(store.append("s", turn(12, 3)))).toBe("handle-poisoned");
  faulty.fault = () => undefined;
  expect(await codeOf(store.append("s", turn(12, 3)))).toBe("handle-poisoned");
  expect((await store.load("s")).events.length).toBe(12);
  await store.append("s", turn(12, 3));
  expect(await referenceReads(root)).toBe(18);
});

it.each(["write", "short write", "sync"] as const)(
  "a failed %s leaves the log as it was, and the retry works",
  async (what) => {
    const root = await rootWith();
    const faulty = new FaultyFs();
    const store = backend(root, { fs: faulty.fs });
    await store.append("s", turn(6, 2));
    const before = treeOf(root);
    let failures = 1;
    faulty.fault = (operation) => {
      if (failures === 0 || operation !== (what === "sync" ? "sync" : "write")) return undefined;
      failures -= 1;
      return what === "short write" ? { shortWrite: 5 } : systemError(what === "sync" ? "EIO" : "ENOSPC");
    };
    expect(await codeOf(store.append("s", turn(12, 3)))).toBe(what === "sync" ? "io-error" : "disk-full");
    expect(treeOf(root)).toEqual(before);
    await store.append("s", turn(12, 3));
    expect(await referenceReads(root)).toBe(18);
  },
);

/** A log whose last frame is torn after the first of its blocks, so that events can be recovered from it. */
async function tornRoot(): Promise<{ root: string; events: readonly LogEvent[] }> {
  const root = freshRoot();
  const store = backend(root);
  await store.create(meta("s"));
  await store.append("s", turn(0, 1));
  const text = Array.from({ length: 40_000 }, (_, index) => index.toString(36)).join("");
  await store.append("s", [...openTurn(6, 2), userMessage(9, text), userMessage(10, [...text].reverse().join(""))]);
  await store.dispose();
  truncateSync(onlyLog(root), statSync(onlyLog(root)).size - 20);
  const { events } = await backend(root).inspect("s");
  expect(events.length).toBeGreaterThan(9);
  return { root, events };
}

it("H9: whichever step of a repair fails, no recoverable event is lost, and the next repair ends well", async () => {
  for (let step = 1; ; step += 1) {
    const { root, events } = await tornRoot();
    const faulty = new FaultyFs();
    faulty.fault = (_operation, count) => (count === step ? systemError("ENOSPC") : undefined);
    const code = await codeOf(backend(root, { fs: faulty.fs }).load("s"));
    expect((await backend(root).inspect("s")).events).toEqual(events);
    const store = backend(root);
    expect((await store.load("s")).events).toEqual(events);
    await store.append("s", turn(events.length, 3));
    expect(await referenceReads(root)).toBe(events.length + 6);
    expect(readdirSync(dirname(onlyLog(root))).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    await store.dispose();
    if (code === "fulfilled") {
      expect(step).toBeGreaterThan(8);
      break;
    }
  }
}, 120_000);

it("H10: a flipped byte in a long open turn cuts nothing off unasked, and salvage keeps what it cuts", async () => {
  const root = freshRoot();
  const store = backend(root, { compression: "none" });
  await store.create(meta("s"));
  await store.append("s", turn(0, 1));
  await store.append("s", [
    event(6, "turn/start", { turn: 2 }),
    ...Array.from({ length: 2000 }, (_, k) => userMessage(7 + k, "x")),
  ]);
  await store.dispose();
  const bytes = readFileSync(onlyLog(root));
  bytes[1500] = 0;
  writeFileSync(onlyLog(root), bytes);
  const damaged = backend(root, { compression: "none" });
  const view = await damaged.load("s");
  expect(view.warnings).toMatchObject([{ code: "damaged-tail", line: expect.any(Number), offset: expect.any(Number) }]);
  expect(readFileSync(onlyLog(root)).equals(bytes)).toBe(true);
  expect(await codeOf(damaged.append("s", turn(view.events.length, 3)))).toBe("event-log-damaged");
  expect(readFileSync(onlyLog(root)).equals(bytes)).toBe(true);
  expect(await codeOf(damaged.recover("s"))).toBe("event-log-damaged");
  const { kept } = await damaged.recover("s", { salvage: true });
  const left = readFileSync(onlyLog(root), "utf8");
  const cut = readFileSync(kept ?? "");
  expect(bytes.subarray(bytes.length - cut.length).equals(cut)).toBe(true);
  expect(left.startsWith(bytes.toString("utf8", 0, bytes.length - cut.length))).toBe(true);
  await damaged.append("s", turn(view.events.length, 3));
  expect(await referenceReads(root, "s", { compression: "none" })).toBe(view.events.length + 6);
});

it("H11: a last line that lacks only its line feed is kept", async () => {
  const root = freshRoot();
  const store = backend(root, { compression: "none" });
  await store.create(meta("s"));
  await store.append("s", turn(0, 1));
  await store.dispose();
  truncateSync(onlyLog(root), statSync(onlyLog(root)).size - 1);
  const again = backend(root, { compression: "none" });
  expect((await again.inspect("s")).events.at(-1)).toMatchObject({ data: { reason: { kind: "completed" } } });
  expect((await again.readFrom("s", 5)).events.length).toBe(1);
  await again.append("s", turn(6, 2));
  expect((await again.inspect("s")).events.at(5)).toMatchObject({ data: { reason: { kind: "completed" } } });
  expect(await referenceReads(root, "s", { compression: "none" })).toBe(12);
});

it("H12: an id that could not be found again is refused at once, and one that the reference cannot find is read", async () => {
  const store = backend(freshRoot());
  expect(await codeOf(store.create(meta("x".repeat(245))))).toBe("event-log-header-invalid");
  expect(await codeOf(store.create(meta("会".repeat(52))))).toBe("event-log-header-invalid");
  await store.create(meta("y".repeat(244)));
  await store.append("y".repeat(244), turn(0, 1));
  expect(await referenceReads(store.root, "y".repeat(244))).toBe(6);
  const long = "z".repeat(250);
  mkdirSync(dirname(logOf(store.root, long)), { recursive: true });
  const text = `${headerLine(newHeader(meta("placeholder"))).replace("placeholder", long)}\n`;
  writeFileSync(logOf(store.root, long), zlib.zstdCompressSync(text));
  expect((await store.inspect(long)).events).toEqual([]);
});

it.each<[string, unknown]>([
  ["delegationDepth", -1],
  ["delegationDepth", 1.5],
  ["origin", "robot"],
  ["seedLength", -1],
  ["cwd", "relative/path"],
  ["cwd", ""],
  ["version", 3],
  ["parentSession", 5],
  ["agentPreset", {}],
  ["createdAt", -1],
  ["createdAt", 1.5],
  ["id", ""],
  ["sandboxMode", 1],
])(
  "H13: a header with %s %j is refused by its name when it is created, and nothing stays of it",
  async (field, value) => {
    const store = backend(freshRoot());
    const header = { ...meta("s"), [field]: value } satisfies Record<string, unknown>;
    await expect(store.create(header as EventLogMeta)).rejects.toMatchObject({
      code: "event-log-header-invalid",
      message: expect.stringContaining(field),
    });
    await store.create(meta("s"));
    await store.append("s", turn(0, 1));
    expect(await referenceReads(store.root)).toBe(6);
  },
);

it.each<[string, Record<string, unknown>]>([
  ["an unknown type", { type: "x/y" }],
  ["a fractional time", { time: 1.5 }],
  ["a message without surfaceOp", { type: "user/message", data: userMessage(6, "x").data }],
  ["no data", { data: undefined }],
  ["a malformed turn end", { type: "turn/end", data: { turn: 1 } }],
  ["a turn that could not be ended", { type: "turn/start", data: { turn: 0 } }],
  ["the tag of a row", { type: "text-chunks", ignorable: true }],
  ["another envelope key", { extra: 1 }],
  ["a value of no JSON kind", { data: { at: new Date(0) } }],
  ["negative zero", { data: { x: -0 } }],
  ["a retired type", { type: "mode/set", ignorable: true }],
])("H14: an event with %s is refused and named, and nothing of its batch is written", async (_what, change) => {
  const root = await rootWith();
  const store = backend(root);
  const before = treeOf(root);
  const bad = { ...event(7, "todo/write", {}), ...change };
  const error = await store
    .append("s", [event(6, "todo/write", {}), bad as LogEvent])
    .catch((reason: unknown) => reason);
  expect(isStoreError(error, "event-log-event-invalid")).toBe(true);
  expect(String(error)).toMatch(/at index 1 of the batch/);
  expect(treeOf(root)).toEqual(before);
  await store.append("s", turn(6, 2));
  expect(await referenceReads(root)).toBe(12);
});

it("H14: types of one's own are written for readers that do not know them", async () => {
  const root = await rootWith();
  const store = backend(root, { ignorableTypes: ["my/note"], extraTypes: ["my/other"] });
  await store.append("s", [event(6, "my/note", { text: "x" })]);
  expect(await referenceReads(root)).toBe(7);
  await store.append("s", [event(7, "my/other", {})]);
  expect((await store.inspect("s")).events.length).toBe(8);
  expect(await codeOf(backend(root).inspect("s"))).toBe("event-log-unsupported");
});

it("an open turn that cannot be ended is shown, and left as it is", async () => {
  const root = freshRoot();
  const theirs = await reference.mount(root);
  await theirs.call("create", { version: 0, delegationDepth: 0, ...meta("s") });
  await theirs.call("append", "s", [event(0, "turn/start", { turn: 0 })]);
  await theirs.unmount();
  const before = treeOf(root);
  const store = backend(root);
  expect((await store.load("s")).events.length).toBe(2);
  expect(await codeOf(store.append("s", turn(2, 1)))).toBe("event-log-damaged");
  expect(treeOf(root)).toEqual(before);
});

it("H15: a value that is too deep is refused where it comes in, and what follows is stored", async () => {
  const root = await rootWith();
  const store = backend(root, { writeBatchMaxDelayMs: 1 });
  let deep: JsonValue = 1;
  for (let level = 0; level < 20_000; level += 1) deep = [deep];
  const writer = store.writer("s");
  expect(() => writer.enqueue(event(6, "todo/write", deep))).toThrow(/deeper than/);
  expect(await codeOf(store.append("s", [event(6, "todo/write", deep)]))).toBe("event-log-event-invalid");
  let fine: JsonValue = 1;
  for (let level = 0; level < 990; level += 1) fine = [fine];
  writer.enqueue(event(6, "todo/write", fine));
  await writer.flush();
  expect(await referenceReads(root)).toBe(7);
});

it("H15: a live event that could never be written is refused at once and holds up nothing", async () => {
  const root = await rootWith();
  const writer = backend(root).writer("s");
  writer.enqueue(event(6, "todo/write", {}));
  for (const bad of [
    event(7, "x/y", {}),
    event(7, "turn/end", { turn: 1 }),
    { ...userMessage(7, "x"), surfaceOp: undefined },
    event(7, "todo/write", {}, { surfaceOp: "append" }),
  ]) {
    expect(() => writer.enqueue(bad as LogEvent)).toThrow(expect.objectContaining({ code: "event-log-event-invalid" }));
  }
  expect(() => writer.enqueue(event(8, "todo/write", {}))).toThrow(
    expect.objectContaining({ code: "event-log-seq-mismatch" }),
  );
  writer.enqueue(userMessage(7, "x"));
  await writer.flush();
  expect(await referenceReads(root)).toBe(8);
});

it("H16: a project folder that is a link is refused when writing, and the id stays free", async () => {
  const root = await rootWith();
  const elsewhere = freshRoot();
  mkdirSync(elsewhere);
  symlinkSync(elsewhere, join(root, "--srv-linked--"));
  const store = backend(root);
  await store.create(meta("n", { cwd: "/srv/linked" }));
  expect(await codeOf(store.append("n", turn(0, 1)))).toBe("unsafe-path");
  expect(readdirSync(elsewhere)).toEqual([]);
});

it("H17: a first append that fails leaves no temporary file, whichever step fails", async () => {
  for (let step = 1; ; step += 1) {
    const root = freshRoot();
    const faulty = new FaultyFs();
    const store = backend(root, { fs: faulty.fs });
    await store.create(meta("s"));
    faulty.fault = (operation, count) => (count === step && operation !== "unlink" ? systemError("ENOSPC") : undefined);
    const code = await codeOf(store.append("s", turn(0, 1)));
    faulty.fault = () => undefined;
    expect(Object.keys(treeOf(root)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    if (code === "fulfilled" && step > faulty.calls.length) break;
    if (code !== "fulfilled") {
      // Published before the failure, or not: either way the session goes on from what is there.
      const retry = await codeOf(store.append("s", turn(0, 1)));
      expect(["fulfilled", "already-exists"]).toContain(retry);
      expect((await backend(root).inspect("s")).events.length).toBe(6);
    }
    await store.dispose();
  }
});

it("H18: a header that decodes to a flood is refused by its limit", async () => {
  const root = await rootWith("bomb");
  writeFileSync(logOf(root, "bomb"), zlib.zstdCompressSync(Buffer.alloc(64 * 1024 * 1024)));
  const before = process.memoryUsage().rss;
  expect(await backend(root).list()).toMatchObject({
    sessions: [{ header: { id: "s" } }],
    problems: [{ code: "event-log-too-large", path: logOf(root, "bomb") }],
  });
  expect(process.memoryUsage().rss - before).toBeLessThan(48 * 1024 * 1024);
  // Without a content size in the frame the decoder itself has to stop.
  const frame = zlib.zstdCompressSync(Buffer.alloc(8 * 1024 * 1024));
  appendFileSync(logOf(root, "s"), frame);
  const limited = backend(root, { limits: { maxFrameBytes: 1024 * 1024 } });
  expect(await codeOf(limited.inspect("s"))).toBe("event-log-too-large");
});

it("H19: the header of a log with one endless frame is given up after a bounded read", async () => {
  const root = await rootWith("endless");
  const noise = Buffer.alloc(8 * 1024 * 1024);
  for (let at = 0; at < noise.length; at += 4) noise.writeUInt32LE((Math.imul(at, 2654435761) ^ (at >>> 3)) >>> 0, at);
  const frame = zlib.zstdCompressSync(noise);
  writeFileSync(logOf(root, "endless"), frame.subarray(0, frame.length - 1));
  expect(await backend(root).list()).toMatchObject({
    sessions: [{ header: { id: "s" } }],
    problems: [{ path: logOf(root, "endless") }],
  });
});

it("H20: a read of a long log keeps no append waiting", async () => {
  const root = freshRoot();
  const store = backend(root);
  await store.create(meta("s"));
  for (let k = 0; k < 40; k += 1) await store.append("s", turn(k * 506, k + 1, 500));
  const order: string[] = [];
  const reading = store.readFrom("s", 0).then(() => order.push("read"));
  await Promise.all([reading, store.append("s", turn(40 * 506, 41)).then(() => order.push("append"))]);
  expect(order).toEqual(["append", "read"]);
});

describe("H21", () => {
  it("bytes that are no UTF-8 are read with a warning", async () => {
    const root = freshRoot();
    const store = backend(root, { compression: "none" });
    await store.create(meta("s"));
    await store.append("s", turn(0, 1));
    const bytes = readFileSync(onlyLog(root));
    bytes[bytes.indexOf("question")] = 0xff;
    writeFileSync(onlyLog(root), bytes);
    expect((await store.inspect("s")).warnings).toMatchObject([{ code: "invalid-utf8", line: 3 }]);
  });

  it("an abort rejects with its very reason, whenever it comes", async () => {
    const root = freshRoot();
    const store = backend(root);
    await store.create(meta("s"));
    for (let k = 0; k < 20; k += 1) await store.append("s", turn(k * 506, k + 1, 500));
    const reason = { why: "mine" };
    const calls: ((signal: AbortSignal) => Promise<unknown>)[] = [
      (signal) => store.inspect("s", { signal }),
      (signal) => store.readFrom("s", 0, { signal }),
      (signal) => store.readFrom("s", 9000, { signal }),
      (signal) => store.readRaw("s", { signal }),
      (signal) => store.readStoredRevision("s", { signal }),
      (signal) => store.list({ signal }),
      async (signal) => {
        for await (const _event of store.iterate("s", { signal })) continue;
      },
    ];
    for (const call of calls) {
      await expect(call(AbortSignal.abort(reason))).rejects.toBe(reason);
      for (const delayMs of [0, 1, 2, 4, 8]) {
        const controller = new AbortController();
        const timer = setTimeout(() => controller.abort(reason), delayMs);
        const ended = await call(controller.signal).then(
          () => "fulfilled",
          (error: unknown) => error,
        );
        clearTimeout(timer);
        expect([reason, "fulfilled"]).toContain(ended);
      }
    }
  });

  it("the text of a plain log leaves a torn line out unless it is asked for", async () => {
    const root = freshRoot();
    const store = backend(root, { compression: "none" });
    await store.create(meta("s"));
    await store.append("s", turn(0, 1));
    const whole = readFileSync(onlyLog(root), "utf8");
    appendFileSync(onlyLog(root), '{"torn');
    expect((await store.readRaw("s"))?.content).toBe(whole);
    expect((await store.readRaw("s", { includeTorn: true }))?.content).toBe(`${whole}{"torn`);
  });

  it("dispose tells of events that could not be written, and can be tried again", async () => {
    const root = await rootWith();
    const faulty = new FaultyFs();
    const store = backend(root, { fs: faulty.fs, onBackgroundFailure: () => undefined });
    for (const one of turn(6, 2)) store.writer("s").enqueue(one);
    faulty.fault = (operation) => (operation === "write" ? systemError("ENOSPC") : undefined);
    await expect(store.dispose()).rejects.toThrow(/dispose failed/);
    faulty.fault = () => undefined;
    await store.dispose();
    expect(await referenceReads(root)).toBe(12);
  });

  it("every directory on the way to a new log is made durable before the log has its name", async () => {
    const root = join(freshRoot(), "a/b/c");
    const faulty = new FaultyFs();
    const store = backend(root, { fs: faulty.fs });
    await store.create(meta("s"));
    await store.append("s", turn(0, 1));
    const synced = faulty.calls.filter((call) => call.startsWith("syncDirectory ")).map((call) => call.slice(14));
    for (
      let made = dirname(logOf(root, "s"));
      made.length > dirname(dirname(dirname(root))).length;
      made = dirname(made)
    ) {
      expect(faulty.calls).toContain(`mkdir ${made}`);
      expect(synced).toContain(dirname(made));
    }
    const order = faulty.calls.map((call) => call.split(" ")[0]);
    expect(order.indexOf("sync")).toBeLessThan(order.indexOf("link"));
    expect(order.lastIndexOf("syncDirectory")).toBeGreaterThan(order.indexOf("link"));
  });
});
