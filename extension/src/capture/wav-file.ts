import { fstatSync, fsyncSync, ftruncateSync, writeSync } from "node:fs";
import { BYTES_PER_FRAME, DATA_OFFSET, SAMPLE_RATE } from "./protocol";

/** The 44 bytes before the samples of a 24 kHz mono PCM16 WAV. */
export function wavHeader(dataBytes: number): Buffer {
  const header = Buffer.alloc(DATA_OFFSET);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(DATA_OFFSET - 8 + dataBytes, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(SAMPLE_RATE * BYTES_PER_FRAME, 28);
  header.writeUInt16LE(BYTES_PER_FRAME, 32);
  header.writeUInt16LE(BYTES_PER_FRAME * 8, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

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
