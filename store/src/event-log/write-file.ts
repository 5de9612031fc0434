/** Writing new files of a session directory: whole, synced, and removed again when that fails. */
import { createHash, randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { StoreError } from "../errors";
import { asStoreError, errnoName } from "../platform/errno";
import { type FileSystem, type OpenFile } from "../platform/fs";
import { readFully, type ReadableFile } from "./log-file";
import { type Publication } from "./publication";

const COPY_BYTES = 1024 * 1024;

/** A name beside a log for the time until it is published. */
export function temporaryName(target: string): string {
  return `${target}.${randomBytes(6).toString("hex")}.tmp`;
}

/** True for a name that `temporaryName`, here or in the reference, has made for a log. */
export function isTemporaryName(name: string): boolean {
  return /^session\.jsonl(?:\.zstd)?\.[0-9a-f]{12}\.tmp$/.test(name);
}

/** Writes all bytes; a short write is a full disk that the system has not said so yet. */
export async function writeFully(file: OpenFile, bytes: Uint8Array, position: number | null): Promise<void> {
  const { bytesWritten } = await file.write(bytes, 0, bytes.length, position);
  if (bytesWritten !== bytes.length) {
    throw new StoreError("disk-full", { message: `Only ${bytesWritten} of ${bytes.length} bytes could be written.` });
  }
}

/** Creates a file with the given content and syncs it. Nothing is left behind when that fails. */
export async function createSynced(
  fs: FileSystem,
  path: string,
  write: (file: OpenFile) => Promise<void>,
): Promise<void> {
  let file: OpenFile;
  try {
    file = await fs.open(path, "create");
  } catch (error) {
    throw asStoreError(error, { location: path }, "create the file");
  }
  try {
    try {
      await write(file);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    await removeQuietly(fs, path);
    throw asStoreError(error, { location: path }, "write the file");
  }
}

/** Copies a range of one file to the end of another. */
export async function copyRange(from: ReadableFile, start: number, end: number, to: OpenFile, at = 0): Promise<void> {
  const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(COPY_BYTES, end - start)));
  for (let position = start; position < end;) {
    const length = Math.min(buffer.length, end - position);
    await readFully(from, buffer, 0, length, position);
    await writeFully(to, buffer.subarray(0, length), at + position - start);
    position += length;
  }
}

/**
 * Keeps bytes that are about to be cut off a log in a file beside it, which readers of logs ignore. The name follows
 * from the bytes, so that doing it again after a crash makes no second copy. Returns the path.
 */
export async function keepCut(
  fs: FileSystem,
  publication: Publication,
  log: string,
  file: ReadableFile,
  start: number,
  end: number,
): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(COPY_BYTES, end - start)));
  for (let position = start; position < end;) {
    const length = Math.min(buffer.length, end - position);
    await readFully(file, buffer, 0, length, position);
    hash.update(buffer.subarray(0, length));
    position += length;
  }
  const path = join(dirname(log), `session.cut-${start}-${hash.digest("hex").slice(0, 16)}.bin`);
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  await createSynced(fs, temporary, (copy) => copyRange(file, start, end, copy));
  try {
    await fs.rename(temporary, path);
  } catch (error) {
    await removeQuietly(fs, temporary);
    throw asStoreError(error, { location: path }, "keep what is cut off");
  }
  await publication.syncDirectory(dirname(path));
  return path;
}

/** Removes a file of ours whose content is of no use; that it cannot be removed changes nothing. */
export async function removeQuietly(fs: FileSystem, path: string): Promise<void> {
  try {
    await fs.unlink(path);
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
  }
}
