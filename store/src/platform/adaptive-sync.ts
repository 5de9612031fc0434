import { fsyncSync } from "node:fs";
import { type FileHandle } from "node:fs/promises";

/** A sync this fast costs the calling thread less than the trip to the thread pool and back does. */
const FAST_MS = 1;
/** So many fast syncs in a row are asked for before the calling thread does one itself. */
const FAST_IN_A_ROW = 4;
/** After so long without a trip to the pool, one is made: timers and signals get their turn between appends. */
const MAX_STREAK_MS = 8;

/**
 * Syncs one file, on the thread pool until the disk has proved fast, then on the calling thread for as long as it
 * stays fast. One slow sync sends it back to the pool, so a disk that stalls blocks the caller's event loop once.
 * Both ways are the same system call with the same guarantee; only who waits for it differs.
 */
export class AdaptiveSync {
  readonly #handle: FileHandle;
  #fastInARow = 0;
  #streakStartedAtMs = 0;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async sync(): Promise<void> {
    const startedAtMs = performance.now();
    if (this.#fastInARow >= FAST_IN_A_ROW && startedAtMs - this.#streakStartedAtMs < MAX_STREAK_MS) {
      fsyncSync(this.#handle.fd);
    } else {
      await this.#handle.sync();
      this.#streakStartedAtMs = performance.now();
    }
    this.#fastInARow = performance.now() - startedAtMs < FAST_MS ? this.#fastInARow + 1 : 0;
  }
}
