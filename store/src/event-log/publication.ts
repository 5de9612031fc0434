/**
 * How a new log gets its name, for good and without overwriting: Event-log backend, Durability. The platforms differ in
 * what makes a name durable, so this is a seam.
 */
import { dirname } from "node:path";
import { StoreError } from "../errors";
import { asStoreError, errnoName } from "../platform/errno";
import { type FileSystem } from "../platform/fs";
import { isAbsent } from "./log-file";

export interface Publication {
  /** Creates the directories that are missing, outermost first, each durable before the next. */
  ensureDirectories(directories: readonly string[]): Promise<void>;
  /** Gives a written and synced file its final name; `already-exists` when the name is taken. Removes the old name. */
  publish(temporary: string, target: string): Promise<void>;
  /** Makes the names in a directory durable, as far as the platform can. */
  syncDirectory(directory: string): Promise<void>;
}

/** The one for this platform. */
export function platformPublication(fs: FileSystem, platform: NodeJS.Platform = process.platform): Publication {
  return platform === "win32" ? new WindowsPublication(fs) : new PosixPublication(fs);
}

/** A hard link never overwrites; syncing the directory makes it durable. */
class PosixPublication implements Publication {
  readonly #fs: FileSystem;
  /** Directories whose own names this process has made durable. */
  readonly #durable = new Set<string>();

  constructor(fs: FileSystem) {
    this.#fs = fs;
  }

  async ensureDirectories(directories: readonly string[]): Promise<void> {
    for (const directory of directories) await this.#ensure(directory);
  }

  async #ensure(directory: string): Promise<void> {
    if (this.#durable.has(directory) && (await isDirectory(this.#fs, directory))) return;
    const parent = dirname(directory);
    if (!(await isDirectory(this.#fs, directory))) {
      if (parent !== directory && !(await isDirectory(this.#fs, parent))) await this.#ensure(parent);
      await makeDirectory(this.#fs, directory);
    }
    // A directory that was there may have been made by somebody who died before syncing its name.
    await this.syncDirectory(parent);
    this.#durable.add(directory);
  }

  async publish(temporary: string, target: string): Promise<void> {
    await linkExclusively(this.#fs, temporary, target);
    await this.syncDirectory(dirname(target));
    await removeTemporary(this.#fs, temporary);
  }

  async syncDirectory(directory: string): Promise<void> {
    try {
      await this.#fs.syncDirectory(directory);
    } catch (error) {
      throw asStoreError(error, { location: directory }, "make the new name durable");
    }
  }
}

/**
 * Windows without a native module. The reference moves files with MoveFileExW and its write-through flag; Node can call
 * neither. `link` (CreateHardLinkW) gives the same promise not to overwrite. For durability the file is flushed once
 * more under its new name, which makes NTFS write its metadata log; unlike the write-through flag that is a property
 * of NTFS and not of the call, and the names of new directories are as durable as NTFS makes them by itself.
 * See docs/event-logs.md.
 */
export class WindowsPublication implements Publication {
  readonly #fs: FileSystem;

  constructor(fs: FileSystem) {
    this.#fs = fs;
  }

  async ensureDirectories(directories: readonly string[]): Promise<void> {
    for (const directory of directories) await this.#ensure(directory);
  }

  async #ensure(directory: string): Promise<void> {
    if (await isDirectory(this.#fs, directory)) return;
    const parent = dirname(directory);
    if (parent !== directory) await this.#ensure(parent);
    await makeDirectory(this.#fs, directory);
  }

  async publish(temporary: string, target: string): Promise<void> {
    await linkExclusively(this.#fs, temporary, target);
    try {
      const file = await this.#fs.open(target, "update");
      try {
        await file.sync();
      } finally {
        await file.close();
      }
    } catch (error) {
      throw asStoreError(error, { location: target }, "make the new name durable");
    }
    await removeTemporary(this.#fs, temporary);
  }

  async syncDirectory(_directory: string): Promise<void> {
    // Windows has no call for it that Node offers; see the class comment.
  }
}

/** A link to a directory is not followed: what is written through one cannot be found by listing. */
async function isDirectory(fs: FileSystem, path: string): Promise<boolean> {
  try {
    const stats = await fs.lstat(path);
    if (stats.isDirectory()) return true;
  } catch (error) {
    if (errnoName(error) === "ENOENT") return false;
    throw asStoreError(error, { location: path }, "look at the directory");
  }
  // The way to the root may lead over links; below it, only the last component can be one.
  throw new StoreError("unsafe-path", { location: path, message: "There is something else than a directory." });
}

async function makeDirectory(fs: FileSystem, path: string): Promise<void> {
  try {
    await fs.mkdir(path);
  } catch (error) {
    if (errnoName(error) === "EEXIST" && (await isDirectory(fs, path))) return;
    throw asStoreError(error, { location: path }, "make the directory");
  }
}

async function linkExclusively(fs: FileSystem, temporary: string, target: string): Promise<void> {
  try {
    await fs.link(temporary, target);
  } catch (error) {
    if (errnoName(error) === "EEXIST") {
      throw new StoreError("already-exists", {
        location: target,
        message: "A log already exists there.",
        cause: error,
      });
    }
    throw asStoreError(error, { location: target }, "publish the log");
  }
}

/** The file is published by now: a name that stays behind is litter, not a failure, and is removed by a later repair. */
async function removeTemporary(fs: FileSystem, temporary: string): Promise<void> {
  try {
    await fs.unlink(temporary);
  } catch (error) {
    if (errnoName(error) === undefined && !isAbsent(error)) throw error;
  }
}
