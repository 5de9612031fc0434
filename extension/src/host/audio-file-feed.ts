import { type FileHandle, open } from "node:fs/promises";
import { DATA_OFFSET } from "../capture/protocol";
import { type AudioFeed } from "../provider/evidence";

/** The samples of a capture as they are announced, read back from its file. Keeps no sound in memory. */
export class AudioFileFeed implements AudioFeed {
  #available = 0;
  #complete = false;
  #file: Promise<FileHandle> | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(private readonly path: string) {}

  get availableBytes(): number {
    return this.#available;
  }

  get isComplete(): boolean {
    return this.#complete;
  }

  /** Samples up to here are in the file. */
  announce(bytes: number): void {
    this.#available = Math.max(this.#available, bytes - (bytes % 2));
    this.#tell();
  }

  complete(): void {
    this.#complete = true;
    this.#tell();
  }

  async read(start: number, end: number): Promise<Buffer> {
    this.#file ??= open(this.path, "r");
    const file = await this.#file;
    const samples = Buffer.alloc(end - start);
    for (let done = 0; done < samples.length;) {
      const { bytesRead } = await file.read(samples, done, samples.length - done, DATA_OFFSET + start + done);
      if (bytesRead === 0) throw new Error("The recording is shorter than was announced.");
      done += bytesRead;
    }
    return samples;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    const file = await this.#file?.catch(() => undefined);
    await file?.close();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
