/**
 * The right to write one session's log: one holder at a time over all processes, freed by the system when it dies.
 * The reference knows nothing of it; against its writers stands the check of the log's end before every append.
 */
import { mkdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { StoreError } from "../errors";
import { probeKernelLock, type KernelLock } from "../lock/kernel-lock";
import { defaultLockDirectory } from "../lock/lock-directory";
import { lockName, type LockTarget } from "../lock/lock-target";
import { asStoreError } from "../platform/errno";

const POLL_MS = 10;

/** One probe a folder and process is enough. */
const probed = new Map<string, KernelLock>();

export interface LeaseOptions {
  /** Absolute path of the folder for lock files; the user's own by default. */
  readonly directory?: string | undefined;
  /** How long to wait for a holder to let go, in milliseconds. */
  readonly waitMs: number;
}

/** Takes the lease of a session directory; call the result to give it back. `lock-busy` when somebody else keeps it. */
export async function acquireLease(target: LockTarget, options: LeaseOptions): Promise<() => void> {
  const directory = options.directory ?? defaultLockDirectory();
  const lock = kernelLock(directory);
  const deadlineMs = performance.now() + options.waitMs;
  for (;;) {
    const release = tryLock(lock, directory, target);
    if (release !== undefined) return release;
    if (performance.now() >= deadlineMs) {
      throw new StoreError("lock-busy", {
        location: target.location,
        message: "Another writer owns this session's log.",
        remedy: "Wait until it has finished; inspecting the session needs no lock.",
      });
    }
    await delay(POLL_MS);
  }
}

function kernelLock(directory: string): KernelLock {
  const known = probed.get(directory);
  if (known !== undefined) return known;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw asStoreError(error, { location: directory }, "make the folder for locks");
  }
  let lock: KernelLock | undefined;
  try {
    lock = probeKernelLock(directory);
  } catch (error) {
    throw asStoreError(error, { location: directory }, "try the folder for locks");
  }
  if (lock === undefined) throw new StoreError("lock-unsupported", { location: directory });
  probed.set(directory, lock);
  return lock;
}

function tryLock(lock: KernelLock, directory: string, target: LockTarget): (() => void) | undefined {
  try {
    return lock.tryAcquire(directory, `event-log-${lockName(target)}`);
  } catch (error) {
    throw asStoreError(error, { location: directory }, "take the lease");
  }
}
