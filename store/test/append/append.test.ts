import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { type EntryInput } from "../../src/format/schema";
import { LayeredLock, type SessionLock } from "../../src/lock/session-lock";
import { createSession } from "../../src/session/create";
import { openSession } from "../../src/session/session";
import { StoreError } from "../../src/errors";
import { FaultyFs } from "../support/faulty-fs";
import { idsIn, message, readLog, Sandbox } from "../support/sandbox";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.remove());

describe("creating a session", () => {
  test("publishes a folder 0700 with a log 0600 that holds the header and nothing else beside it", async () => {
    const session = await createSession(sandbox.root, sandbox.context, { id: "s1" });
    expect(session).toMatchObject({ id: "s1", verdict: "valid", entryCount: 0, leaf: null });
    expect(session.location).toBe(join(sandbox.root, "s1"));
    expect(fs.statSync(session.location).mode & 0o777).toBe(0o700);
    expect(fs.statSync(join(session.location, "session.jsonl")).mode & 0o777).toBe(0o600);
    expect(fs.readdirSync(session.location)).toEqual(["session.jsonl"]);
    await session.close();
  });

  test("never replaces what is there: a session, an empty folder, a dangling link", async () => {
    await (await createSession(sandbox.root, sandbox.context, { id: "s1" })).close();
    const before = readLog(join(sandbox.root, "s1"));
    fs.mkdirSync(join(sandbox.root, "empty"));
    fs.symlinkSync(join(sandbox.folder, "elsewhere"), join(sandbox.root, "link"));
    for (const id of ["s1", "empty", "link"]) {
      await expect(createSession(sandbox.root, sandbox.context, { id })).rejects.toMatchObject({
        code: "already-exists",
      });
    }
    expect(readLog(join(sandbox.root, "s1")).equals(before)).toBe(true);
    expect(fs.existsSync(join(sandbox.folder, "elsewhere"))).toBe(false);
    await expect(createSession(sandbox.root, sandbox.context, { id: "../x" })).rejects.toMatchObject({ code: "usage" });
  });
});

test("a record begins with its envelope, in the order that the format shows, however the caller has put it", async () => {
  const session = await createSession(sandbox.root, sandbox.context, { id: "s1" });
  const timestamp = "2026-01-05T00:00:00.000Z";
  const inputs: EntryInput[] = [
    { message: { content: [{ type: "text", text: "a" }], role: "user", timestamp: 1 }, type: "message", id: "m1" },
    { name: "A name", timestamp, type: "session_info", parentId: "m1", id: "i1" },
    { data: { type: "inner", id: "inner" }, customType: "c", parentId: null, type: "custom", id: "c1" },
  ];
  await session.append(inputs, { parentId: null });
  const lines = readLog(session.location).toString("utf8").split("\n").slice(1, -1);
  expect(lines.map((line) => Object.keys(JSON.parse(line) as object))).toEqual([
    ["type", "id", "parentId", "timestamp", "message"],
    ["type", "id", "parentId", "timestamp", "name"],
    ["type", "id", "parentId", "timestamp", "data", "customType"],
  ]);
  expect(lines.map((line) => (JSON.parse(line) as { parentId: unknown }).parentId)).toEqual([null, "m1", null]);
  await session.close();
});

test("a run of appends on a fast disk leaves timers their turn", async () => {
  const session = await createSession(sandbox.root, sandbox.context, { id: "s1" });
  // The disk has proved fast by then, if it is.
  for (let index = 0; index < 20; index += 1) await session.append([message(`m${index}`)], { parentId: session.leaf });
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  for (let index = 0; index < 600 && turns === 0; index += 1) {
    await session.append([message(`n${index}`)], { parentId: session.leaf });
  }
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
  await session.close();
});

test("a file system without hard links gets its session by a rename that replaces nothing", async () => {
  const faulty = new FaultyFs();
  const context = { ...sandbox.context, fs: faulty };
  faulty.inject({ operation: "link", at: 1, forever: true, code: "ENOTSUP" });
  const session = await createSession(sandbox.root, context, { id: "s1" });
  expect(fs.readdirSync(session.location)).toEqual(["session.jsonl"]);
  expect(faulty.log.filter((line) => /^(rename|syncDirectory)/.test(line)).map((line) => line.split(" ")[0])).toEqual([
    "rename",
    "syncDirectory",
    "syncDirectory",
  ]);
  await session.append([message("a", "a")], { parentId: null });
  fs.appendFileSync(join(session.location, "session.jsonl"), "{");
  const { kept } = await session.recover();
  fs.appendFileSync(join(session.location, "session.jsonl"), "{");
  expect((await session.recover()).kept).toBe(kept);
  await session.close();
});

describe("appending", () => {
  test("one LF-terminated record an entry, parents as given, durable ids, times and parents filled in", async () => {
    const session = await createSession(sandbox.root, sandbox.context);
    const first = await session.append([message("a", "m1"), message("b")], { parentId: null });
    expect(first.committed.map((entry) => entry.parentId)).toEqual([null, "m1"]);
    const second = await session.append([{ ...message("c", "m3"), parentId: "m1" }]);
    expect(second.leaf).toBe("m3");
    const log = readLog(session.location);
    expect(log.at(-1)).toBe(0x0a);
    const reopened = await openSession(session.location, sandbox.context);
    expect(reopened).toMatchObject({ verdict: "valid", entryCount: 3, leaf: "m3" });
    expect((await reopened.entries()).entries).toEqual([...first.committed, ...second.committed]);
    await reopened.close();
    await session.close();
  });

  test("a retry with the same id and content returns the committed entry and writes nothing", async () => {
    const session = await createSession(sandbox.root, sandbox.context);
    const inputs = [message("a", "m1"), { ...message("b", "m2"), timestamp: "2026-01-01T00:00:00.000Z" }];
    const first = await session.append(inputs, { parentId: null });
    const before = readLog(session.location);
    expect(await session.append(inputs, { parentId: null })).toEqual(first);
    // Keys in another order are the same content; a prefix that was committed is completed.
    const reordered: EntryInput = { message: message("a").message, id: "m1", type: "message" };
    expect((await session.append([reordered], { parentId: null })).committed).toEqual(first.committed.slice(0, 1));
    expect(readLog(session.location).equals(before)).toBe(true);
    await session.append([...inputs, message("c", "m3")], { parentId: null });
    expect(idsIn(readLog(session.location))).toEqual(["m1", "m2", "m3"]);
    await session.close();
  });

  test.each<[string, EntryInput[]]>([
    ["other text", [message("A", "m1")]],
    ["another parent", [{ ...message("a", "m1"), parentId: "m2" }]],
    ["another time", [{ ...message("a", "m1"), timestamp: "2020-01-01T00:00:00.000Z" }]],
    ["another type", [{ type: "custom", id: "m1", customType: "x", data: null }]],
    ["twice in one batch with other content", [message("x", "m9"), { ...message("y", "m9"), parentId: null }]],
  ])("the same id with %s is a conflict, and nothing of the batch is written", async (_what, inputs) => {
    const session = await createSession(sandbox.root, sandbox.context);
    await session.append([message("a", "m1"), message("b", "m2")], { parentId: null });
    const before = readLog(session.location);
    await expect(session.append([message("new", "n1"), ...inputs], { parentId: null })).rejects.toMatchObject({
      code: "conflict",
      place: { sessionId: session.id, location: session.location },
    });
    expect(readLog(session.location).equals(before)).toBe(true);
    expect(session.entryCount).toBe(2);
    await session.close();
  });

  test("a batch is bounded by 256 records and 4 MiB", async () => {
    const session = await createSession(sandbox.root, sandbox.context);
    const small = Array.from({ length: 257 }, (_, index) => message("x", `m${index}`));
    await expect(session.append(small, { parentId: null })).rejects.toMatchObject({ code: "batch-too-large" });
    const large = Array.from({ length: 5 }, (_, index) => message("x".repeat(900_000), `l${index}`));
    await expect(session.append(large, { parentId: null })).rejects.toMatchObject({ code: "batch-too-large" });
    await expect(session.append([message("x".repeat(1_100_000))], { parentId: null })).rejects.toMatchObject({
      code: "record-too-large",
    });
    expect(session.entryCount).toBe(0);
    await session.append(small.slice(0, 256), { parentId: null });
    await session.append(large.slice(0, 4), { parentId: session.leaf });
    expect(session.entryCount).toBe(260);
    await session.close();
  });

  const started: EntryInput = {
    type: "recording.started",
    recordingId: "r1",
    asset: { status: "available", path: "assets/r1.wav", mimeType: "audio/wav" },
  };
  const connection: EntryInput = {
    type: "api_connection",
    connectionId: "c1",
    provider: "p",
    endpoint: "wss://host/path?key=secret#f",
    requestedModel: "m",
    api: "a",
    originId: "o",
  };
  const event = (sequence: number): EntryInput => ({
    type: "realtime_event",
    connectionId: "c1",
    direction: "incoming",
    observation: "received",
    observedAt: "2026-01-01T00:00:00.000Z",
    sequence,
    payload: {},
  });
  const finished: EntryInput = { type: "recording.finished", recordingId: "r1", durationMs: 1, outcome: "complete" };

  test.each<[string, EntryInput[], string]>([
    ["a parent that is not there", [{ ...message("x"), parentId: "nobody" }], "parent-not-found"],
    [
      "a later member of the batch as parent",
      [{ ...message("x", "a"), parentId: "b" }, message("y", "b")],
      "parent-not-found",
    ],
    ["a label on nothing", [{ type: "label", targetId: "nobody", label: "x" }], "record-invalid"],
    ["the end of a recording that did not start", [finished], "record-invalid"],
    ["a second end", [started, finished, { ...finished }], "record-invalid"],
    ["a complete recording with gaps", [started, { ...finished, gaps: [{ reason: "x" }] }], "record-invalid"],
    ["a second start", [started, started], "record-invalid"],
    ["an event of an undeclared connection", [event(1)], "record-invalid"],
    ["a sequence that does not grow", [connection, event(2), event(2)], "record-invalid"],
    ["a connection declared twice", [connection, connection], "record-invalid"],
    ["an endpoint with user information", [{ ...connection, endpoint: "wss://me:pw@host" }], "record-invalid"],
    ["a removal of what is no message", [started, { type: "message.removed", targetId: "m1" }], "record-invalid"],
    ["a malformed record", [{ type: "custom", customType: "", data: 1 }], "record-invalid"],
  ])("%s is refused and the log is as it was", async (_what, inputs, code) => {
    const session = await createSession(sandbox.root, sandbox.context);
    const before = readLog(session.location);
    await expect(session.append(inputs, { parentId: null })).rejects.toMatchObject({ code });
    expect(readLog(session.location).equals(before)).toBe(true);
    await session.append([connection, event(2), event(4), started, finished], { parentId: null });
    expect(readLog(session.location).includes("secret")).toBe(false);
    await session.close();
  });

  test("a removal names an ancestor, once a branch; within one batch too", async () => {
    const session = await createSession(sandbox.root, sandbox.context);
    await session.append([message("a", "a"), message("b", "b")], { parentId: null });
    await session.append([message("c", "c")], { parentId: null });
    const removed = (targetId: string): EntryInput => ({ type: "message.removed", targetId });
    await expect(session.append([removed("a")], { parentId: "c" })).rejects.toMatchObject({ code: "record-invalid" });
    await expect(session.append([removed("a"), removed("a")], { parentId: "b" })).rejects.toMatchObject({
      code: "already-removed",
    });
    await session.removeMessage("a", "b");
    await expect(session.removeMessage("a", session.leaf)).rejects.toMatchObject({ code: "already-removed" });
    await session.append([message("d", "d"), removed("d")], { parentId: "c" });
    expect((await session.history()).map((entry) => entry.id)).toEqual(["c"]);
    await session.close();
  });

  test("metadata follows the default leaf as it is under the lock, not as a stale view has it", async () => {
    const session = await createSession(sandbox.root, sandbox.context);
    await session.append([message("a", "a")], { parentId: null });
    const other = await openSession(session.location, sandbox.context);
    await session.append([message("b", "b")], { parentId: "a" });
    const named = await other.rename(" two\r\nlines ");
    expect(named).toMatchObject({ parentId: "b", name: "two lines" });
    expect((await other.setLabel("a", "")).type).toBe("label");
    await session.refresh();
    expect(await session.info()).toMatchObject({ name: "two lines", label: "two lines" });
    expect((await session.history()).map((entry) => entry.id)).toEqual(["a", "b"]);
    await other.close();
    await session.close();
  });

  test("a continuation moves only by its own acknowledged appends, and what is appended is never rebased", async () => {
    const session = await createSession(sandbox.root, sandbox.context);
    await session.append([message("a", "a")], { parentId: null });
    const [one, two] = [session.continuation(), session.continuation()];
    await one.append([message("b", "b")]);
    await two.append([message("c", "c")]);
    expect((await session.entry("c")).parentId).toBe("a");
    await expect(one.append([message("x", "c")])).rejects.toMatchObject({ code: "conflict" });
    expect([one.leaf, two.leaf]).toEqual(["b", "c"]);
    await session.close();
  });

  test("two handles and many callers at once lose, double and tear nothing", async () => {
    const session = await createSession(sandbox.root, sandbox.context);
    const other = await openSession(session.location, sandbox.context);
    const ids = Array.from({ length: 120 }, (_, index) => `m${index}`);
    await Promise.all(
      ids.map((id, index) => (index % 2 ? other : session).append([message(id, id)], { parentId: null })),
    );
    await session.refresh();
    expect(session).toMatchObject({ verdict: "valid", entryCount: ids.length });
    expect(idsIn(readLog(session.location)).sort()).toEqual([...ids].sort());
    await other.close();
    await session.close();
  });

  test("an aborted append writes nothing and gives its reason back", async () => {
    const session = await createSession(sandbox.root, sandbox.context);
    const reason = new Error("not now");
    await expect(session.append([message("a")], { parentId: null, signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
    expect(session.entryCount).toBe(0);
    await session.close();
  });

  test("a lock that was taken over before the write is taken again", async () => {
    const session = await createSession(sandbox.root, sandbox.context);
    const location = session.location;
    await session.close();
    let losses = 2;
    const real = sandbox.context.lock;
    const flaky: SessionLock = {
      withLock: (target, options, body) =>
        real.withLock(target, options, (guard) =>
          body({
            assertHeld() {
              if (losses-- > 0) throw new StoreError("lock-lost");
              guard.assertHeld();
            },
          }),
        ),
    };
    const again = await openSession(location, { ...sandbox.context, lock: flaky });
    await again.append([message("a", "a")], { parentId: null });
    expect(idsIn(readLog(location))).toEqual(["a"]);
    losses = 99;
    await expect(again.append([message("b", "b")], { parentId: null })).rejects.toMatchObject({ code: "lock-lost" });
    losses = 0;
    await again.append([message("b", "b")], { parentId: null });
    expect(idsIn(readLog(location))).toEqual(["a", "b"]);
    await again.close();
  });
});

describe("what others do to the files under an open handle", () => {
  const opened = async (): Promise<{ session: Awaited<ReturnType<typeof openSession>>; path: string }> => {
    const session = await createSession(sandbox.root, sandbox.context);
    await session.append([message("a", "a"), message("b", "b")], { parentId: null });
    return { session, path: join(session.location, "session.jsonl") };
  };
  const refused = async (session: Awaited<ReturnType<typeof openSession>>, code: string): Promise<void> => {
    await expect(session.append([message("x", "x")], { parentId: null })).rejects.toMatchObject({ code });
  };

  test("deleted: the handle is revoked and no new file appears", async () => {
    const { session, path } = await opened();
    fs.unlinkSync(path);
    await refused(session, "handle-revoked");
    expect(fs.existsSync(path)).toBe(false);
    await session.close();
  });

  test("the whole folder deleted, renamed away, or swapped for a copy", async () => {
    for (const swap of [false, true]) {
      const { session } = await opened();
      fs.renameSync(session.location, `${session.location}-away`);
      if (swap) fs.cpSync(`${session.location}-away`, session.location, { recursive: true });
      const before = readLog(`${session.location}-away`);
      await refused(session, "handle-revoked");
      expect(readLog(`${session.location}-away`).equals(before)).toBe(true);
      if (swap) expect(readLog(session.location).equals(before)).toBe(true);
      await session.close();
    }
  });

  test("replaced by another file, a symbolic link, or a FIFO", async () => {
    const { session, path } = await opened();
    const bytes = fs.readFileSync(path);
    fs.writeFileSync(`${path}.copy`, bytes);
    fs.renameSync(`${path}.copy`, path);
    await refused(session, "log-replaced");
    await refused(session, "handle-revoked");
    expect(fs.readFileSync(path).equals(bytes)).toBe(true);
    await session.close();

    const linked = await opened();
    const outside = join(sandbox.folder, "outside.jsonl");
    fs.renameSync(linked.path, outside);
    fs.symlinkSync(outside, linked.path);
    const before = fs.readFileSync(outside);
    await refused(linked.session, "unsafe-path");
    expect(fs.readFileSync(outside).equals(before)).toBe(true);
    await linked.session.close();

    const piped = await opened();
    fs.unlinkSync(piped.path);
    execFileSync("mkfifo", [piped.path]);
    await refused(piped.session, "unsafe-path");
    expect(fs.lstatSync(piped.path).isFIFO()).toBe(true);
    await piped.session.close();
  });

  test("shrunk: refused, and the rest is left alone", async () => {
    const { session, path } = await opened();
    const first = fs.readFileSync(path).indexOf(0x0a) + 1;
    fs.truncateSync(path, first);
    await refused(session, "log-shrank");
    expect(fs.statSync(path).size).toBe(first);
    await session.close();
  });

  test("rewritten in place with the same size", async () => {
    const { session, path } = await opened();
    const bytes = fs.readFileSync(path, "latin1").replace('"text":"b"', '"text":"Z"');
    fs.writeFileSync(path, bytes, "latin1");
    fs.utimesSync(path, 1, 1);
    await refused(session, "log-replaced");
    expect(fs.readFileSync(path, "latin1")).toBe(bytes);
    await session.close();
  });

  test("grown by a foreign writer: taken up when it is sound, refused when it is torn", async () => {
    const { session, path } = await opened();
    const record = JSON.stringify({ ...message("f", "f"), parentId: "b", timestamp: "2026-01-01T00:00:00.000Z" });
    fs.appendFileSync(path, `${record}\n`);
    await session.append([message("x", "x")], { parentId: "f" });
    fs.appendFileSync(path, record.slice(0, 40));
    const before = fs.readFileSync(path);
    await refused(session, "session-not-authoritative");
    expect(fs.readFileSync(path).equals(before)).toBe(true);
    await session.close();
  });

  test("given a second name", async () => {
    const { session, path } = await opened();
    fs.linkSync(path, join(sandbox.folder, "second"));
    await refused(session, "unsafe-path");
    await session.close();
  });

  test("a temporary name that a dead creator left is removed, because it is our own", async () => {
    const { session, path } = await opened();
    fs.linkSync(path, join(session.location, ".new-leftover"));
    await session.append([message("x", "x")], { parentId: "b" });
    expect(fs.readdirSync(session.location)).toEqual(["session.jsonl"]);
    await session.close();
  });

  test("made read-only by its mode or its medium", async () => {
    const faulty = new FaultyFs();
    const session = await createSession(sandbox.root, { ...sandbox.context, fs: faulty });
    for (const [code, expected] of [
      ["EACCES", "access-denied"],
      ["EPERM", "access-denied"],
      ["EROFS", "read-only"],
    ] as const) {
      faulty.inject({ operation: "open", at: 1, code });
      await refused(session, expected);
    }
    faulty.inject(undefined);
    await session.append([message("x", "x")], { parentId: null });
    await session.close();
  });

  test("taken off this computer by a sync service: unavailable, never repaired", async () => {
    const faulty = new FaultyFs();
    const context = { ...sandbox.context, fs: faulty };
    const session = await createSession(sandbox.root, context);
    await session.append([message("m".repeat(5_000), "m")], { parentId: null });
    faulty.statOf = (stat) => Object.assign(Object.create(Object.getPrototypeOf(stat)), stat, { blocks: 0n });
    await refused(session, "unavailable");
    faulty.statOf = (stat) => stat;
    await session.append([message("x", "x")], { parentId: null });
    await session.close();
  });
});

test("without a kernel lock the weaker mode still appends", async () => {
  const lock = new LayeredLock({ directory: sandbox.locks, kernelLock: undefined });
  const session = await createSession(sandbox.root, { ...sandbox.context, lock });
  await session.append([message("a", "a")], { parentId: null });
  expect(idsIn(readLog(session.location))).toEqual(["a"]);
  await session.close();
});
