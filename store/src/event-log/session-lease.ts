/** The lease of one session, taken at most once and given back at will. */
import { type BigIntStats } from "node:fs";
import { asStoreError } from "../platform/errno";
import { type FileSystem } from "../platform/fs";
import { acquireLease, type LeaseOptions } from "./lease";

export class SessionLease {
  readonly #sessionId: string;
  readonly #fs: FileSystem;
  readonly #options: LeaseOptions;
  #release: (() => void) | undefined;

  constructor(sessionId: string, fs: FileSystem, options: LeaseOptions) {
    this.#sessionId = sessionId;
    this.#fs = fs;
    this.#options = options;
  }

  get isHeld(): boolean {
    return this.#release !== undefined;
  }

  /** Takes the lease of a session directory unless it is held already. `lock-busy` when somebody else keeps it. */
  async take(directory: string): Promise<void> {
    if (this.#release !== undefined) return;
    const { dev, ino } = await statLog(this.#fs, directory, this.#sessionId);
    this.#release = await acquireLease({ dev, ino, location: directory }, this.#options);
  }

  drop(): void {
    this.#release?.();
    this.#release = undefined;
  }
}

/** What is at a path of a session; a typed error with the path when nothing is. */
export async function statLog(fs: FileSystem, path: string, sessionId: string): Promise<BigIntStats> {
  try {
    return await fs.lstat(path);
  } catch (error) {
    throw asStoreError(error, { location: path, sessionId }, "look at the log");
  }
}
