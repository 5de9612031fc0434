/** The live path: the batching window, following, iterating, exporting, deleting, and the look of other programs. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { isStoreError } from "../../src/errors";
import { listAgentSessions, readAgentSession, searchAgentSessions } from "../../src/event-log/agent-sessions";
import { WindowsPublication } from "../../src/event-log/publication";
import { type LogEvent } from "../../src/event-log/types";
import { WriteWindow, type WindowTimers } from "../../src/event-log/write-window";
import { FaultyFs, systemError } from "./faulty-fs";
import {
  assistantMessage,
  backend,
  event,
  freshRoot,
  meta,
  onlyLog,
  openTurn,
  treeOf,
  turn,
  userMessage,
} from "./support";

class VirtualTimers implements WindowTimers {
  nowMs = 0;
  #timers: { at: number; run: () => void }[] = [];

  setTimer(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.nowMs + delayMs, run: callback };
    this.#timers.push(timer);
    return () => (this.#timers = this.#timers.filter((other) => other !== timer));
  }

  async advance(ms: number): Promise<void> {
    const end = this.nowMs + ms;
    for (;;) {
      const due = this.#timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      this.nowMs = due.at;
      due.run();
      await settle();
    }
    this.nowMs = end;
    await settle();
  }
}

async function settle(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
}

function windowOf(options: { write?: (batch: readonly LogEvent[]) => Promise<void>; maxPendingEvents?: number } = {}) {
  const timers = new VirtualTimers();
  const written: { atMs: number; seqs: number[] }[] = [];
  const failures: unknown[] = [];
  const made = new WriteWindow({
    maxDelayMs: 200,
    maxPendingEvents: options.maxPendingEvents ?? 1000,
    timers,
    write: async (batch) => {
      await options.write?.(batch);
      written.push({ atMs: timers.nowMs, seqs: batch.map((one) => one.seq) });
    },
    onFailure: (error) => failures.push(error),
  });
  return { made, timers, written, failures };
}

const todo = (seq: number): LogEvent => event(seq, "todo/write", {});

describe("the batching window", () => {
  it("starts with the first event, is not extended by later ones, and gives one batch", async () => {
    const { made, timers, written } = windowOf();
    for (let seq = 0; seq < 25; seq += 1) {
      made.enqueue(todo(seq));
      await timers.advance(10);
    }
    await timers.advance(200);
    expect(written.map((batch) => batch.atMs)).toEqual([200, 400]);
    expect(written.flatMap((batch) => batch.seqs)).toEqual(Array.from({ length: 25 }, (_, seq) => seq));
  });

  it("writes at once after an active write that outlasted the next window", async () => {
    let finish = (): void => undefined;
    const { made, timers, written } = windowOf({ write: () => new Promise<void>((resolve) => (finish = resolve)) });
    made.enqueue(todo(0));
    await timers.advance(200);
    made.enqueue(todo(1));
    await timers.advance(500);
    expect(written).toEqual([]);
    finish();
    await settle();
    finish();
    await settle();
    expect(written.map((batch) => batch.seqs)).toEqual([[0], [1]]);
  });

  it("flushes without waiting, once for everybody who asks", async () => {
    const { made, timers, written } = windowOf();
    made.enqueue(todo(0));
    const first = made.flush();
    expect(made.flush()).toBe(first);
    await first;
    expect(written).toEqual([{ atMs: 0, seqs: [0] }]);
    await timers.advance(1000);
    expect(written.length).toBe(1);
  });

  it("keeps a failed batch in front, waits for a new event or a flush, and tells of it", async () => {
    let broken = true;
    const { made, timers, written, failures } = windowOf({
      write: async () => {
        if (broken) throw new Error("no disk");
      },
    });
    made.enqueue(todo(0));
    await timers.advance(200);
    expect(failures.length).toBe(1);
    await timers.advance(5000);
    expect(failures.length).toBe(1);
    await expect(made.flush()).rejects.toThrow("no disk");
    broken = false;
    made.enqueue(todo(1));
    await timers.advance(200);
    expect(written.map((batch) => batch.seqs)).toEqual([[0, 1]]);
    expect(made.pendingEvents).toBe(0);
  });

  it("takes no more than it may", () => {
    const { made } = windowOf({ maxPendingEvents: 2 });
    made.enqueue(todo(0));
    made.enqueue(todo(1));
    expect(() => made.enqueue(todo(2))).toThrow(expect.objectContaining({ code: "event-log-backlog-full" }));
    made.cancel();
  });
});

it("a live writer leaves out what is stored and makes the rest durable", async () => {
  const root = freshRoot();
  const first = backend(root);
  await first.create(meta("s"));
  await first.append("s", turn(0, 1));
  await first.dispose();
  const store = backend(root);
  const writer = store.writer("s");
  const history = (await store.inspect("s")).events;
  for (const one of [...history, ...openTurn(6, 2)]) writer.enqueue(one);
  await writer.flush();
  expect((await store.readFrom("s", 0)).events.length).toBe(9);
  await expect(store.load("s")).rejects.toMatchObject({ code: "event-log-live" });
  await store.release("s");
  expect((await store.load("s")).events.length).toBe(11);
});

it("a created session that was never appended to leaves nothing on disk", async () => {
  const root = freshRoot();
  const store = backend(root);
  await store.create(meta("s"));
  await store.append("s", []);
  await store.append("unknown", []);
  expect(existsSync(root)).toBe(false);
  expect(await store.list()).toEqual({ sessions: [], problems: [] });
  await expect(store.create(meta("s"))).rejects.toMatchObject({ code: "already-exists" });
  await expect(store.append("unknown", turn(0, 1))).rejects.toMatchObject({ code: "not-found" });
});

it("views are immutable, and inspecting twice gives the same one", async () => {
  const store = backend(freshRoot());
  await store.create(meta("s"));
  await store.append("s", turn(0, 1, 5));
  const view = await store.inspect("s");
  expect(await store.inspect("s")).toBe(view);
  const everything = (value: unknown): boolean =>
    typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(everything));
  expect(everything(view.events)).toBe(true);
  await store.append("s", turn(11, 2));
  expect((await store.inspect("s")).events.length).toBe(17);
});

it("a given project directory leads straight to the log", async () => {
  const root = freshRoot();
  const store = backend(root);
  await store.create(meta("s"));
  await store.append("s", turn(0, 1));
  expect((await store.inspect("s", { cwd: "/srv/alpha" })).events.length).toBe(6);
  expect((await store.inspect("s", { cwd: "/srv/elsewhere" })).events.length).toBe(6);
});

it("a log that grows is followed event by event, through a repair as well", async () => {
  const root = freshRoot();
  const store = backend(root);
  await store.create(meta("s"));
  await store.append("s", turn(0, 1));
  const reason = new Error("enough");
  const stop = new AbortController();
  const seen: number[] = [];
  const following = (async () => {
    for await (const one of backend(root).follow("s", { fromSeq: 3, pollMs: 5, signal: stop.signal })) {
      seen.push(one.seq);
      if (one.seq === 10) stop.abort(reason);
    }
    return "ended";
  })().catch((error: unknown) => error);
  await store.append("s", openTurn(6, 2));
  await store.load("s");
  expect(await following).toBe(reason);
  expect(seen).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
});

it("a long log is iterated without being held", async () => {
  const store = backend(freshRoot());
  await store.create(meta("s"));
  for (let k = 0; k < 30; k += 1) await store.append("s", turn(k * 506, k + 1, 500));
  let next = 100;
  for await (const one of store.iterate("s", { fromSeq: 100 })) {
    expect(one.seq).toBe(next);
    next += 1;
  }
  expect(next).toBe(30 * 506);
});

it.each(["zstd", "none"] as const)("a suffix is what the whole log says, wherever %s ends", async (compression) => {
  const root = freshRoot();
  const store = backend(root, { compression });
  await store.create(meta("s"));
  for (let k = 0, seq = 0; k < 12; k += 1) {
    const batch = turn(seq, k + 1, (k * 7) % 30);
    const half = Math.floor(batch.length / 2);
    await store.append("s", batch.slice(0, half));
    await store.append("s", batch.slice(half));
    seq += batch.length;
  }
  await store.dispose();
  const path = onlyLog(root);
  const bytes = readFileSync(path);
  const firstEnd = Math.ceil(bytes.length / 8);
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: firstEnd, max: bytes.length }),
      fc.integer({ min: 1, max: 400 }),
      async (size, from) => {
        writeFileSync(path, bytes.subarray(0, size));
        const reader = backend(root, { compression });
        const { events } = await reader.readFrom("s", 0);
        expect((await reader.readFrom("s", from)).events).toEqual(events.slice(from));
        const iterated: number[] = [];
        for await (const one of reader.iterate("s", { fromSeq: from })) iterated.push(one.seq);
        expect(iterated).toEqual(events.slice(from).map((one) => one.seq));
      },
    ),
    { numRuns: 60 },
  );
});

it("exports hold everything that is stored", async () => {
  const store = backend(freshRoot());
  await store.create(meta("s"));
  await store.append("s", [...turn(0, 1, 4), event(10, "session/title", { title: "A talk" })]);
  const exported = async (format: "jsonl" | "json" | "md"): Promise<string> => {
    let text = "";
    for await (const piece of store.export("s", format)) text += piece;
    return text;
  };
  const { events } = await store.readFrom("s", 0);
  expect(JSON.parse(await exported("json"))).toEqual({ meta: (await store.inspect("s")).meta, events });
  const lines = (await exported("jsonl"))
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
  expect(lines.slice(1)).toEqual(events);
  expect(await exported("md")).toMatch(/question 1[\s\S]*answer 1[\s\S]*## A talk/);
});

describe("deleting", () => {
  it("needs a confirmation, removes the folder and nothing beyond it", async () => {
    const root = freshRoot();
    const store = backend(root);
    for (const id of ["s", "other"]) {
      await store.create(meta(id));
      await store.append(id, turn(0, 1));
    }
    const outside = freshRoot();
    mkdirSync(outside);
    writeFileSync(join(outside, "precious"), "");
    symlinkSync(outside, join(root, "--srv-alpha--/s/link"));
    await expect(store.delete("s", { confirmed: false })).rejects.toMatchObject({ code: "not-confirmed" });
    await store.delete("s", { confirmed: true });
    expect(readdirSync(join(root, "--srv-alpha--"))).toEqual(["other"]);
    expect(readdirSync(outside)).toEqual(["precious"]);
    await store.delete("other", { confirmed: true });
    expect(readdirSync(root)).toEqual([]);
    await store.create(meta("s"));
    await store.append("s", turn(0, 1));
  });

  it("is refused while somebody writes", async () => {
    const root = freshRoot();
    const owner = backend(root);
    await owner.create(meta("s"));
    await owner.append("s", turn(0, 1));
    await expect(backend(root).delete("s", { confirmed: true })).rejects.toMatchObject({ code: "lock-busy" });
  });
});

describe("publication on Windows", () => {
  it("never overwrites, flushes the new name, and syncs no directory", async () => {
    const root = freshRoot();
    const faulty = new FaultyFs();
    const options = { fs: faulty.fs, publication: new WindowsPublication(faulty.fs) };
    const store = backend(root, options);
    await store.create(meta("s"));
    await store.append("s", turn(0, 1));
    const target = onlyLog(root);
    const calls = faulty.calls.filter((call) => call.endsWith(target));
    expect(calls.slice(0, 3)).toEqual([`link ${target}`, `open ${target}`, `sync ${target}`]);
    expect(faulty.calls.some((call) => call.startsWith("syncDirectory"))).toBe(false);
    expect(readdirSync(dirname(target))).toEqual(["session.jsonl.zstd"]);
  });

  it("leaves a log alone that appeared meanwhile", async () => {
    const root = freshRoot();
    const faulty = new FaultyFs();
    const store = backend(root, { fs: faulty.fs, publication: new WindowsPublication(faulty.fs) });
    await store.create(meta("s"));
    const path = store.locate(meta("s")).path;
    faulty.fault = (operation) => {
      if (operation === "link" && !existsSync(path)) writeFileSync(path, "theirs");
      return undefined;
    };
    await expect(store.append("s", turn(0, 1))).rejects.toMatchObject({ code: "already-exists" });
    expect(Object.keys(treeOf(root))).toEqual(["--srv-alpha--/s/session.jsonl.zstd"]);
  });

  it("refuses a volume without hard links by a typed error", async () => {
    const root = freshRoot();
    const faulty = new FaultyFs();
    const store = backend(root, { fs: faulty.fs, publication: new WindowsPublication(faulty.fs) });
    await store.create(meta("s"));
    faulty.fault = (operation) => (operation === "link" ? systemError("EPERM") : undefined);
    const error = await store.append("s", turn(0, 1)).catch((reason: unknown) => reason);
    expect(isStoreError(error, "access-denied")).toBe(true);
    expect(treeOf(root)).toEqual({});
  });
});

describe("agent sessions for search", () => {
  it("lists sessions of any encoding, the last active first, and tells of the rest", async () => {
    const framed = freshRoot();
    const plain = freshRoot();
    const first = backend(framed);
    await first.create(meta("old"));
    await first.append("old", [
      ...turn(0, 1),
      { ...event(6, "session/title", { title: "Named talk" }), time: 2_000_000_000_000 },
    ]);
    const second = backend(plain, { compression: "none" });
    await second.create(meta("new"));
    await second.append("new", [{ ...userMessage(0, "Grüße an den Walfisch"), time: 2_000_000_000_001 }]);
    const bad = join(framed, "--srv-alpha--/bad/session.jsonl.zstd");
    mkdirSync(dirname(bad));
    writeFileSync(bad, "junk");
    const before = treeOf(framed);
    const { sessions, problems } = await listAgentSessions([framed, plain, framed, join(framed, "absent")]);
    expect(sessions).toMatchObject([
      {
        id: "new",
        title: "Grüße an den Walfisch",
        messages: 1,
        cwd: "/srv/alpha",
        lastActivityAt: "2033-05-18T03:33:20.001Z",
      },
      { id: "old", title: "Named talk", messages: 2, location: join(framed, "--srv-alpha--/old") },
    ]);
    expect(problems).toMatchObject([{ path: bad, code: "event-log-corrupt" }]);
    expect(treeOf(framed)).toEqual(before);
    rmSync(bad);
    expect((await listAgentSessions([framed, plain])).problems).toEqual([]);
  });

  it("finds text literally, whatever the case, and shows where", async () => {
    const root = freshRoot();
    const store = backend(root);
    await store.create(meta("s"));
    const long = `${"before ".repeat(40)}the NEEDLE (a+b) ${"after ".repeat(60)}`;
    await store.append("s", [userMessage(0, "hello"), assistantMessage(1, 1, [{ type: "text", text: long }])]);
    const { hits } = await searchAgentSessions([root], "needle (A+b)");
    expect(hits).toMatchObject([{ session: { id: "s" }, seq: 1, role: "assistant" }]);
    const [hit] = hits;
    const [match] = hit?.matches ?? [];
    expect(hit?.excerpt.slice(match?.start, match?.end)).toBe("NEEDLE (a+b)");
    expect(hit?.excerpt.length).toBeLessThan(300);
    expect((await searchAgentSessions([root], "nothing of the kind")).hits).toEqual([]);
    expect((await searchAgentSessions([root], "")).hits).toEqual([]);
    const reason = new Error("stop");
    await expect(searchAgentSessions([root], "x", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it("reads a transcript, and keeps to its limit", async () => {
    const root = freshRoot();
    const store = backend(root);
    await store.create(meta("s"));
    await store.append("s", [...turn(0, 1), ...turn(6, 2)]);
    const [session] = (await listAgentSessions([root])).sessions;
    if (session === undefined) throw new Error("no session");
    const { messages, omitted } = await readAgentSession(session, { limit: 3 });
    expect(messages.map((message) => message.text)).toEqual(["answer 1", "question 2", "answer 2"]);
    expect(omitted).toBe(1);
  });
});
