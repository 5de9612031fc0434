/**
 * The writing side's hold on one log: which file it is, whether it may still be used, and the descriptor for appending,
 * which stays open between appends.
 */
import { type BigIntStats } from "node:fs";
import { join } from "node:path";
import { StoreError, type ErrorPlace } from "../errors";
import { cleanUp } from "../platform/clean-up";
import { asStoreError, errnoName } from "../platform/errno";
import { type FileSystem, type OpenFile } from "../platform/fs";
import {
  assertPinned,
  identityOf,
  sameIdentity,
  type FileIdentity,
  type PinnedDirectory,
} from "../platform/pinned-directory";
import { isDataless } from "../platform/whole-file";
import { UNPUBLISHED_PREFIX } from "./publish";

/**
 * - `usable`: appends are accepted.
 * - `poisoned`: a write or sync failed and what is in the file is not certain. Open the session again.
 * - `revoked`: the session was deleted, closed or replaced.
 */
export type HandleState = "usable" | "poisoned" | "revoked";

export class LogHandle {
  readonly directory: PinnedDirectory;
  readonly identity: FileIdentity;
  readonly place: ErrorPlace;
  readonly #fs: FileSystem;
  readonly #path: string;
  #state: HandleState = "usable";
  #file: OpenFile | undefined;

  constructor(fs: FileSystem, directory: PinnedDirectory, logName: string, identity: FileIdentity, sessionId?: string) {
    this.#fs = fs;
    this.directory = directory;
    this.identity = identity;
    this.#path = join(directory.path, logName);
    this.place = { location: directory.path, ...(sessionId === undefined ? {} : { sessionId }) };
  }

  get state(): HandleState {
    return this.#state;
  }

  assertUsable(): void {
    if (this.#state === "poisoned") throw new StoreError("handle-poisoned", this.place);
    if (this.#state === "revoked") throw new StoreError("handle-revoked", this.place);
  }

  /**
   * The descriptor for appending and what the system says about it now. The path must still lead to this very file, a
   * regular one with one name in the pinned folder: whoever swapped it does not get our records.
   */
  async appendable(): Promise<{ file: OpenFile; stat: BigIntStats }> {
    this.assertUsable();
    try {
      await assertPinned(this.#fs, this.directory);
      const named = await this.#named();
      this.#file ??= await this.#fs.open(this.#path, "append");
      const stat = await this.#file.stat({ bigint: true });
      if (!sameIdentity(identityOf(stat), identityOf(named))) throw new StoreError("log-replaced", this.place);
      if (isDataless(stat)) throw new StoreError("unavailable", this.place);
      return { file: this.#file, stat };
    } catch (error) {
      await this.#closeFile();
      const typed = asStoreError(error, this.place, "open the log for writing");
      if (typed.code === "handle-revoked" || typed.code === "log-replaced") this.#state = "revoked";
      throw typed;
    }
  }

  async #named(): Promise<BigIntStats> {
    const stat = await this.#lstatLog();
    if (!stat.isFile()) throw new StoreError("unsafe-path", this.place);
    if (!sameIdentity(identityOf(stat), this.identity)) throw new StoreError("log-replaced", this.place);
    if (stat.nlink === 1n) return stat;
    await this.#removeUnpublishedName();
    const again = await this.#lstatLog();
    if (again.nlink !== 1n) throw new StoreError("unsafe-path", { ...this.place, message: "The log has two names." });
    return again;
  }

  async #lstatLog(): Promise<BigIntStats> {
    try {
      return await this.#fs.lstat(this.#path);
    } catch (error) {
      if (errnoName(error) === "ENOENT") throw new StoreError("handle-revoked", this.place);
      throw error;
    }
  }

  /** A creator that died between publishing the log and removing its temporary name left that name behind. */
  async #removeUnpublishedName(): Promise<void> {
    for (const child of await this.#fs.readdir(this.directory.path)) {
      if (!child.name.startsWith(UNPUBLISHED_PREFIX)) continue;
      const path = join(this.directory.path, child.name);
      const stat = await this.#fs.lstat(path);
      if (stat.isFile() && sameIdentity(identityOf(stat), this.identity)) await this.#fs.unlink(path);
    }
  }

  /** What is in the file is not certain any more. */
  async poison(): Promise<void> {
    if (this.#state === "usable") this.#state = "poisoned";
    await this.#closeFile();
  }

  async revoke(): Promise<void> {
    this.#state = "revoked";
    await this.#closeFile();
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    // The bytes that were acknowledged are synced; a late error of closing says nothing about them.
    if (file !== undefined) await cleanUp(() => file.close());
  }
}
