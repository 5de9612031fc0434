import { type BigIntStats } from "node:fs";
import { StoreError } from "../errors";
import { asStoreError, errnoName } from "./errno";
import { type FileSystem } from "./fs";

/** What makes a file or folder the same one: an inode number alone is reused at once, with its time of birth it is not. */
export interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly birthtimeNs: bigint;
}

export function identityOf(stat: BigIntStats): FileIdentity {
  return { dev: stat.dev, ino: stat.ino, birthtimeNs: stat.birthtimeNs };
}

export function sameIdentity(a: FileIdentity, b: FileIdentity): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.birthtimeNs === b.birthtimeNs;
}

/** A folder as it was when its handle was made: its canonical path and its identity. */
export interface PinnedDirectory {
  readonly path: string;
  readonly identity: FileIdentity;
}

/** Pins an existing folder. A symbolic link, a file or a device in its place is refused. */
export async function pinDirectory(fs: FileSystem, path: string): Promise<PinnedDirectory> {
  if (path.includes("\0")) throw new StoreError("unsafe-path", { message: "The path holds a NUL character." });
  try {
    const stat = await fs.lstat(path);
    if (!stat.isDirectory()) throw new StoreError("unsafe-path", { location: path });
    return { path, identity: identityOf(stat) };
  } catch (error) {
    throw asStoreError(error, { location: path }, "look at the folder");
  }
}

/** Throws `handle-revoked` unless the path still leads to the very folder that was pinned. */
export async function assertPinned(fs: FileSystem, pinned: PinnedDirectory): Promise<void> {
  let stat: BigIntStats;
  try {
    stat = await fs.lstat(pinned.path);
  } catch (error) {
    if (errnoName(error) === "ENOENT") throw new StoreError("handle-revoked", { location: pinned.path });
    throw asStoreError(error, { location: pinned.path }, "look at the folder");
  }
  if (!stat.isDirectory() || !sameIdentity(identityOf(stat), pinned.identity)) {
    throw new StoreError("handle-revoked", { location: pinned.path });
  }
}
