import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { StoreError } from "../errors";
import { cleanUp } from "../platform/clean-up";
import { asStoreError, errnoName } from "../platform/errno";
import { type FileSystem, type OpenFile } from "../platform/fs";
import { assertPinned, type PinnedDirectory } from "../platform/pinned-directory";
import { writeFully } from "../platform/whole-file";
import { type AvailableAsset } from "../format/schema";
import { assertAssetFolder, assertConfined, assetFolder, assetPathOf } from "./asset-path";

/** A new, empty asset. The descriptor may be handed to a child process; close the handle when that has started. */
export interface AssetFile {
  readonly reference: AvailableAsset;
  readonly handle: OpenFile;
  /** Where the file is on disk, for a reader of announced ranges in this program. */
  readonly path: string;
}

/**
 * Creates an asset exclusively, mode 0600, readable and writable, its name durable. Never truncates what is there:
 * `already-exists` then (Session file format, Native writes).
 */
export async function createAsset(
  fs: FileSystem,
  session: PinnedDirectory,
  name: string,
  mimeType: string,
): Promise<AssetFile> {
  const reference: AvailableAsset = { status: "available", path: assetPathOf(name), mimeType };
  const place = { location: session.path };
  try {
    await ensureAssetFolder(fs, session);
    const path = join(assetFolder(session), name);
    const handle = await fs.open(path, "create");
    try {
      await assertConfined(fs, session, path, handle);
      await fs.syncDirectory(assetFolder(session));
    } catch (error) {
      await handle.close();
      throw error;
    }
    return { reference, handle, path };
  } catch (error) {
    if (errnoName(error) === "EEXIST") throw new StoreError("already-exists", { ...place, cause: error });
    throw asStoreError(error, place, "create the asset");
  }
}

/** Sessions whose `assets` folder this process has made durable, or seen durable, already. */
const durableFolders = new WeakSet<PinnedDirectory>();

async function ensureAssetFolder(fs: FileSystem, session: PinnedDirectory): Promise<void> {
  // Looked at every time: a link that took its place meanwhile would have the file created somewhere else.
  if (durableFolders.has(session)) return assertAssetFolder(fs, session);
  await assertPinned(fs, session);
  try {
    await fs.mkdir(assetFolder(session));
  } catch (error) {
    if (errnoName(error) !== "EEXIST") throw error;
  }
  await assertAssetFolder(fs, session);
  // Also when the folder was there: whoever made it may have died before its name was durable.
  await fs.syncDirectory(session.path);
  durableFolders.add(session);
}

/**
 * Stores protocol bytes as their own asset. The bytes and the name are durable before the reference exists, so an entry
 * that carries the reference never points at bytes that a power cut can take (Session file format, Realtime retention).
 */
export async function writeProtocolAsset(
  fs: FileSystem,
  session: PinnedDirectory,
  bytes: Uint8Array,
  options: { mimeType: string; encoding?: string },
): Promise<AvailableAsset> {
  const asset = await createAsset(fs, session, `protocol-${randomUUID()}.bin`, options.mimeType);
  try {
    try {
      await writeFully(asset.handle, bytes, 0);
      await asset.handle.sync();
    } finally {
      await asset.handle.close();
    }
  } catch (error) {
    // No reference was given out, so the partial file is nobody's. What remains if this fails too is only unused space.
    await cleanUp(() => fs.unlink(asset.path));
    throw asStoreError(error, { location: session.path }, "write the asset");
  }
  return {
    ...asset.reference,
    ...(options.encoding === undefined ? {} : { encoding: options.encoding }),
    sha256: createHash("sha256").update(bytes).digest("hex"),
  };
}
