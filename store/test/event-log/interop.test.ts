/** One root, two implementations: each writes what the other reads, continues, repairs and races for. */
import { readdirSync, readFileSync, statSync, truncateSync } from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { isStoreError } from "../../src/errors";
import { type Compression, type LogEvent } from "../../src/event-log/types";
import { viewSchema, Reference, referenceOutcome, type ReferenceBackend } from "./reference";
import { backend, freshRoot, meta, onlyLog, openTurn, sha256, turn, assistantMessage, delta, event } from "./support";

const reference = new Reference();
afterAll(() => reference.close());

/** Our metadata with the fields that the reference wants spelled out. */
const theirMeta = (id: string): unknown => ({ version: 0, delegationDepth: 0, ...meta(id) });

const forms: [string, Compression, boolean][] = [
  ["framed and packed", "zstd", true],
  ["framed, not packed", "zstd", false],
  ["plain and packed", "none", true],
  ["plain, not packed", "none", false],
];

function batches(): LogEvent[][] {
  const first = turn(0, 1, 12);
  const call = { type: "tool-call", id: "c1", name: "read", arguments: "{}" };
  const second = [
    event(first.length, "turn/start", { turn: 2 }),
    event(first.length + 1, "step/start", { turn: 2, step: 1 }),
    delta(first.length + 2, 2, "lone \ud800 surrogate"),
    delta(first.length + 3, 2, "\u2028 and 你好 🐋"),
    delta(first.length + 4, 2, ""),
    assistantMessage(first.length + 5, 2, [call]),
  ];
  return [first.slice(0, 5), first.slice(5), second];
}

describe.each(forms)("%s", (_name, compression, packChunks) => {
  const config = { compression, packChunks };

  it("ours writes, theirs reads, and the other way round, with the same text", async () => {
    const [ourRoot, theirRoot] = [freshRoot(), freshRoot()];
    const ours = backend(ourRoot, config);
    const theirs = await reference.mount(theirRoot, config);
    await ours.create(meta("s/1"));
    await theirs.call("create", theirMeta("s/1"));
    for (const batch of batches()) {
      await ours.append("s/1", batch);
      await theirs.call("append", "s/1", batch);
    }
    expect(onlyLog(ourRoot).slice(ourRoot.length)).toBe(onlyLog(theirRoot).slice(theirRoot.length));
    const raw = await ours.readRaw("s/1");
    expect(await theirs.call("readRaw", "s/1")).toEqual(raw);
    const theirsOnOurs = await reference.mount(ourRoot, config);
    const oursOnTheirs = backend(theirRoot, config);
    expect(await theirsOnOurs.call("readRaw", "s/1")).toEqual(raw);
    expect(await oursOnTheirs.readRaw("s/1")).toEqual(raw);
    expect(await theirsOnOurs.call("list")).toEqual((await ours.list()).sessions.map((entry) => entry.header));
    expect((await theirsOnOurs.digest("inspect", "s/1")).sha256).toBe(
      sha256(JSON.stringify((await oursOnTheirs.inspect("s/1")).events)),
    );
    expect(await theirsOnOurs.call("readStoredRevision", "s/1")).toBe(await ours.readStoredRevision("s/1"));
    if (compression === "none") expect(readFileSync(onlyLog(ourRoot))).toEqual(readFileSync(onlyLog(theirRoot)));
  });

  it("each continues and repairs what the other left", async () => {
    const root = freshRoot();
    const mine = async (work: (store: ReturnType<typeof backend>) => Promise<void>): Promise<void> => {
      const store = backend(root, config);
      await work(store);
      await store.dispose();
    };
    const other = async (work: (store: ReferenceBackend) => Promise<void>): Promise<void> => {
      const store = await reference.mount(root, config);
      await work(store);
      await store.unmount();
    };
    await mine(async (store) => {
      await store.create(meta("s"));
      await store.append("s", [...turn(0, 1), ...openTurn(6, 2)]);
    });
    // The open turn is closed by whoever loads next, and the log goes on from there.
    await other(async (store) => {
      const { events } = viewSchema.parse(await store.call("load", "s"));
      expect(events.length).toBe(11);
      await store.call("append", "s", [...turn(11, 3, 4), ...openTurn(21, 4)]);
    });
    cutTail(onlyLog(root), 7);
    await mine(async (store) => {
      const expected = await store.inspect("s");
      const loaded = await store.load("s");
      expect(loaded.events).toEqual(expected.events);
      await store.append("s", [...turn(loaded.events.length, 5), ...openTurn(loaded.events.length + 6, 6)]);
    });
    cutTail(onlyLog(root), 7);
    await other(async (store) => {
      const { events } = viewSchema.parse(await store.call("load", "s"));
      await store.call("append", "s", turn(events.length, 7));
    });
    await mine(async (store) => {
      const { events } = await store.load("s");
      expect(events.map((one) => one.seq)).toEqual(events.map((_one, index) => index));
      await store.append("s", turn(events.length, 8));
    });
    await other(async (store) => {
      const { events } = viewSchema.parse(await store.call("load", "s"));
      expect(events.at(-1)).toMatchObject({ type: "turn/end", data: { turn: 8 } });
    });
  });
});

function cutTail(path: string, bytes: number): void {
  truncateSync(path, statSync(path).size - bytes);
}

it("a race to create has one winner, and leaves nothing behind", async () => {
  const root = freshRoot();
  const rounds = Number(process.env["PERSYK_ROUNDS"] ?? 25);
  const winners = { ours: 0, theirs: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const id = `race-${round}`;
    const ours = backend(root);
    const theirs = await reference.mount(root);
    await Promise.all([ours.create(meta(id)), theirs.call("create", theirMeta(id))]);
    const batch = turn(0, 1);
    const results = await Promise.allSettled([ours.append(id, batch), theirs.call("append", id, batch)]);
    expect(results.map((result) => result.status).sort()).toEqual(["fulfilled", "rejected"]);
    winners[results[0].status === "fulfilled" ? "ours" : "theirs"] += 1;
    if (results[0].status === "rejected") expect(isStoreError(results[0].reason, "already-exists")).toBe(true);
    expect(readdirSync(dirname(ours.locate(meta(id)).path))).toEqual(["session.jsonl.zstd"]);
    expect((await ours.inspect(id)).events).toEqual(batch);
    await theirs.unmount();
    await ours.dispose();
  }
  expect(winners.ours + winners.theirs).toBe(rounds);
});

it("a race to repair the same leftovers leaves a log that both read alike", async () => {
  for (let round = 0; round < 15; round += 1) {
    const root = freshRoot();
    const store = backend(root);
    await store.create(meta("s"));
    await store.append("s", [...turn(0, 1), ...openTurn(6, 2)]);
    await store.dispose();
    cutTail(onlyLog(root), 3);
    const ours = backend(root);
    const theirs = await reference.mount(root);
    // The reference takes no lease and may write closers a second time, which no later check can undo; a sound log or
    // a loud refusal are the two honest ends, and the original bytes are still there either way.
    const [mine, other] = await Promise.allSettled([ours.load("s"), theirs.digest("load", "s")]);
    const read = await ours.inspect("s").then(
      ({ events }) => ({ count: events.length }),
      (error: unknown) => ({ code: isStoreError(error) ? error.code : String(error) }),
    );
    const again = await referenceOutcome(theirs.digest("inspect", "s"));
    if ("count" in read) expect(again).toMatchObject({ ok: { count: read.count } });
    else expect(again).toHaveProperty("error");
    expect([mine.status, other.status]).toContain("fulfilled");
    await theirs.unmount();
  }
});

it("paths are the same for any id and project directory", async () => {
  const theirs = await reference.mount(freshRoot());
  const root = freshRoot();
  const ours = backend(root);
  const there = await reference.mount(root);
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "binary", minLength: 1, maxLength: 30 }),
      fc.oneof(fc.constant(undefined), fc.string({ unit: "binary", minLength: 1, maxLength: 300 })),
      async (id, cwd) => {
        const where = { id, ...(cwd === undefined ? {} : { cwd }) };
        expect(await there.call("locate", where)).toEqual(ours.locate(where));
      },
    ),
    { numRuns: 200 },
  );
  await theirs.unmount();
});

it("packing gives the text of the reference for any run of deltas, and reading gives the events back", async () => {
  const chunk = fc.oneof(
    fc.record({
      type: fc.constantFrom("text-delta", "reasoning-delta"),
      index: fc.integer({ min: 0, max: 1 }),
      text: fc.string(),
    }),
    fc.record(
      {
        type: fc.constant("tool-call-delta"),
        index: fc.constant(0),
        id: fc.constantFrom("a", "b"),
        name: fc.constant("n"),
        argumentsDelta: fc.string(),
      },
      { requiredKeys: ["type", "index", "id", "argumentsDelta"] },
    ),
    fc.record({ type: fc.constant("block-end"), index: fc.constant(0) }),
  );
  const step = fc.record({ chunk, gap: fc.integer({ min: -5, max: 5 }), repeat: fc.integer({ min: 1, max: 5 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const events: LogEvent[] = [];
      let time = 1000;
      for (const { chunk: data, gap, repeat } of steps) {
        for (let index = 0; index < repeat; index += 1) {
          time += gap;
          events.push({
            type: "assistant/chunk",
            seq: events.length,
            time,
            data: { turn: 1, step: 1, chunk: { ...data } },
          });
        }
      }
      const root = freshRoot();
      const theirs = await reference.mount(root, { compression: "none" });
      await theirs.call("create", theirMeta("s"));
      await theirs.call("append", "s", events);
      const other = freshRoot();
      const ours = backend(other, { compression: "none" });
      await ours.create(meta("s"));
      await ours.append("s", events);
      expect(readFileSync(onlyLog(other), "utf8")).toBe(readFileSync(onlyLog(root), "utf8"));
      expect((await ours.readFrom("s", 0)).events).toEqual(events);
      await theirs.unmount();
      await ours.dispose();
    }),
    { numRuns: 40 },
  );
});
