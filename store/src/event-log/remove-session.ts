import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { asStoreError, errnoName } from "../platform/errno";
import { type FileSystem } from "../platform/fs";
import { type Publication } from "./publication";

/** Removes the folder of a log, and its project folder when nothing else is in it. To be called under the lease. */
export async function removeSession(fs: FileSystem, publication: Publication, path: string): Promise<void> {
  const directory = dirname(path);
  // The log goes first, in one step: readers see a session or none, never half of one.
  const gone = join(directory, `deleted-${randomBytes(6).toString("hex")}`);
  try {
    await fs.rename(path, gone);
    await publication.syncDirectory(directory);
    await rm(directory, { recursive: true, force: true });
    await publication.syncDirectory(dirname(directory));
  } catch (error) {
    throw asStoreError(error, { location: path }, "delete the session");
  }
  await removeIfEmpty(fs, dirname(directory));
}

async function removeIfEmpty(fs: FileSystem, project: string): Promise<void> {
  try {
    await fs.rmdir(project);
  } catch (error) {
    // Other sessions are in it; or another process has just removed it.
    const name = errnoName(error);
    if (name === "ENOTEMPTY" || name === "EEXIST" || name === "ENOENT") return;
    throw asStoreError(error, { location: project }, "remove the empty project folder");
  }
}
