/** Event-log backend, Durability ("Append-only"): the end of one log, kept open by its writer. */
import { StoreError } from "../errors";
import { asStoreError } from "../platform/errno";
import { type FileSystem, type OpenFile } from "../platform/fs";
import { at } from "./errors";
import { statOpen } from "./log-file";
import { writeFully } from "./write-file";

/** What a writer knows of its file: nothing is written when the file is another one or has another end. */
export interface LogEnd {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: number;
}

export class LogAppender {
  readonly #path: string;
  readonly #file: OpenFile;
  #end: LogEnd;
  /** Set once a failed write could not be taken back. */
  #poison: unknown;

  private constructor(path: string, file: OpenFile, end: LogEnd) {
    this.#path = path;
    this.#file = file;
    this.#end = end;
  }

  /** Opens a log whose end is known. `event-log-changed` when it is another file or has another size. */
  static async open(fs: FileSystem, path: string, end: LogEnd): Promise<LogAppender> {
    let file: OpenFile;
    try {
      file = await fs.open(path, "append");
    } catch (error) {
      throw asStoreError(error, { location: path }, "open the log for appending");
    }
    const appender = new LogAppender(path, file, end);
    try {
      await appender.#check();
      return appender;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get end(): LogEnd {
    return this.#end;
  }

  get file(): OpenFile {
    return this.#file;
  }

  get isPoisoned(): boolean {
    return this.#poison !== undefined;
  }

  /**
   * Appends bytes and returns once they are durable. When that fails they are taken back and the file is as before;
   * when even that fails, the appender is poisoned: `handle-poisoned`, now and for every later call.
   */
  async append(bytes: Uint8Array): Promise<void> {
    await this.#check();
    const { size } = this.#end;
    try {
      await writeFully(this.#file, bytes, null);
      await this.#file.sync();
    } catch (error) {
      await this.#rollBack(size, bytes.length, error);
      throw at(asStoreError(error, { location: this.#path }, "append to the log"), this.#path);
    }
    this.#end = { ...this.#end, size: size + bytes.length };
    await this.#assertAlone();
  }

  /** Cuts the log to a smaller size, durably. What is cut must have been kept before. */
  async truncate(size: number): Promise<void> {
    await this.#check();
    try {
      await this.#file.truncate(size);
      await this.#file.sync();
    } catch (error) {
      this.#poison = error;
      throw asStoreError(error, { location: this.#path }, "cut the log");
    }
    this.#end = { ...this.#end, size };
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #check(): Promise<void> {
    if (this.#poison !== undefined) {
      throw new StoreError("handle-poisoned", { location: this.#path, cause: this.#poison });
    }
    const stats = await statOpen(this.#file, this.#path);
    const { dev, ino, size } = this.#end;
    const changed = (message: string): never => {
      throw new StoreError("event-log-changed", { location: this.#path, message });
    };
    if (!stats.isFile()) throw new StoreError("unsafe-path", { location: this.#path });
    if (stats.dev !== dev || stats.ino !== ino) changed("The log was replaced by another file.");
    if (stats.nlink === 0n) changed("The log was deleted or replaced.");
    if (Number(stats.size) !== size) changed(`The log has ${stats.size} bytes where ${size} were expected.`);
  }

  /** Somebody without the lease may have appended at the same moment; then nobody can say what the log holds now. */
  async #assertAlone(): Promise<void> {
    try {
      const stats = await statOpen(this.#file, this.#path);
      if (Number(stats.size) === this.#end.size) return;
      this.#poison = new Error("another writer appended at the same time");
    } catch (error) {
      this.#poison = error;
    }
    throw new StoreError("outcome-unknown", {
      location: this.#path,
      message:
        this.#poison instanceof StoreError
          ? "The log was written, but could not be looked at again."
          : "Another program appended at the same time.",
      remedy: "Load the session again; its log is then validated anew.",
      cause: this.#poison,
    });
  }

  async #rollBack(size: number, written: number, reason: unknown): Promise<void> {
    try {
      const stats = await this.#file.stat({ bigint: true });
      const now = Number(stats.size);
      if (now === size) return;
      if (now < size || now > size + written) throw new Error(`the log has ${now} bytes now`);
      await this.#file.truncate(size);
      await this.#file.sync();
    } catch (rollbackError) {
      this.#poison = new AggregateError([reason, rollbackError], "failed to roll back an append");
      throw new StoreError("handle-poisoned", { location: this.#path, cause: this.#poison });
    }
  }
}
