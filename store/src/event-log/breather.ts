import { setImmediate as nextTurn } from "node:timers/promises";

/** How long reading may keep the event loop to itself, in milliseconds. */
const SLICE_MS = 12;

/** Lets others have their turn during long work, and stops it with the signal's own reason. */
export class Breather {
  readonly #signal: AbortSignal | undefined;
  #sliceStartMs = performance.now();

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.throwIfAborted();
  }

  /** True when the slice is used up and `breathe` should be awaited. */
  get isDue(): boolean {
    return performance.now() - this.#sliceStartMs >= SLICE_MS;
  }

  /** Yields to the event loop. Rejects with the exact reason of an aborted signal. */
  async breathe(): Promise<void> {
    this.#signal?.throwIfAborted();
    await nextTurn();
    this.#signal?.throwIfAborted();
    this.#sliceStartMs = performance.now();
  }

  check(): void {
    this.#signal?.throwIfAborted();
  }
}
