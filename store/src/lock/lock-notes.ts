/**
 * Two small notes beside a lock: who holds it, for the error that a waiter reports, and that somebody waits, so that a
 * holder with a run of appends lets others in. Both are hints: nothing is decided by them that safety depends on.
 */
import { lstatSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errnoName } from "../platform/errno";

/** A waiter renews its note with every attempt; an older one was left by a process that died. */
const WAITING_NOTE_MAX_AGE_MS = 1_000;
/** A holder that saw nobody waiting does not look again for so long: a waiter has come at most so much earlier. */
const LOOK_EVERY_MS = 5;

export class LockNotes {
  readonly #holderPath: string;
  readonly #waitingPath: string;
  /** Time of `performance.now()` until which the last look for a waiter counts. */
  #lookedUntilMs = 0;

  constructor(directory: string, name: string) {
    this.#holderPath = join(directory, `${name}.holder`);
    this.#waitingPath = join(directory, `${name}.waiting`);
  }

  noteHolder(): void {
    hint(() => writeFileSync(this.#holderPath, `${process.pid}\n`, { mode: 0o600 }));
  }

  clearHolder(): void {
    hint(() => unlinkSync(this.#holderPath));
  }

  /** The process that holds the lock as far as is known. */
  holder(): number | undefined {
    const text = hint(() => readFileSync(this.#holderPath, "utf8"));
    const pid = Number(text ?? "");
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
  }

  noteWaiting(): void {
    hint(() => writeFileSync(this.#waitingPath, "", { mode: 0o600 }));
  }

  clearWaiting(): void {
    hint(() => unlinkSync(this.#waitingPath));
  }

  somebodyWaits(): boolean {
    const nowMs = performance.now();
    if (nowMs < this.#lookedUntilMs) return false;
    const stat = hint(() => lstatSync(this.#waitingPath, { throwIfNoEntry: false }));
    const waits = stat !== undefined && Date.now() - stat.mtimeMs < WAITING_NOTE_MAX_AGE_MS;
    if (!waits) this.#lookedUntilMs = nowMs + LOOK_EVERY_MS;
    return waits;
  }
}

/** Runs a step whose failure by the file system costs only the hint. */
function hint<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return undefined;
  }
}
