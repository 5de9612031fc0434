import { join } from "node:path";
import { StoreError } from "../errors";
import { assertPinned, identityOf, sameIdentity, type PinnedDirectory } from "../platform/pinned-directory";
import { asStoreError, errnoName } from "../platform/errno";
import { type FileSystem, type OpenFile } from "../platform/fs";
import { isDataless } from "../platform/whole-file";

/** One component of plain characters: no separator, no leading dot, nothing that another system reads differently. */
const ASSET_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/;
const FOLDER = "assets";

export function isAssetName(name: string): boolean {
  return ASSET_NAME.test(name);
}

/** The name in a confined `assets/<name>` path; anything else is `unsafe-path` (Session file format, Version 1 contract). */
export function assetNameOf(path: string): string {
  const [folder, name, ...rest] = path.split("/");
  if (folder !== FOLDER || name === undefined || rest.length > 0 || !isAssetName(name)) {
    throw new StoreError("unsafe-path", { message: "An asset path must be assets/<name> with a plain name." });
  }
  return name;
}

export function assetPathOf(name: string): string {
  if (!isAssetName(name)) throw new StoreError("unsafe-path", { message: "An asset name must be plain." });
  return `${FOLDER}/${name}`;
}

export function assetFolder(session: PinnedDirectory): string {
  return join(session.path, FOLDER);
}

/** Where an asset is on disk. Checks the shape of the path only. */
export function resolveAssetPath(session: PinnedDirectory, path: string): string {
  return join(assetFolder(session), assetNameOf(path));
}

/**
 * Opens an existing asset without leaving the session: the session folder is the pinned one, `assets` is a real folder,
 * the asset is a regular file, and after opening all of that is looked at again, so that nothing was swapped meanwhile.
 */
export async function openConfined(
  fs: FileSystem,
  session: PinnedDirectory,
  name: string,
  mode: "read" | "update",
): Promise<OpenFile> {
  const place = { location: session.path };
  const path = join(assetFolder(session), name);
  await assertAssetFolder(fs, session);
  let file: OpenFile;
  try {
    file = await fs.open(path, mode);
  } catch (error) {
    if (errnoName(error) === "ENOENT") throw new StoreError("asset-missing", place);
    throw asStoreError(error, place, "open the asset");
  }
  try {
    await assertConfined(fs, session, path, file);
    const stat = await file.stat({ bigint: true });
    if (isDataless(stat)) throw new StoreError("unavailable", place);
    if (mode === "update" && stat.nlink !== 1n) throw new StoreError("unsafe-path", place);
    return file;
  } catch (error) {
    await file.close();
    throw asStoreError(error, place, "look at the asset");
  }
}

/** Throws unless `assets` is a real folder of the pinned session. */
export async function assertAssetFolder(fs: FileSystem, session: PinnedDirectory): Promise<void> {
  const place = { location: session.path };
  await assertPinned(fs, session);
  try {
    const stat = await fs.lstat(assetFolder(session));
    if (!stat.isDirectory()) throw new StoreError("unsafe-path", place);
  } catch (error) {
    if (errnoName(error) === "ENOENT") throw new StoreError("asset-missing", place);
    throw asStoreError(error, place, "look at the asset folder");
  }
}

/** Throws unless an open file is the regular file that its path inside the session leads to. */
export async function assertConfined(
  fs: FileSystem,
  session: PinnedDirectory,
  path: string,
  file: OpenFile,
): Promise<void> {
  const opened = await file.stat({ bigint: true });
  if (!opened.isFile()) throw new StoreError("unsafe-path", { location: session.path });
  await assertAssetFolder(fs, session);
  const named = await fs.lstat(path);
  if (!sameIdentity(identityOf(opened), identityOf(named))) {
    throw new StoreError("unsafe-path", { location: session.path });
  }
}
