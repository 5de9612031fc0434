/** An open log as readers see it: its bytes up to a size, and the revision that identifies them. */
import { constants, type BigIntStats } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { StoreError } from "../errors";
import { asStoreError, errnoName } from "../platform/errno";

/** What changes whenever the file does: `dev:ino:size:mtimeNs:ctimeNs`. Opaque to callers. */
export type Revision = string;

export function revisionOf(stats: BigIntStats): Revision {
  return [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(":");
}

/** The parts of a file handle that reading needs. */
export interface ReadableFile {
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
}

/**
 * Opens a log for reading. Links are followed, because a log may be reached through one; what is reached must be a
 * plain file, and a FIFO never blocks. Throws a typed error with the path; `location-gone` when it does not exist.
 */
export async function openLog(path: string): Promise<{ file: FileHandle; stats: BigIntStats }> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw asStoreError(error, { location: path }, "open the log");
  }
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) {
      throw new StoreError("unsafe-path", { location: path, message: "What is named like a log is no plain file." });
    }
    return { file, stats };
  } catch (error) {
    await file.close();
    throw asStoreError(error, { location: path }, "examine the log");
  }
}

/** What an open log is now; a typed error with its path when the system does not say. */
export async function statOpen(
  file: { stat(options: { bigint: true }): Promise<BigIntStats> },
  path: string,
): Promise<BigIntStats> {
  try {
    return await file.stat({ bigint: true });
  } catch (error) {
    throw asStoreError(error, { location: path }, "examine the log");
  }
}

/** Runs a body with an open log and closes it, whatever happens. */
export async function withLog<T>(path: string, body: (file: FileHandle, stats: BigIntStats) => Promise<T>): Promise<T> {
  const { file, stats } = await openLog(path);
  try {
    return await body(file, stats);
  } finally {
    await file.close();
  }
}

/** Reads exactly `length` bytes at `position`. A file that has become shorter is `event-log-changed`. */
export async function readFully(
  file: ReadableFile,
  buffer: Uint8Array,
  offset: number,
  length: number,
  position: number,
): Promise<void> {
  let done = 0;
  while (done < length) {
    const { bytesRead } = await readOnce(file, buffer, offset + done, length - done, position + done);
    if (bytesRead === 0) {
      throw new StoreError("event-log-changed", {
        offset: position + done,
        message: "The log became shorter while it was read.",
      });
    }
    done += bytesRead;
  }
}

async function readOnce(
  file: ReadableFile,
  buffer: Uint8Array,
  offset: number,
  length: number,
  position: number,
): Promise<{ bytesRead: number }> {
  try {
    return await file.read(buffer, offset, length, position);
  } catch (error) {
    throw asStoreError(error, { offset: position }, "read the log");
  }
}

/** True for an error that says that a path is not there. */
export function isAbsent(error: unknown): boolean {
  const name = errnoName(error);
  return name === "ENOENT" || name === "ENOTDIR" || name === "ENAMETOOLONG";
}
