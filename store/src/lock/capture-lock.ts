/**
 * The lock that a capture holds on its WAV for as long as it lives: `flock` on the open file, taken by the capture
 * helper and freed by the system when it ends, however it ends. Recovery and deletion take the same lock first, so a
 * live capture is never repaired or deleted (Session file format, "Native writes, assets and recovery").
 *
 * Node has no flock. The ways to it, tried in order:
 * - macOS: `open` with the BSD exclusive-lock flag, which is the same lock.
 * - Linux: `flock(1)` on an inherited descriptor; the lock stays with the descriptor when the command has ended.
 * - Linux without that command: the kernel's list of locks, which can be read but holds nothing. That is enough, since
 *   a capture only ever starts on a new file and the callers exclude each other with the session lock.
 */
import { spawn } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { StoreError } from "../errors";
import { asStoreError, errnoName } from "../platform/errno";
import { BSD_EXCLUSIVE_LOCK, BSD_NONBLOCK, isHeldElsewhere } from "./kernel-lock";

/** Keeps a capture from starting on, or anybody else from changing, the file until it is released. */
export interface HeldCaptureLock {
  release(): Promise<void>;
}

export interface CaptureLock {
  /** Takes the lock of an existing file, or answers undefined at once when a live capture holds it. */
  tryAcquire(path: string): Promise<HeldCaptureLock | undefined>;
}

/** A way to the lock that does not work on this system answers this. */
const UNSUPPORTED = Symbol("unsupported");
type Attempt = HeldCaptureLock | undefined | typeof UNSUPPORTED;

const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const FLOCK_BUSY_STATUS = 1;

/** The capture lock of this system. */
export const systemCaptureLock: CaptureLock = {
  async tryAcquire(path) {
    const attempts = process.platform === "linux" ? [flockCommand, listedLocks] : [openFlag, flockCommand];
    for (const attempt of attempts) {
      const result = await locked(path, attempt);
      if (result !== UNSUPPORTED) return result;
    }
    throw new StoreError("capture-lock-unsupported");
  },
};

async function locked(path: string, attempt: (path: string) => Promise<Attempt>): Promise<Attempt> {
  try {
    return await attempt(path);
  } catch (error) {
    throw asStoreError(error, {}, "take the lock of a recording");
  }
}

async function openFlag(path: string): Promise<Attempt> {
  const flags = OPEN_FLAGS | BSD_EXCLUSIVE_LOCK | BSD_NONBLOCK;
  let fd: number;
  try {
    fd = openSync(path, flags);
  } catch (error) {
    if (isHeldElsewhere(error)) return undefined;
    throw error;
  }
  // A system that ignores the flag lets a second one in: then nothing is locked here.
  try {
    closeSync(openSync(path, flags));
  } catch (error) {
    if (isHeldElsewhere(error)) return { release: async () => closeSync(fd) };
    closeSync(fd);
    throw error;
  }
  closeSync(fd);
  return UNSUPPORTED;
}

async function flockCommand(path: string): Promise<Attempt> {
  const handle = await open(path, OPEN_FLAGS);
  try {
    const status = await runFlock(handle.fd);
    if (status === 0) return { release: () => handle.close() };
    await handle.close();
    return status === FLOCK_BUSY_STATUS ? undefined : UNSUPPORTED;
  } catch (error) {
    await handle.close();
    if (errnoName(error) === "ENOENT") return UNSUPPORTED;
    throw error;
  }
}

/** Takes an exclusive `flock` on an inherited descriptor without waiting; the exit status of `flock(1)`. */
function runFlock(fd: number): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const command = spawn("flock", ["--exclusive", "--nonblock", "3"], { stdio: ["ignore", "ignore", "ignore", fd] });
    command.once("error", reject);
    command.once("exit", resolve);
  });
}

/** Takes the lock for a descriptor that is open already; it lives until every copy of the descriptor is closed. */
export async function lockDescriptor(fd: number): Promise<"locked" | "busy"> {
  const status = await runFlock(fd).catch((error: unknown) => {
    throw new StoreError("capture-lock-unsupported", { cause: error });
  });
  if (status === 0) return "locked";
  if (status === FLOCK_BUSY_STATUS) return "busy";
  throw new StoreError("capture-lock-unsupported");
}

async function listedLocks(path: string): Promise<Attempt> {
  const handle = await open(path, OPEN_FLAGS);
  let inode: bigint;
  try {
    inode = (await handle.stat({ bigint: true })).ino;
  } finally {
    await handle.close();
  }
  let listed: string;
  try {
    listed = await readFile("/proc/locks", "utf8");
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return UNSUPPORTED;
  }
  return isFlockListed(listed, inode) ? undefined : { release: async () => undefined };
}

/**
 * Whether the kernel lists an flock on an inode. The device is not compared, because layered file systems report
 * another one there than stat does: a chance match refuses a repair, a missed one would damage a recording.
 */
export function isFlockListed(procLocks: string, inode: bigint): boolean {
  return procLocks.split("\n").some((line) => {
    const fields = line.trim().split(/\s+/);
    const kind = fields.indexOf("FLOCK");
    const place = fields.find((field) => /^[0-9a-f]+:[0-9a-f]+:[0-9]+$/i.test(field));
    return kind >= 0 && place?.split(":")[2] === inode.toString();
  });
}

/**
 * The capture lock through a program that takes the lock on descriptor 3, says `locked` and holds it until its standard
 * input ends: the capture helper's `lock` command. Nothing takes it by itself. It is the fallback of a host that ships
 * the helper, given as `captureLock` of the store's context, for a system on which recovery and deletion answer
 * `capture-lock-unsupported`: a macOS whose `open` ignores the exclusive-lock flag, where there is no `flock(1)` either.
 */
export class HelperCaptureLock implements CaptureLock {
  readonly #command: readonly [string, ...string[]];

  constructor(command: readonly [string, ...string[]]) {
    this.#command = command;
  }

  async tryAcquire(path: string): Promise<HeldCaptureLock | undefined> {
    const handle = await open(path, OPEN_FLAGS);
    const [program, ...args] = this.#command;
    const helper = spawn(program, args, { stdio: ["pipe", "pipe", "ignore", handle.fd] });
    const { stdin, stdout } = helper;
    const ended = new Promise<"ended">((resolve) => helper.once("exit", () => resolve("ended")));
    try {
      const answer = await new Promise<"locked" | number | null>((resolve, reject) => {
        let said = "";
        helper.once("error", reject);
        helper.once("exit", resolve);
        stdout?.setEncoding("utf8").on("data", (text: string) => {
          said += text;
          if (said.includes("\n") && said.includes("locked")) resolve("locked");
        });
      });
      if (answer === "locked") {
        return {
          async release() {
            stdin?.end();
            await ended;
          },
        };
      }
      if (answer === HELPER_LOCKED_STATUS) return undefined;
      throw new StoreError("capture-lock-unsupported");
    } catch (error) {
      throw error instanceof StoreError ? error : new StoreError("capture-lock-unsupported", { cause: error });
    } finally {
      await handle.close();
    }
  }
}

/** The helper's exit status for an asset that is locked already. */
const HELPER_LOCKED_STATUS = 75;
