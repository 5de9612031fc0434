/**
 * Confirmed deletion of a whole session: Session file format, "Native writes, assets and recovery". Under the locks the
 * folder is renamed out of discovery, which is the one step that decides; its content is removed afterwards, and what a
 * crash or an error leaves is removed by the next deletion in the same root.
 */
import { randomUUID } from "node:crypto";
import { basename, dirname, join, resolve } from "node:path";
import { StoreError } from "../errors";
import { asStoreError, errnoName } from "../platform/errno";
import { type FileSystem } from "../platform/fs";
import { assertPinned, pinDirectory, type PinnedDirectory } from "../platform/pinned-directory";
import { withoutLiveCapture } from "./capture-locks";
import { LOG_NAME } from "./log-name";
import { defaultStoreContext, type StoreContext } from "./store-context";

/** Where sessions wait for their removal: in their root, so on the same volume, under a name that discovery skips. */
export const STAGING_NAME = ".persyk-deleted";

const MAX_STAGING_ATTEMPTS = 5;

export interface DeleteReport {
  /** False when content is left in the staging folder; the next deletion in the root, or `finishDeletions`, goes on. */
  readonly removed: boolean;
}

/**
 * Deletes a session folder. Refuses without confirmation (`not-confirmed`), while a recording runs (`capture-live`), and
 * what is not a session folder (`not-found`, `unsafe-path`). Symbolic links are removed, never followed.
 */
export async function deleteSession(
  location: string,
  context: StoreContext = defaultStoreContext(),
  options: { confirmed: boolean; signal?: AbortSignal },
): Promise<DeleteReport> {
  if (!options.confirmed) throw new StoreError("not-confirmed", { location });
  const { fs } = context;
  const session = await pinSession(fs, location);
  const root = dirname(session.path);
  await withoutLiveCapture(fs, context.captureLock, session, () =>
    context.lock.withLock(
      { ...session.identity, location: session.path },
      options.signal === undefined ? {} : { signal: options.signal },
      async (guard) => {
        await assertPinned(fs, session);
        guard.assertHeld();
        await stage(fs, root, session);
      },
    ),
  );
  return { removed: await finishDeletions(root, context) };
}

async function pinSession(fs: FileSystem, location: string): Promise<PinnedDirectory> {
  const absolute = resolve(location);
  try {
    // Through the canonical root, but not through the last component: that one is checked not to be a link.
    const folder = await pinDirectory(fs, join(await fs.realpath(dirname(absolute)), basename(absolute)));
    const log = await fs.lstat(join(folder.path, LOG_NAME));
    if (!log.isFile()) throw new StoreError("unsafe-path", { location });
    return folder;
  } catch (error) {
    const typed = asStoreError(error, { location }, "look at the session");
    throw typed.code === "location-gone" ? new StoreError("not-found", { location, cause: error }) : typed;
  }
}

async function stage(fs: FileSystem, root: string, session: PinnedDirectory): Promise<void> {
  const staging = join(root, STAGING_NAME);
  try {
    await moveInto(fs, staging, session.path);
    await fs.syncDirectory(root);
    await fs.syncDirectory(staging);
  } catch (error) {
    throw asStoreError(error, { location: session.path }, "move the session out of the way");
  }
}

/** Another process that finishes its own deletion may remove the empty staging folder at any moment. */
async function moveInto(fs: FileSystem, staging: string, path: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await makeStaging(fs, staging);
    try {
      return await fs.rename(path, join(staging, randomUUID()));
    } catch (error) {
      if (errnoName(error) !== "ENOENT" || attempt === MAX_STAGING_ATTEMPTS) throw error;
    }
  }
}

async function makeStaging(fs: FileSystem, staging: string): Promise<void> {
  try {
    await fs.mkdir(staging);
  } catch (error) {
    if (errnoName(error) !== "EEXIST") throw error;
    // A link or a file in its place would send the session somewhere else.
    if (!(await fs.lstat(staging)).isDirectory()) throw new StoreError("unsafe-path", { location: staging });
  }
}

/** Removes what earlier deletions in a root have left. True when nothing is left. */
export async function finishDeletions(root: string, context: StoreContext = defaultStoreContext()): Promise<boolean> {
  const { fs } = context;
  const staging = join(root, STAGING_NAME);
  try {
    await removeTree(fs, staging);
    return true;
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return false;
  }
}

/** Removes a folder and everything in it. A symbolic link is removed itself; what it leads to is not looked at. */
async function removeTree(fs: FileSystem, path: string): Promise<void> {
  try {
    const stat = await fs.lstat(path);
    if (!stat.isDirectory()) {
      await fs.unlink(path);
      return;
    }
    for (const child of await fs.readdir(path)) await removeTree(fs, join(path, child.name));
    await fs.rmdir(path);
  } catch (error) {
    // Another process may be finishing the same deletion.
    if (errnoName(error) !== "ENOENT") throw error;
  }
}
