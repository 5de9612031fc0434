import { fstatSync, fsyncSync, ftruncateSync, writeSync } from "node:fs";
// The format alone: a capture starts without the rest of the store.
import { wavHeader } from "@persyk/store/wav-format";
import { DATA_OFFSET } from "./protocol";

/** The WAV that a capture writes, on a descriptor it was given. Samples first, then the header that claims them. */
export class WavFile {
  #dataBytes = 0;

  constructor(private readonly fd: number) {}

  get dataBytes(): number {
    return this.#dataBytes;
  }

  /** A regular, empty file with one name: what the store hands over. */
  isPristine(): boolean {
    const stat = fstatSync(this.fd);
    return stat.isFile() && stat.size === 0 && stat.nlink === 1;
  }

  append(samples: Buffer): void {
    try {
      writeAll(this.fd, samples, DATA_OFFSET + this.#dataBytes);
    } catch (error) {
      // A full disk takes a part of the samples: nobody was told of it, so it does not stay.
      ftruncateSync(this.fd, DATA_OFFSET + this.#dataBytes);
      throw error;
    }
    this.#dataBytes += samples.length;
  }

  /** Makes the samples durable, then the header. */
  checkpoint(): void {
    fsyncSync(this.fd);
    writeAll(this.fd, wavHeader(this.#dataBytes), 0);
    fsyncSync(this.fd);
  }
}

function writeAll(fd: number, bytes: Buffer, at: number): void {
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done, bytes.length - done, at + done);
}
