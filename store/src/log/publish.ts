/**
 * First publication of a file: under its name there is either nothing or the whole content, durable, and what had the
 * name before is never replaced. A temporary file is written and synced, linked to the name, and its own name removed.
 */
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { StoreError } from "../errors";
import { errnoName } from "../platform/errno";
import { type FileSystem } from "../platform/fs";
import { writeFully } from "../platform/whole-file";

/** What the name of a file begins with that was being published when its writer died. */
export const UNPUBLISHED_PREFIX = ".new-";

/** Where link is not supported (exFAT, some network shares) the file is created under its name at once. */
const NO_LINKS = ["ENOTSUP", "EOPNOTSUPP", "EPERM", "ENOSYS", "EMLINK"];

/** Publishes a file exclusively; `already-exists` when the name is taken. The folder's names are durable on return. */
export async function publishExclusively(fs: FileSystem, path: string, bytes: Uint8Array): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `${UNPUBLISHED_PREFIX}${randomUUID()}`);
  await writeNew(fs, temporary, bytes);
  try {
    await fs.link(temporary, path);
  } catch (error) {
    await discard(fs, temporary);
    const reason = errnoName(error);
    if (reason === "EEXIST") throw new StoreError("already-exists", { cause: error });
    if (reason === undefined || !NO_LINKS.includes(reason)) throw error;
    await writeNew(fs, path, bytes);
    await fs.syncDirectory(folder);
    return;
  }
  // The order matters to a reader: it refuses to write to a file with two names.
  await fs.unlink(temporary);
  await fs.syncDirectory(folder);
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
async function discard(fs: FileSystem, path: string): Promise<void> {
  try {
    await fs.unlink(path);
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
  }
}
