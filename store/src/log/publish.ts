/**
 * First publication of a file: under its name there is either nothing or the whole content, durable, and what had the
 * name before is never replaced. A temporary file is written and synced, linked to the name, and its own name removed.
 */
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { StoreError } from "../errors";
import { cleanUp } from "../platform/clean-up";
import { errnoName } from "../platform/errno";
import { type FileSystem } from "../platform/fs";
import { writeFully } from "../platform/whole-file";

/** What the name of a file begins with that was being published when its writer died. */
export const UNPUBLISHED_PREFIX = ".new-";

/** What the file systems answer that have no hard links: exFAT, some network shares. */
const NO_LINKS = ["ENOTSUP", "EOPNOTSUPP", "EPERM", "ENOSYS", "EMLINK"];

/** Publishes a file exclusively; `already-exists` when the name is taken. The folder's names are durable on return. */
export async function publishExclusively(fs: FileSystem, path: string, bytes: Uint8Array): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `${UNPUBLISHED_PREFIX}${randomUUID()}`);
  await writeNew(fs, temporary, bytes);
  try {
    await giveName(fs, temporary, path);
  } catch (error) {
    await discard(fs, temporary);
    if (errnoName(error) === "EEXIST") throw new StoreError("already-exists", { cause: error });
    throw error;
  }
  await fs.syncDirectory(folder);
}

async function giveName(fs: FileSystem, temporary: string, path: string): Promise<void> {
  try {
    await fs.link(temporary, path);
  } catch (error) {
    const reason = errnoName(error);
    if (reason === undefined || !NO_LINKS.includes(reason)) throw error;
    // A rename would replace what has the name, so it is looked for first. Whoever publishes holds the session's lock or
    // has just made the folder.
    if (await exists(fs, path)) throw new StoreError("already-exists", { cause: error });
    await fs.rename(temporary, path);
    return;
  }
  // A writer refuses a log with two names, so the first one goes before anything else happens.
  await fs.unlink(temporary);
}

async function exists(fs: FileSystem, path: string): Promise<boolean> {
  try {
    await fs.lstat(path);
    return true;
  } catch (error) {
    if (errnoName(error) !== "ENOENT") throw error;
    return false;
  }
}

async function writeNew(fs: FileSystem, path: string, bytes: Uint8Array): Promise<void> {
  const file = await fs.open(path, "create");
  try {
    try {
      await writeFully(file, bytes, 0);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    await discard(fs, path);
    throw error;
  }
}

/** Removes a file that was never published. Failing at that leaves an unused file; the first error is the one to report. */
function discard(fs: FileSystem, path: string): Promise<void> {
  return cleanUp(() => fs.unlink(path));
}
