/** Event-log backend, Durability: a session's first batch. Its log appears whole and synced, or not at all. */
import { type BigIntStats } from "node:fs";
import { StoreError } from "../errors";
import { asStoreError } from "../platform/errno";
import { type FileSystem } from "../platform/fs";
import { at } from "./errors";
import { encodeNewLog } from "./encode";
import { LogAppender, type LogEnd } from "./log-appender";
import { logPath, projectDirectory, sessionDirectory } from "./paths";
import { type SessionLogContext } from "./session-context";
import { statLog, type SessionLease } from "./session-lease";
import { type EventLogHeader, type LogEvent } from "./types";
import { createSynced, removeQuietly, temporaryName, writeFully } from "./write-file";

/**
 * Publishes a new log under its lease, which stays held, and opens its end. Throws `already-exists`, and leaves alone
 * what is there, when the name is taken.
 */
export async function publishNewLog(
  context: SessionLogContext,
  lease: SessionLease,
  header: EventLogHeader,
  events: readonly LogEvent[],
): Promise<{ path: string; appender: LogAppender }> {
  const { root, encoding, publication, fs } = context;
  const { id, cwd } = header;
  await context.assertRootEncoding();
  const path = logPath(root, cwd, id, encoding.compression);
  const directory = sessionDirectory(root, cwd, id);
  await publication.ensureDirectories([root, projectDirectory(root, cwd), directory]);
  await refuseExisting(fs, path, id);
  try {
    await lease.take(directory);
  } catch (error) {
    await refuseExisting(fs, path, id);
    throw error;
  }
  try {
    const bytes = encodeNewLog(header, events, encoding);
    const temporary = temporaryName(path);
    await createSynced(fs, temporary, (file) => writeFully(file, bytes, 0));
    try {
      await publication.publish(temporary, path);
    } catch (error) {
      await removeQuietly(fs, temporary);
      throw error;
    }
    const end = endOf(await statLog(fs, path, id));
    return { path, appender: await LogAppender.open(fs, path, { ...end, size: bytes.length }) };
  } catch (error) {
    lease.drop();
    throw at(alreadyThere(error, path, id), path);
  }
}

async function refuseExisting(fs: FileSystem, path: string, id: string): Promise<void> {
  try {
    await fs.lstat(path);
  } catch (error) {
    const failure = asStoreError(error, { location: path }, "look for the log");
    if (failure.code === "location-gone") return;
    throw failure;
  }
  throw alreadyThere(new StoreError("already-exists"), path, id);
}

function alreadyThere(error: unknown, path: string, id: string): unknown {
  if (!(error instanceof StoreError) || error.code !== "already-exists") return error;
  return new StoreError("already-exists", {
    sessionId: id,
    location: path,
    message: `refusing to materialize "${id}": a log already exists on disk (load/resume it instead)`,
    cause: error,
  });
}

/** What an appender expects of a file that it is about to continue. */
export function endOf(stats: BigIntStats): LogEnd {
  return { dev: stats.dev, ino: stats.ino, size: Number(stats.size) };
}
