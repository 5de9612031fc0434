import { join } from "node:path";
import { isoTime } from "../clock";
import { StoreError } from "../errors";
import { encodeRecord } from "../format/codec";
import { isId } from "../format/ids";
import { type SessionHeader } from "../format/schema";
import { publishExclusively } from "../log/publish";
import { cleanUp } from "../platform/clean-up";
import { asStoreError, errnoName } from "../platform/errno";
import { type FileSystem } from "../platform/fs";
import { LOG_NAME } from "./log-name";
import { openSession, type Session } from "./session";
import { defaultStoreContext, type StoreContext } from "./store-context";

export interface CreateSessionOptions {
  /** A new collision-resistant id by default. */
  id?: string;
  signal?: AbortSignal;
}

/**
 * Creates a session folder with a durable header in an existing root folder and opens it. The header is on stable
 * storage, under its name, before this returns; an existing folder of that name is `already-exists` and untouched.
 */
export async function createSession(
  root: string,
  context: StoreContext = defaultStoreContext(),
  options: CreateSessionOptions = {},
): Promise<Session> {
  options.signal?.throwIfAborted();
  const id = options.id ?? context.newId();
  if (!isId(id)) throw new StoreError("usage", { message: "A session id must match the session format." });
  const header: SessionHeader = { type: "session", version: 1, id, timestamp: isoTime(context.clock.now()) };
  const location = await publishSession(context.fs, root, id, encodeRecord(header));
  return openSession(location, context);
}

async function publishSession(fs: FileSystem, root: string, id: string, header: Buffer): Promise<string> {
  try {
    const canonicalRoot = await fs.realpath(root);
    const location = join(canonicalRoot, id);
    await fs.mkdir(location);
    try {
      await publishExclusively(fs, join(location, LOG_NAME), header);
      await fs.syncDirectory(canonicalRoot);
    } catch (error) {
      await withdraw(fs, location);
      throw error;
    }
    return location;
  } catch (error) {
    if (errnoName(error) === "EEXIST") throw new StoreError("already-exists", { location: join(root, id) });
    throw asStoreError(error, { sessionId: id }, "create the session");
  }
}

/** Takes back a session that nobody was told of. What cannot be removed is an empty or header-only session. */
async function withdraw(fs: FileSystem, location: string): Promise<void> {
  await cleanUp(() => fs.unlink(join(location, LOG_NAME)));
  await cleanUp(() => fs.rmdir(location));
}
