import { closeSync, constants, openSync, readSync } from "node:fs";
import { type Slicer } from "../discover";
import { type Prefilter } from "./prefilter";

/** Small enough that the string of a chunk comes from memory that the process has already. */
const CHUNK_BYTES = 96 * 1024;

/**
 * Runs the prefilter over the bytes of a log in bounded memory. Reads are synchronous in slices: see `discover.ts`.
 * One buffer serves a whole search, so a scanner is not shared between searches.
 */
export class ByteScanner {
  readonly #prefilter: Prefilter;
  readonly #overlap: number;
  readonly #buffer: Buffer;

  constructor(prefilter: Prefilter) {
    this.#prefilter = prefilter;
    this.#overlap = prefilter.maxBytes - 1;
    this.#buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES + this.#overlap);
  }

  /** True when the bytes may hold the needle. */
  holds(bytes: Buffer): boolean {
    for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
      const end = Math.min(bytes.length, start + CHUNK_BYTES + this.#overlap);
      if (this.#prefilter.test(bytes.toString("latin1", start, end))) return true;
    }
    return false;
  }

  /** True when the log may hold the needle. Throws the system's error when it cannot be read. */
  async mayHold(logPath: string, slicer: Slicer): Promise<boolean> {
    const descriptor = openSync(logPath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      let kept = 0;
      for (;;) {
        const read = readSync(descriptor, this.#buffer, kept, CHUNK_BYTES, null);
        if (read === 0) return false;
        const end = kept + read;
        if (this.#prefilter.test(this.#buffer.toString("latin1", 0, end))) return true;
        kept = Math.min(end, this.#overlap);
        this.#buffer.copyWithin(0, end - kept, end);
        if (slicer.due) await slicer.turn();
      }
    } finally {
      closeSync(descriptor);
    }
  }
}
