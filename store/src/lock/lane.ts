/**
 * The in-process queue of one lock target: first come, first served, one body at a time.
 *
 * The lanes hang on a symbol of the global object, so that two copies of this module in one thread (two bundles, or a
 * test runner's registries) still share them. Threads do not share them; the kernel lock separates those.
 */

import { StoreError } from "../errors";
import { errnoName } from "../platform/errno";
import { type LockNotes } from "./lock-notes";

/** A taken lock that may serve several bodies in a row. */
export interface Lease {
  /** The SessionLock that took it; another one must not use it. */
  readonly owner: object;
  /** Time of `performance.now()` at which it was taken. */
  readonly takenAtMs: number;
  readonly notes: LockNotes;
  isHeld(): boolean;
  /** Was seen not to be held any more, so it serves nobody else. */
  lost: boolean;
  release(): Promise<void>;
}

export interface Lane {
  busy: boolean;
  readonly waiting: (() => void)[];
  closing: boolean;
  lease: Lease | undefined;
}

const LANES = Symbol.for("persyk.store.lock-lanes.v1");

function lanes(): Map<string, Lane> {
  const holder: typeof globalThis & { [LANES]?: Map<string, Lane> } = globalThis;
  return (holder[LANES] ??= new Map<string, Lane>());
}

/** How long a caller is ready to wait. */
export interface Patience {
  readonly signal: AbortSignal | undefined;
  /** Time of `performance.now()`. */
  readonly deadlineMs: number;
}

/** Waits for its turn in the lane of a key. Rejects with the signal's reason or, at the deadline, with `lock-busy`. */
export async function enterLane(key: string, location: string, patience: Patience): Promise<Lane> {
  patience.signal?.throwIfAborted();
  let lane = lanes().get(key);
  if (lane === undefined) {
    lane = { busy: false, waiting: [], closing: false, lease: undefined };
    lanes().set(key, lane);
  }
  if (lane.busy) await waitForTurn(lane, location, patience);
  lane.busy = true;
  return lane;
}

function waitForTurn(lane: Lane, location: string, { signal, deadlineMs }: Patience): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const settle = (): void => {
      signal?.removeEventListener("abort", onAbort);
      clearTimeout(timer);
    };
    const giveUp = (reason: unknown): void => {
      settle();
      const place = lane.waiting.indexOf(onTurn);
      if (place >= 0) lane.waiting.splice(place, 1);
      reject(reason);
    };
    const onTurn = (): void => {
      settle();
      resolve();
    };
    const onAbort = (): void => giveUp(signal?.reason);
    const onDeadline = (): void => giveUp(new StoreError("lock-busy", { location }));
    lane.waiting.push(onTurn);
    signal?.addEventListener("abort", onAbort, { once: true });
    const timer = setTimeout(onDeadline, deadlineMs - performance.now());
  });
}

/**
 * Hands the lane to the next body. When nobody waits, the lease is given back as soon as the code that is running now
 * has had its chance to ask again: a caller that awaits one append and then starts the next keeps the lock.
 */
export function leaveLane(key: string, lane: Lane): void {
  const next = lane.waiting.shift();
  if (next !== undefined) {
    next();
    return;
  }
  lane.busy = false;
  if (lane.closing) return;
  lane.closing = true;
  setImmediate(() => {
    lane.closing = false;
    void closeIdleLane(key, lane);
  });
}

async function closeIdleLane(key: string, lane: Lane): Promise<void> {
  if (lane.busy) return;
  const lease = lane.lease;
  if (lease === undefined) {
    if (lanes().get(key) === lane) lanes().delete(key);
    return;
  }
  lane.busy = true;
  lane.lease = undefined;
  try {
    await lease.release();
  } catch (error) {
    // Nobody awaits this. The lock ends with the process at the latest, and others keep waiting until then.
    process.emitWarning(`A lock could not be released (${errnoName(error) ?? "unknown"}).`, "PersykLockWarning");
  } finally {
    leaveLane(key, lane);
  }
}
