import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { wavHeader } from "../../src/assets/wav-format";
import { type CaptureLock } from "../../src/lock/capture-lock";
import { createSession } from "../../src/session/create";
import { openSession, type Session } from "../../src/session/session";
import { FaultyFs } from "../support/faulty-fs";
import { idsIn, message, readLog, Sandbox } from "../support/sandbox";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.remove());

async function sessionWith(tail: string | Buffer): Promise<Session> {
  const session = await createSession(sandbox.root, sandbox.context);
  await session.append([message("a", "a"), message("b", "b")], { parentId: null });
  await session.close();
  fs.appendFileSync(join(session.location, "session.jsonl"), tail);
  return openSession(session.location, sandbox.context);
}

const record = (id: string, parentId = "b"): string =>
  JSON.stringify({ ...message("tail", id), parentId, timestamp: "2026-01-01T00:00:00.000Z" });
const sizeOf = (session: Session): number => readLog(session.location).length;

describe("the tail", () => {
  test("of a sound log needs nothing", async () => {
    const session = await sessionWith("");
    const size = sizeOf(session);
    const report = { action: "none", kept: null, bytesBefore: size, bytesAfter: size, recordings: [] };
    expect(await session.recover({ dryRun: true })).toEqual(report);
    expect(await session.recover()).toEqual(report);
    expect(fs.readdirSync(session.location)).toEqual(["session.jsonl"]);
    await session.close();
  });

  test("that lacks only its line feed gets it; the dry run says so and writes nothing", async () => {
    const session = await sessionWith(record("c"));
    const before = readLog(session.location);
    const expected = { action: "add-newline", kept: null, bytesBefore: before.length, bytesAfter: before.length + 1 };
    expect(await session.recover({ dryRun: true })).toMatchObject(expected);
    expect(readLog(session.location).equals(before)).toBe(true);
    expect(await session.recover()).toMatchObject(expected);
    expect(readLog(session.location).equals(Buffer.concat([before, Buffer.from("\n")]))).toBe(true);
    expect(session).toMatchObject({ verdict: "valid", entryCount: 3, leaf: "c" });
    await session.append([message("d", "d")], { parentId: "c" });
    await session.close();
  });

  test("cut at every byte of a record: the fragment is kept under its offset and digest, and the rest is valid", async () => {
    const whole = record("c").replace("tail", "tail é 😀");
    const bytes = Buffer.from(whole);
    for (let length = 1; length < bytes.length; length += 7) {
      const fragment = bytes.subarray(0, length);
      const session = await sessionWith(fragment);
      const committed = sizeOf(session) - length;
      const report = await session.recover();
      const digest = createHash("sha256").update(fragment).digest("hex");
      expect(report).toEqual({
        action: "truncate-fragment",
        kept: join(session.location, `session.jsonl.fragment-${committed}-${digest}`),
        bytesBefore: committed + length,
        bytesAfter: committed,
        recordings: [],
      });
      expect(fs.readFileSync(report.kept ?? "").equals(fragment)).toBe(true);
      expect(fs.statSync(report.kept ?? "").mode & 0o777).toBe(0o600);
      expect(session).toMatchObject({ verdict: "valid", entryCount: 2, leaf: "b" });
      await session.close();
    }
  });

  test("of a file whose content a sync service took away is unavailable: not judged, not repaired, dry or not", async () => {
    for (const tail of ["", '{"type":"mess', record("c"), "x".repeat(5_000)]) {
      const opened = await sessionWith(tail);
      await opened.close();
      const { location } = opened;
      // Past the size that some file systems keep without blocks.
      const log = join(location, "session.jsonl");
      const [header = "", ...rest] = fs.readFileSync(log, "utf8").split("\n");
      const pad = JSON.stringify({
        ...message("p".repeat(5_000), "p"),
        parentId: null,
        timestamp: "2026-01-01T00:00:00Z",
      });
      fs.writeFileSync(log, [header, pad, ...rest].join("\n"));
      const faulty = new FaultyFs();
      const session = await openSession(location, { ...sandbox.context, fs: faulty });
      const before = readLog(location);
      faulty.statOf = (stat) => Object.assign(Object.create(Object.getPrototypeOf(stat)), stat, { blocks: 0n });
      faulty.inject(undefined);
      for (const dryRun of [true, false]) {
        await expect(session.recover({ dryRun })).rejects.toMatchObject({ code: "unavailable" });
      }
      await expect(openSession(location, { ...sandbox.context, fs: faulty })).rejects.toMatchObject({
        code: "unavailable",
      });
      for (const operation of ["write", "truncate", "link", "rename", "unlink"] as const) {
        expect(faulty.count(operation)).toBe(0);
      }
      expect(readLog(location).equals(before)).toBe(true);
      expect(fs.readdirSync(location)).toEqual(["session.jsonl"]);
      await session.close();
    }
  });

  test.each<[string, string | Buffer]>([
    ["zeros, as a power loss leaves them", Buffer.alloc(300)],
    ["a syntax error that nothing can continue", '{"type":"message",,'],
    ["a complete record that breaks the format", `${JSON.stringify({ type: "custom", id: "x" })}\n`],
    ["bad UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xff])],
    [
      "a record of an unknown type",
      `${JSON.stringify({ type: "new", id: "x", parentId: null, timestamp: "2026-01-01T00:00:00Z" })}\n`,
    ],
    ["a record without its parent", `${record("c", "nobody")}\n`],
    ["an unterminated record without its parent", record("c", "nobody")],
    ["a blank line", "\n"],
  ])("%s is no torn tail: refused, and no byte changes", async (_what, tail) => {
    const session = await sessionWith(tail);
    const before = readLog(session.location);
    for (const dryRun of [true, false]) {
      await expect(session.recover({ dryRun })).rejects.toMatchObject({ code: "recovery-refused" });
    }
    expect(readLog(session.location).equals(before)).toBe(true);
    expect(fs.readdirSync(session.location)).toEqual(["session.jsonl"]);
    await session.close();
  });

  test("the same fragment twice is kept once; another file under its name is never replaced", async () => {
    const session = await sessionWith("{");
    const { kept } = await session.recover();
    fs.appendFileSync(join(session.location, "session.jsonl"), "{");
    expect((await session.recover()).kept).toBe(kept);
    fs.appendFileSync(join(session.location, "session.jsonl"), "{");
    fs.writeFileSync(kept ?? "", "something else");
    await expect(session.recover()).rejects.toMatchObject({ code: "already-exists" });
    expect(fs.readFileSync(kept ?? "", "utf8")).toBe("something else");
    expect(readLog(session.location).at(-1)).toBe(0x7b);
    await session.close();
  });

  test("grown by a foreign writer between the look and the cut is not cut", async () => {
    const faulty = new FaultyFs();
    const session = await createSession(sandbox.root, sandbox.context);
    await session.append([message("a", "a"), message("b", "b")], { parentId: null });
    await session.close();
    const path = join(session.location, "session.jsonl");
    const whole = record("c");
    fs.appendFileSync(path, whole.slice(0, 30));
    const again = await openSession(session.location, { ...sandbox.context, fs: faulty });
    const link = faulty.link;
    faulty.link = async (from, to) => {
      // A program that ignores locks completes its record at the worst moment.
      fs.appendFileSync(path, `${whole.slice(30)}\n`);
      await link(from, to);
    };
    await expect(again.recover()).rejects.toMatchObject({ code: "log-replaced" });
    expect(idsIn(readLog(session.location))).toEqual(["a", "b", "c"]);
    await again.close();
  });
});

describe("interrupted recordings", () => {
  const started = (
    recordingId: string,
    path = `assets/${recordingId}.wav`,
  ): Parameters<Session["append"]>[0][number] => ({
    type: "recording.started",
    recordingId,
    asset: { status: "available", path, mimeType: "audio/wav" },
  });

  async function interrupted(bytes: Buffer | undefined, path?: string): Promise<Session> {
    const session = await createSession(sandbox.root, sandbox.context);
    const name = path?.split("/")[1] ?? "r1.wav";
    if (bytes !== undefined) {
      const { handle } = await session.createAsset(name, "audio/wav");
      fs.writeSync(handle.fd, bytes);
      await handle.close();
    }
    await session.append([started("r1", path), message("said", "m")], { parentId: null });
    return session;
  }

  const samples = Buffer.alloc(24_000, 3);

  test.each([
    ["a stale checkpoint", Buffer.concat([wavHeader(4_800), samples]), "repaired", 500],
    ["no size at all", Buffer.concat([wavHeader(0), samples]), "repaired", 500],
    ["a half-written sample", Buffer.concat([wavHeader(0), samples, Buffer.alloc(1)]), "repaired", 500],
    ["a sound file", Buffer.concat([wavHeader(24_000), samples]), "intact", 500],
  ] as const)(
    "%s: sizes and an entry say what was saved; again changes nothing",
    async (_what, bytes, outcome, durationMs) => {
      const session = await interrupted(bytes);
      const wav = join(session.location, "assets", "r1.wav");
      const log = readLog(session.location);
      const recording = { recordingId: "r1", path: wav, outcome, frames: 12_000, durationMs, reason: null };
      expect((await session.recover({ dryRun: true })).recordings).toEqual([recording]);
      expect(fs.readFileSync(wav).equals(bytes)).toBe(true);
      expect(readLog(session.location).equals(log)).toBe(true);

      expect((await session.recover()).recordings).toEqual([recording]);
      expect(fs.readFileSync(wav).equals(Buffer.concat([wavHeader(24_000), samples]))).toBe(true);
      expect(await session.recordings()).toMatchObject([{ recordingId: "r1", state: "interrupted", durationMs }]);
      // What was said is not touched, and the entry follows the default leaf, so nothing leaves the branch.
      expect((await session.history()).map((entry) => entry.id)).toEqual(["m"]);
      const [size, bytesAfter] = [sizeOf(session), fs.readFileSync(wav)];
      expect(await session.recover()).toMatchObject({ action: "none", recordings: [] });
      expect(sizeOf(session)).toBe(size);
      expect(fs.readFileSync(wav).equals(bytesAfter)).toBe(true);
      await session.close();
    },
  );

  test.each([
    ["a missing file", undefined, undefined, "missing"],
    ["an empty file", Buffer.alloc(0), undefined, "empty-file"],
    [
      "another format in the place of a capture",
      Buffer.concat([wavHeader(0, 48_000), samples]),
      undefined,
      "foreign-format",
    ],
    ["no WAV file", Buffer.from("hello world"), undefined, "not-riff-wave"],
  ])("%s: left as it is, and the interruption says why", async (_what, bytes, path, reason) => {
    const session = await interrupted(bytes, path);
    const { recordings } = await session.recover();
    expect(recordings).toMatchObject([{ outcome: "rejected", frames: null, durationMs: null, reason }]);
    if (bytes !== undefined) {
      expect(fs.readFileSync(join(session.location, "assets", "r1.wav")).equals(bytes)).toBe(true);
    }
    expect(await session.recordings()).toMatchObject([{ state: "interrupted", reason: `unexpected-end: ${reason}` }]);
    await session.close();
  });

  test("an asset of another name may have another format", async () => {
    const session = await interrupted(Buffer.concat([wavHeader(0, 48_000), samples]), "assets/imported.wav");
    expect((await session.recover()).recordings).toMatchObject([{ outcome: "repaired", durationMs: 250 }]);
    await session.close();
  });

  test("a recording whose end only lacks its line feed has ended", async () => {
    const session = await interrupted(Buffer.concat([wavHeader(24_000), samples]));
    const end = { type: "recording.finished", id: "f", parentId: "m", timestamp: "2026-01-01T00:00:00.000Z" };
    fs.appendFileSync(
      join(session.location, "session.jsonl"),
      JSON.stringify({ ...end, recordingId: "r1", durationMs: 500, outcome: "complete" }),
    );
    expect((await session.recover({ dryRun: true })).recordings).toEqual([]);
    expect((await session.recover()).recordings).toEqual([]);
    expect(await session.recordings()).toMatchObject([{ state: "finished" }]);
    await session.close();
  });

  test("whatever step of the repair fails, running it again finishes it and no sample is lost", async () => {
    // Nobody records here; asking the system each time would only cost time.
    const captureLock: CaptureLock = { tryAcquire: async () => ({ release: async () => undefined }) };
    for (const operation of ["write", "sync", "truncate", "open"] as const) {
      let reached = true;
      for (let at = 1; reached; at += 1) {
        const session = await interrupted(Buffer.concat([wavHeader(0), samples, Buffer.alloc(1)]));
        await session.close();
        const faulty = new FaultyFs();
        const broken = await openSession(session.location, { ...sandbox.context, captureLock, fs: faulty });
        faulty.inject({ operation, at, code: "EIO" });
        await broken.recover().catch((error: unknown) => expect(error).toMatchObject({ code: expect.any(String) }));
        reached = faulty.count(operation) >= at;
        if (at === 1) expect(reached).toBe(true);
        faulty.inject(undefined);
        await broken.close();
        const again = await openSession(session.location, { ...sandbox.context, captureLock });
        await again.recover();
        expect(await again.recordings()).toMatchObject([{ state: "interrupted", durationMs: 500 }]);
        expect(
          fs
            .readFileSync(join(session.location, "assets", "r1.wav"))
            .equals(Buffer.concat([wavHeader(24_000), samples])),
        ).toBe(true);
        await again.close();
      }
    }
  });

  test("asset locks come before the session lock, and a live capture refuses before anything is looked at", async () => {
    const order: string[] = [];
    const captureLock: CaptureLock = {
      async tryAcquire(path) {
        order.push(`asset ${path.split("/").at(-1)}`);
        return { release: async () => void order.push("release asset") };
      },
    };
    const session = await interrupted(Buffer.concat([wavHeader(0), samples]));
    const real = sandbox.context.lock;
    const watched = await openSession(session.location, {
      ...sandbox.context,
      captureLock,
      lock: {
        withLock: async (target, options, body) => {
          order.push("session");
          try {
            return await real.withLock(target, options, body);
          } finally {
            order.push("release session");
          }
        },
      },
    });
    await watched.recover();
    expect(order).toEqual(["asset r1.wav", "session", "release session", "release asset"]);
    const live = await openSession(session.location, {
      ...sandbox.context,
      captureLock: { tryAcquire: async () => undefined },
    });
    await expect(live.recover()).rejects.toMatchObject({ code: "capture-live", place: { location: session.location } });
    for (const one of [live, watched, session]) await one.close();
  });
});
