/**
 * The short lock around every change of a session: Session file format, "Native writes" ("a short-lived OS advisory
 * lock plus in-process serialization").
 *
 * Three layers: the lane (one body at a time in this thread), the outer lock (waiting, visible, cleaned up after a dead
 * holder), the kernel lock (the only one that safety rests on). Whatever happens to the first two, no two bodies run at
 * once while the third works, and it is freed by the system when its holder dies.
 */
import { mkdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { StoreError } from "../errors";
import { asStoreError, errnoName } from "../platform/errno";
import { probeKernelLock, type KernelLock } from "./kernel-lock";
import { enterLane, leaveLane, type Lane, type Lease, type Patience } from "./lane";
import { defaultLockDirectory } from "./lock-directory";
import { LockNotes } from "./lock-notes";
import { lockName, type LockTarget } from "./lock-target";
import {
  TIMES_WITHOUT_KERNEL_LOCK,
  TIMES_WITH_KERNEL_LOCK,
  tryOuterLock,
  type LockTimes,
  type OuterLock,
} from "./outer-lock";

export type { LockTarget } from "./lock-target";

/** What a body may ask about the lock it runs under. */
export interface LockGuard {
  /** Throws `lock-lost` once the outer lock belongs to somebody else. To be called right before a write. */
  assertHeld(): void;
}

export interface LockWait {
  signal?: AbortSignal;
  /** How long to wait for the lock before `lock-busy`, in milliseconds. */
  deadlineMs?: number;
}

export interface SessionLock {
  /** Runs one body under the lock of a target. Not re-entrant: a body must not ask for the same target again. */
  withLock<T>(target: LockTarget, options: LockWait, body: (guard: LockGuard) => Promise<T>): Promise<T>;
}

export interface LayeredLockOptions {
  /** Absolute path of the folder for lock files; the user's own by default. */
  directory?: string;
  /** `undefined` is a declared weaker mode without a kernel lock. Probed when the key is absent. */
  kernelLock?: KernelLock | undefined;
  times?: LockTimes;
}

const DEFAULT_DEADLINE_MS = 15_000;
/** Waiters ask again after a random pause of up to this length, and at least half of it. */
const POLL_MS = 12;
/** A run of bodies keeps the lock for so long while somebody else waits, and otherwise for so long. */
const MAX_CONTENDED_LEASE_MS = 25;
const MAX_LEASE_MS = 250;

export class LayeredLock implements SessionLock {
  readonly #options: LayeredLockOptions;
  #prepared: { directory: string; kernelLock: KernelLock | undefined; times: LockTimes } | undefined;

  constructor(options: LayeredLockOptions = {}) {
    this.#options = options;
  }

  async withLock<T>(target: LockTarget, options: LockWait, body: (guard: LockGuard) => Promise<T>): Promise<T> {
    const patience: Patience = {
      signal: options.signal,
      deadlineMs: performance.now() + (options.deadlineMs ?? DEFAULT_DEADLINE_MS),
    };
    const key = lockName(target);
    const lane = await enterLane(key, target.location, patience);
    try {
      const lease = await this.#lease(lane, target, patience);
      return await body({
        assertHeld() {
          if (lease.isHeld()) return;
          lease.lost = true;
          throw new StoreError("lock-lost", { location: target.location });
        },
      });
    } finally {
      leaveLane(key, lane);
    }
  }

  async #lease(lane: Lane, target: LockTarget, patience: Patience): Promise<Lease> {
    const current = lane.lease;
    if (current !== undefined) {
      if (current.owner === this && !current.lost && !isSpent(current)) return current;
      lane.lease = undefined;
      const contended = current.notes.somebodyWaits();
      await current.release();
      if (contended) await delay(2 * POLL_MS);
    }
    const lease = await this.#take(target, patience);
    lane.lease = lease;
    return lease;
  }

  async #take(target: LockTarget, patience: Patience): Promise<Lease> {
    const { directory, kernelLock, times } = this.#prepare(target);
    const name = lockName(target);
    const notes = new LockNotes(directory, name);
    const taken = await poll(target, notes, patience, async () => {
      const outer = await systemCall(target, () => tryOuterLock(directory, name, times));
      if (outer === undefined) return undefined;
      return this.#takeKernelLock(outer, kernelLock, target, notes, patience);
    });
    notes.noteHolder();
    const { outer, freeKernelLock } = taken;
    return {
      owner: this,
      notes,
      lost: false,
      takenAtMs: performance.now(),
      isHeld: () => outer.isHeld(),
      async release() {
        notes.clearHolder();
        freeKernelLock();
        await outer.release();
      },
    };
  }

  async #takeKernelLock(
    outer: OuterLock,
    kernelLock: KernelLock | undefined,
    target: LockTarget,
    notes: LockNotes,
    patience: Patience,
  ): Promise<{ outer: OuterLock; freeKernelLock: () => void }> {
    if (kernelLock === undefined) return { outer, freeKernelLock: () => undefined };
    const { directory } = this.#prepare(target);
    try {
      // Held although the outer lock was free: its holder was stopped, slow or robbed, and is still the one to wait for.
      const free = await poll(target, notes, patience, () =>
        systemCall(target, async () => kernelLock.tryAcquire(directory, lockName(target))),
      );
      return { outer, freeKernelLock: free };
    } catch (error) {
      await outer.release();
      throw error;
    }
  }

  #prepare(target: LockTarget): { directory: string; kernelLock: KernelLock | undefined; times: LockTimes } {
    if (this.#prepared !== undefined) return this.#prepared;
    const directory = this.#options.directory ?? defaultLockDirectory();
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
    } catch (error) {
      const reason = errnoName(error);
      if (reason === "EEXIST" || reason === "ENOTDIR") throw new StoreError("lock-unsupported", { cause: error });
      throw asStoreError(error, { location: target.location }, "make the folder for locks");
    }
    const declared = "kernelLock" in this.#options;
    const kernelLock = declared ? this.#options.kernelLock : probeKernelLock(directory);
    if (kernelLock === undefined && !declared) throw new StoreError("lock-unsupported", { location: target.location });
    const times =
      this.#options.times ?? (kernelLock === undefined ? TIMES_WITHOUT_KERNEL_LOCK : TIMES_WITH_KERNEL_LOCK);
    this.#prepared = { directory, kernelLock, times };
    return this.#prepared;
  }
}

async function systemCall<T>(target: LockTarget, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw asStoreError(error, { location: target.location }, "take the lock");
  }
}

function isSpent(lease: Lease): boolean {
  const ageMs = performance.now() - lease.takenAtMs;
  return ageMs > MAX_LEASE_MS || (ageMs > MAX_CONTENDED_LEASE_MS && lease.notes.somebodyWaits());
}

function busy(target: LockTarget, pid: number | undefined): StoreError {
  return new StoreError("lock-busy", {
    location: target.location,
    ...(pid === undefined ? {} : { message: `Process ${pid} is writing to this session.` }),
  });
}

async function poll<T>(
  target: LockTarget,
  notes: LockNotes,
  patience: Patience,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  let waited = false;
  for (;;) {
    const result = await attempt();
    if (result !== undefined) {
      if (waited) notes.clearWaiting();
      return result;
    }
    waited = true;
    notes.noteWaiting();
    await delay(POLL_MS * (0.5 + Math.random() / 2));
    patience.signal?.throwIfAborted();
    if (performance.now() > patience.deadlineMs) throw busy(target, notes.holder());
  }
}
