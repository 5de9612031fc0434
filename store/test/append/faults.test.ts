/**
 * Every write, sync, link, rename and so on fails in its turn, once and for ever. Whatever fails: what was acknowledged
 * is there, nothing is there twice, and a failed append left the log as it was or its handle unusable.
 */
import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isStoreError } from "../../src/errors";
import { createSession } from "../../src/session/create";
import { deleteSession, finishDeletions, STAGING_NAME } from "../../src/session/delete";
import { openSession, type Session } from "../../src/session/session";
import { FaultyFs, systemError, type Fault, type Operation } from "../support/faulty-fs";
import { idsIn, message, readLog, Sandbox } from "../support/sandbox";

// Loops of processes and syncs: generous, for a machine that does other things as well.
jest.setTimeout(600_000);

let sandbox: Sandbox;
let faulty: FaultyFs;
beforeEach(() => {
  faulty = new FaultyFs();
  sandbox = new Sandbox({ fs: faulty });
});
afterEach(() => sandbox.remove());

/** Runs a scenario with the k-th operation of a kind failing, for every k until the scenario no longer reaches it. */
async function everyFault(
  operations: readonly Operation[],
  scenario: (fault: Fault) => Promise<void>,
  variants: readonly Partial<Fault>[] = [{}, { forever: true }, { after: true }],
): Promise<number> {
  let tried = 0;
  for (const operation of operations) {
    for (const variant of variants) {
      for (let at = 1; ; at += 1) {
        await scenario({ operation, at, code: "EIO", ...variant });
        tried += 1;
        const reached = faulty.count(operation) >= at;
        faulty.inject(undefined);
        if (!reached) break;
      }
    }
  }
  return tried;
}

/** The error must be a typed one; its code is the outcome. */
async function outcome(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return "done";
  } catch (error) {
    if (!isStoreError(error)) throw error;
    return error.code;
  }
}

test("append: after any single failure the log is as it was or the handle is unusable, and a retry completes it", async () => {
  let number = 0;
  const tried = await everyFault(
    ["lstat", "open", "read", "write", "sync", "truncate", "stat", "close"],
    async (fault) => {
      number += 1;
      const session = await createSession(sandbox.root, sandbox.context, { id: `s${number}` });
      await session.append([message("acknowledged", "a")], { parentId: null });
      const before = readLog(session.location);
      faulty.inject(fault);
      const batch = [message("b", "b"), message("c", "c")];
      const result = await outcome(() => session.append(batch, { parentId: "a" }));
      const after = readLog(session.location);
      const counted = faulty.count(fault.operation);
      faulty.inject(undefined);

      if (result === "done") {
        expect(idsIn(after)).toEqual(["a", "b", "c"]);
      } else if (result === "outcome-unknown") {
        expect(await outcome(() => session.append([message("x")], { parentId: "a" }))).toBe("handle-poisoned");
      } else {
        expect(after.equals(before)).toBe(true);
      }
      const again = await openSession(session.location, sandbox.context);
      if (again.verdict === "tail-pending") await again.recover();
      await again.append(batch, { parentId: "a" });
      expect(idsIn(readLog(session.location))).toEqual(["a", "b", "c"]);
      await again.close();
      await session.close();
      faulty.counts.set(fault.operation, counted);
    },
  );
  expect(tried).toBeGreaterThan(20);
});

test("create: a session exists with its whole header or not at all", async () => {
  let number = 0;
  await everyFault(["mkdir", "open", "write", "sync", "link", "unlink", "syncDirectory", "close"], async (fault) => {
    number += 1;
    const id = `s${number}`;
    faulty.inject(fault);
    let created: Session | undefined;
    const result = await outcome(async () => {
      created = await createSession(sandbox.root, sandbox.context, { id });
    });
    const counted = faulty.count(fault.operation);
    faulty.inject(undefined);
    await created?.close();
    const location = join(sandbox.root, id);
    if (fs.existsSync(join(location, "session.jsonl"))) {
      const session = await openSession(location, sandbox.context);
      expect(session).toMatchObject({ verdict: "valid", id });
      await session.append([message("a", "a")], { parentId: null });
      await session.close();
    } else {
      expect(result).not.toBe("done");
    }
    faulty.counts.set(fault.operation, counted);
  });
});

const TORN = '{"type":"message","id":"torn","par';

async function tornSession(id: string): Promise<string> {
  const session = await createSession(sandbox.root, sandbox.context, { id });
  await session.append([message("a", "a")], { parentId: null });
  await session.close();
  fs.appendFileSync(join(session.location, "session.jsonl"), TORN);
  return session.location;
}

/** The fragment is in the log's tail or in a file of its own, or both; never nowhere. */
function fragmentIsSomewhere(location: string): boolean {
  const inLog = readLog(location).toString().endsWith(TORN);
  const kept = fs
    .readdirSync(location)
    .filter((name) => name.startsWith("session.jsonl.fragment-"))
    .some((name) => fs.readFileSync(join(location, name), "utf8") === TORN);
  return inLog || kept;
}

test("recover: whatever fails, the fragment and the records are there, and running it again finishes it", async () => {
  let number = 0;
  await everyFault(
    ["lstat", "open", "read", "write", "sync", "link", "unlink", "truncate", "syncDirectory", "stat", "close"],
    async (fault) => {
      number += 1;
      const location = await tornSession(`s${number}`);
      const session = await openSession(location, sandbox.context);
      faulty.inject(fault);
      await outcome(() => session.recover());
      const counted = faulty.count(fault.operation);
      faulty.inject(undefined);
      expect(fragmentIsSomewhere(location)).toBe(true);
      const again = await openSession(location, sandbox.context);
      await again.recover();
      expect(again).toMatchObject({ verdict: "valid", entryCount: 1 });
      expect(fragmentIsSomewhere(location)).toBe(true);
      const bytes = readLog(location);
      expect(await again.recover()).toMatchObject({ action: "none", kept: null });
      expect(readLog(location).equals(bytes)).toBe(true);
      await again.close();
      await session.close();
      faulty.counts.set(fault.operation, counted);
    },
  );
});

test("delete: the session is there whole or gone, and a later run finishes what was left", async () => {
  let number = 0;
  await everyFault(["lstat", "mkdir", "rename", "syncDirectory", "readdir", "unlink", "rmdir"], async (fault) => {
    number += 1;
    const location = await tornSession(`s${number}`);
    const { handle } = await (async () => {
      const session = await openSession(location, sandbox.context);
      const asset = await session.createAsset("a.bin", "application/octet-stream");
      await session.close();
      return asset;
    })();
    await handle.close();
    const before = readLog(location);
    faulty.inject(fault);
    await outcome(() => deleteSession(location, sandbox.context, { confirmed: true }));
    const counted = faulty.count(fault.operation);
    faulty.inject(undefined);
    if (fs.existsSync(location)) {
      expect(readLog(location).equals(before)).toBe(true);
      expect(fs.existsSync(join(location, "assets", "a.bin"))).toBe(true);
      await deleteSession(location, sandbox.context, { confirmed: true });
    }
    expect(await finishDeletions(sandbox.root, sandbox.context)).toBe(true);
    expect(fs.existsSync(location)).toBe(false);
    expect(fs.existsSync(join(sandbox.root, STAGING_NAME))).toBe(false);
    faulty.counts.set(fault.operation, counted);
  });
});

test("a protocol asset is durable when its reference exists, or there is no reference", async () => {
  const session = await createSession(sandbox.root, sandbox.context);
  await everyFault(["mkdir", "open", "write", "sync", "syncDirectory", "close"], async (fault) => {
    faulty.inject(fault);
    let reference: Awaited<ReturnType<Session["writeProtocolAsset"]>> | undefined;
    await outcome(async () => {
      reference = await session.writeProtocolAsset(Buffer.from("bytes"), {
        mimeType: "audio/pcm",
        encoding: "pcm_s16le",
      });
    });
    const counted = faulty.count(fault.operation);
    const { log } = faulty;
    if (reference !== undefined) {
      expect(log.some((line) => line.startsWith("sync "))).toBe(true);
      expect(log.some((line) => line.startsWith("syncDirectory "))).toBe(true);
    }
    faulty.inject(undefined);
    if (reference !== undefined) {
      const reader = await session.openAsset(reference);
      expect(await reader.verify()).toBe("verified");
      await reader.close();
    }
    faulty.counts.set(fault.operation, counted);
  });
  await session.close();
});

describe("which resource gave out", () => {
  test.each([
    ["ENOSPC", "disk-full"],
    ["EDQUOT", "quota-exceeded"],
    ["EFBIG", "file-too-large"],
    ["EIO", "io-error"],
    ["EROFS", "read-only"],
    ["EACCES", "access-denied"],
  ])(
    "a write that fails with %s, at once or after a part of it, is %s and leaves the log as it was",
    async (code, expected) => {
      const session = await createSession(sandbox.root, sandbox.context);
      await session.append([message("a", "a")], { parentId: null });
      const before = readLog(session.location);
      for (const short of [undefined, 0, 1, 60]) {
        faulty.inject({ operation: "write", at: 1, code, ...(short === undefined || short === 0 ? {} : { short }) });
        expect(await outcome(() => session.append([message("b", "b")], { parentId: "a" }))).toBe(expected);
        expect(readLog(session.location).equals(before)).toBe(true);
        faulty.inject(undefined);
      }
      await session.append([message("b", "b")], { parentId: "a" });
      expect(idsIn(readLog(session.location))).toEqual(["a", "b"]);
      await session.close();
    },
  );

  test("a disk that is full after any byte of a record: the log is as it was or the handle is unusable, and a retry works", async () => {
    const session = await createSession(sandbox.root, sandbox.context);
    await session.append([message("a", "a")], { parentId: null });
    const open = faulty.open.bind(faulty);
    const retry = [message("b é 😀", "b")];
    const before = readLog(session.location);
    await session.append(retry, { parentId: "a" });
    const length = readLog(session.location).length - before.length;
    await session.close();
    expect(length).toBeGreaterThan(100);

    for (let taken = 0; taken <= length; taken += 1) {
      for (const undone of [true, false]) {
        fs.writeFileSync(join(session.location, "session.jsonl"), before);
        // At no byte the call fails at once; at the last one all of it was taken and the call fails all the same.
        const variant = taken === 0 ? {} : taken === length ? { after: true } : { short: taken };
        const one = await openSession(session.location, sandbox.context);
        if (!undone) {
          faulty.open = async (path, mode) => ({
            ...(await open(path, mode)),
            truncate: () => Promise.reject(systemError("EIO")),
          });
        }
        faulty.inject({ operation: "write", at: 1, code: "ENOSPC", ...variant });
        const result = await outcome(() => one.append(retry, { parentId: "a" }));
        const after = readLog(session.location);
        if (undone || taken === 0) {
          expect([taken, result, after.equals(before)]).toEqual([taken, "disk-full", true]);
        } else {
          expect([taken, result, after.length]).toEqual([taken, "outcome-unknown", before.length + taken]);
          expect(await outcome(() => one.append(retry, { parentId: "a" }))).toBe("handle-poisoned");
        }
        faulty.inject(undefined);
        faulty.open = open;
        const again = result === "disk-full" ? one : await openSession(session.location, sandbox.context);
        if (again.verdict === "tail-pending") await again.recover();
        await again.append(retry, { parentId: "a" });
        expect(again.verdict).toBe("valid");
        expect(idsIn(readLog(session.location))).toEqual(["a", "b"]);
        await again.close();
        await one.close();
      }
    }
  });

  test("a sync that failed is unknown, never retried, and no later success of it is believed", async () => {
    const session = await createSession(sandbox.root, sandbox.context);
    await session.append([message("a", "a")], { parentId: null });
    faulty.inject({ operation: "sync", at: 1, code: "EIO" });
    expect(await outcome(() => session.append([message("b", "b")], { parentId: "a" }))).toBe("outcome-unknown");
    expect(faulty.count("sync")).toBe(1);
    expect(session.entryCount).toBe(1);
    expect(await outcome(() => session.append([message("b", "b")], { parentId: "a" }))).toBe("handle-poisoned");
    expect(faulty.count("sync")).toBe(1);
    const again = await openSession(session.location, sandbox.context);
    await again.append([message("b", "b")], { parentId: "a" });
    expect(idsIn(readLog(session.location))).toEqual(["a", "b"]);
    await again.close();
    await session.close();
  });

  test("a failed write that cannot be undone is unknown, and the fragment waits for recovery", async () => {
    const session = await createSession(sandbox.root, sandbox.context);
    await session.append([message("a", "a")], { parentId: null });
    faulty.inject({ operation: "write", at: 1, short: 30, code: "ENOSPC" });
    const truncate = jest.fn();
    const open = faulty.open.bind(faulty);
    faulty.open = async (path, mode) => ({ ...(await open(path, mode)), truncate: async () => truncate() });
    const poisoned = await openSession(session.location, sandbox.context);
    faulty.inject({ operation: "write", at: 1, short: 30, code: "ENOSPC" });
    truncate.mockImplementation(() => {
      throw Object.assign(new Error("EIO"), { code: "EIO" });
    });
    expect(await outcome(() => poisoned.append([message("b", "b")], { parentId: "a" }))).toBe("outcome-unknown");
    expect(await outcome(() => poisoned.append([message("b", "b")], { parentId: "a" }))).toBe("handle-poisoned");
    faulty.inject(undefined);
    faulty.open = open;
    const again = await openSession(session.location, sandbox.context);
    expect(again).toMatchObject({ verdict: "tail-pending", recoverable: "truncate-fragment", entryCount: 1 });
    await again.recover();
    await again.append([message("b", "b")], { parentId: "a" });
    expect(idsIn(readLog(session.location))).toEqual(["a", "b"]);
    for (const one of [again, poisoned, session]) await one.close();
  });

  test("reads that fail with errno -11 or give less than the size are unavailable, never damage", async () => {
    const session = await createSession(sandbox.root, sandbox.context);
    await session.append([message("a", "a")], { parentId: null });
    await session.close();
    const before = readLog(session.location);
    const open = faulty.open.bind(faulty);
    const deadlock = Object.assign(new Error("Unknown system error -11"), {
      code: "Unknown system error -11",
      errno: -11,
    });
    for (const read of [() => Promise.reject(deadlock), async () => ({ bytesRead: 0 })]) {
      faulty.open = async (path, mode) => ({ ...(await open(path, mode)), read });
      expect(await outcome(() => openSession(session.location, sandbox.context))).toBe("unavailable");
    }
    // The session was opened before; by the time of the recovery its content is gone.
    faulty.open = open;
    fs.appendFileSync(join(session.location, "session.jsonl"), TORN);
    const torn = await openSession(session.location, sandbox.context);
    for (const read of [() => Promise.reject(deadlock), async () => ({ bytesRead: 0 })]) {
      faulty.open = async (path, mode) => ({ ...(await open(path, mode)), read });
      expect(await outcome(() => torn.recover())).toBe("unavailable");
    }
    expect(readLog(session.location).equals(Buffer.concat([before, Buffer.from(TORN)]))).toBe(true);
    await torn.close();
  });
});

/** Mounts a small file system of its own; only the superuser of a Linux system may. */
function mounted(folder: string): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]).status === 0;
}

function canMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const folder = fs.mkdtempSync(join(tmpdir(), "persyk-mount-"));
  const possible = mounted(folder);
  if (possible) execFileSync("umount", [folder]);
  fs.rmdirSync(folder);
  return possible;
}

/** Listed as skipped where nothing can be mounted; the injected errors above stand in for it there. */
const withMount = canMount() ? test : test.skip;

async function onSmallDisk(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = join(sandbox.folder, "small");
  fs.mkdirSync(folder);
  expect(mounted(folder)).toBe(true);
  try {
    await use(folder);
  } finally {
    execFileSync("umount", [folder]);
  }
}

withMount("a medium that becomes read-only under an open handle: refused as read-only, read as before", async () => {
  await onSmallDisk(async (folder) => {
    await (await createSession(folder, sandbox.context, { id: "s" })).close();
    const session = await openSession(join(folder, "s"), sandbox.context);
    const before = readLog(session.location);
    execFileSync("mount", ["-o", "remount,ro", folder]);
    expect(await outcome(() => session.append([message("a", "a")], { parentId: null }))).toBe("read-only");
    expect(await outcome(() => createSession(folder, sandbox.context))).toBe("read-only");
    const reader = await openSession(session.location, sandbox.context);
    expect(reader).toMatchObject({ verdict: "valid", entryCount: 0 });
    await reader.close();
    expect(readLog(session.location).equals(before)).toBe(true);
    execFileSync("mount", ["-o", "remount,rw", folder]);
    await session.append([message("a", "a")], { parentId: null });
    expect(idsIn(readLog(session.location))).toEqual(["a"]);
    await session.close();
  });
});

withMount(
  "a really full disk: every append is acknowledged and kept, or refused as disk-full with the log as it was",
  async () => {
    await onSmallDisk(async (folder) => {
      const session = await createSession(folder, sandbox.context);
      const acknowledged: string[] = [];
      let refusals = 0;
      for (let index = 0; refusals < 20; index += 1) {
        const id = `m${index}`;
        const before = readLog(session.location);
        const result = await outcome(() =>
          session.append([message("x".repeat(1_000 - (index % 7) * 131), id)], { parentId: null }),
        );
        if (result === "done") acknowledged.push(id);
        else {
          expect(result).toBe("disk-full");
          expect(readLog(session.location).equals(before)).toBe(true);
          refusals += 1;
        }
      }
      expect(idsIn(readLog(session.location))).toEqual(acknowledged);
      expect(acknowledged.length).toBeGreaterThan(20);
      const reader = await openSession(session.location, sandbox.context);
      expect(reader).toMatchObject({ verdict: "valid", entryCount: acknowledged.length });
      await reader.close();
      expect(await outcome(() => createSession(folder, sandbox.context))).toBe("disk-full");
      await session.close();
    });
  },
);
