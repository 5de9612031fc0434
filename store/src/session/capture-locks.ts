import { join } from "node:path";
import { StoreError } from "../errors";
import { assetFolder } from "../assets/asset-path";
import { type CaptureLock, type HeldCaptureLock } from "../lock/capture-lock";
import { asStoreError, errnoName } from "../platform/errno";
import { type FileSystem } from "../platform/fs";
import { assertPinned, type PinnedDirectory } from "../platform/pinned-directory";

/**
 * Runs a body while nobody can be recording into the session: the capture locks of all its WAV files are held. `capture-live`
 * when one is taken. Asset locks come before the session lock, here and everywhere, so that no two wait for each other.
 */
export async function withoutLiveCapture<T>(
  fs: FileSystem,
  lock: CaptureLock,
  session: PinnedDirectory,
  body: () => Promise<T>,
): Promise<T> {
  const held: HeldCaptureLock[] = [];
  try {
    for (const name of await wavFiles(fs, session)) {
      const taken = await acquire(lock, join(assetFolder(session), name));
      if (taken === "live") throw new StoreError("capture-live", { location: session.path });
      if (taken !== "gone") held.push(taken);
    }
    return await body();
  } finally {
    for (const one of held) await one.release();
  }
}

async function acquire(lock: CaptureLock, path: string): Promise<HeldCaptureLock | "live" | "gone"> {
  try {
    return (await lock.tryAcquire(path)) ?? "live";
  } catch (error) {
    if (error instanceof StoreError && error.code === "location-gone") return "gone";
    throw error;
  }
}

async function wavFiles(fs: FileSystem, session: PinnedDirectory): Promise<string[]> {
  await assertPinned(fs, session);
  try {
    const folder = await fs.lstat(assetFolder(session));
    // A symbolic link in the place of the folder leads to files of somebody else, whose locks are not ours to take.
    if (!folder.isDirectory()) return [];
    const children = await fs.readdir(assetFolder(session));
    return children.filter((child) => child.isFile() && /\.wav$/i.test(child.name)).map((child) => child.name);
  } catch (error) {
    if (errnoName(error) === "ENOENT") return [];
    throw asStoreError(error, { location: session.path }, "list the assets");
  }
}
