/**
 * Explicit recovery of one session: Session file format, "Native writes, assets and recovery". A torn tail is completed
 * or kept beside the log and cut off; recordings whose writer died get their sizes and an entry that says so. Every step
 * is durable before the next begins, so a recovery that is cut short is finished by running it again.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { StoreError } from "../errors";
import { parseEntry } from "../format/codec";
import { type EntryInput } from "../format/schema";
import { type LockGuard } from "../lock/session-lock";
import { appendUnderLock } from "../log/append";
import { type LogFacts } from "../log/facts";
import { LogHandle } from "../log/log-handle";
import { type LogIndex } from "../log/log-index";
import { publishExclusively } from "../log/publish";
import { scanLog } from "../log/scan";
import { type Recoverable } from "../log/verdict";
import { appendBytes, UnknownOutcome } from "../log/write-bytes";
import { asStoreError } from "../platform/errno";
import { type FileSystem, type OpenFile } from "../platform/fs";
import { assertPinned, identityOf, sameIdentity, type PinnedDirectory } from "../platform/pinned-directory";
import { readFully } from "../platform/whole-file";
import { withoutLiveCapture } from "./capture-locks";
import { LOG_NAME } from "./log-name";
import { interruptedRecordings, recoverRecording, type RecordingRecovery } from "./recover-recording";
import { type StoreContext } from "./store-context";

export type { RecordingRecovery } from "./recover-recording";

export interface RecoverOptions {
  /** Say what would be done and change nothing. */
  dryRun?: boolean;
  signal?: AbortSignal;
}

export interface RecoverReport {
  readonly action: "none" | "add-newline" | "truncate-fragment";
  /** Where the torn fragment is kept, beside the log. */
  readonly kept: string | null;
  /** Size of the log. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** The recordings that had not ended. */
  readonly recordings: readonly RecordingRecovery[];
}

/**
 * Recovers a session. `capture-live` while a recording runs; `recovery-refused` for damage that is not a torn tail;
 * `unavailable` for a file whose content is not here, which is never taken for a torn one.
 */
export async function recoverSession(
  session: PinnedDirectory,
  context: StoreContext,
  options: RecoverOptions = {},
): Promise<RecoverReport> {
  const wait = options.signal === undefined ? {} : { signal: options.signal };
  return withoutLiveCapture(context.fs, context.captureLock, session, () =>
    context.lock.withLock({ ...session.identity, location: session.path }, wait, async (guard) => {
      try {
        return await recoverUnderLocks(session, context, guard, options);
      } catch (error) {
        if (error instanceof UnknownOutcome) throw error.error;
        throw asStoreError(error, { location: session.path }, "recover the session");
      }
    }),
  );
}

async function recoverUnderLocks(
  session: PinnedDirectory,
  context: StoreContext,
  guard: LockGuard,
  options: RecoverOptions,
): Promise<RecoverReport> {
  const { fs } = context;
  await assertPinned(fs, session);
  const before = await scan(fs, session, options);
  if (before.verdict !== "valid" && before.verdict !== "tail-pending") {
    throw new StoreError("recovery-refused", { location: session.path });
  }
  const action = before.recoverable === "no" ? "none" : before.recoverable;
  if (options.dryRun === true) return dryRun(session, context, before, action);
  const kept = await recoverTail(session, context, before, guard);
  const log = action === "none" ? before : await scan(fs, session, options);
  if (log.verdict !== "valid") throw new StoreError("recovery-refused", { location: session.path });
  const handle = new LogHandle(fs, session, LOG_NAME, log.identity, log.header?.id);
  const recordings: RecordingRecovery[] = [];
  try {
    for (const recording of interruptedRecordings(log.facts)) {
      const recovery = await recoverRecording(fs, session, recording, { dryRun: false });
      recordings.push(recovery);
      await appendUnderLock({ handle, log }, [interruption(recovery)], context, guard);
    }
  } finally {
    await handle.revoke();
  }
  return { action, kept, bytesBefore: before.size, bytesAfter: log.size, recordings };
}

async function scan(fs: FileSystem, session: PinnedDirectory, options: RecoverOptions): Promise<LogIndex> {
  return withLog(fs, session, "read", (file) =>
    scanLog(file, options.signal === undefined ? {} : { signal: options.signal }),
  );
}

async function withLog<T>(
  fs: FileSystem,
  session: PinnedDirectory,
  mode: "read" | "append",
  use: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const file = await fs.open(join(session.path, LOG_NAME), mode);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

/** Completes or cuts off the tail. Answers where the fragment is kept. */
async function recoverTail(
  session: PinnedDirectory,
  { fs }: StoreContext,
  log: LogIndex,
  guard: LockGuard,
): Promise<string | null> {
  if (log.recoverable === "no") return null;
  return withLog(fs, session, "append", async (file) => {
    await assertAsScanned(file, log);
    guard.assertHeld();
    if (log.recoverable === "add-newline") {
      await appendBytes(file, log.size, Buffer.from("\n"), { location: session.path });
      return null;
    }
    const kept = await keepFragment(fs, session, file, log);
    await assertAsScanned(file, log);
    await file.truncate(log.committedBytes);
    await file.sync();
    return kept;
  });
}

/** The file whose end is about to be changed is the one that was judged, with nothing behind what was judged. */
async function assertAsScanned(file: OpenFile, log: LogIndex): Promise<void> {
  const stat = await file.stat({ bigint: true });
  if (!stat.isFile() || !sameIdentity(identityOf(stat), log.identity)) throw new StoreError("log-replaced");
  if (Number(stat.size) !== log.size || stat.mtimeNs !== log.modifiedNs) throw new StoreError("log-replaced");
}

/** Writes the fragment to a file of its own, named by its place and digest. There already means kept already. */
async function keepFragment(fs: FileSystem, session: PinnedDirectory, file: OpenFile, log: LogIndex): Promise<string> {
  const fragment = await readFully(file, log.committedBytes, log.size - log.committedBytes);
  const path = join(session.path, fragmentName(log.committedBytes, fragment));
  try {
    await publishExclusively(fs, path, fragment);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "already-exists") throw error;
    await assertKept(fs, path, fragment);
    await fs.syncDirectory(session.path);
  }
  return path;
}

function fragmentName(offset: number, fragment: Buffer): string {
  return `${LOG_NAME}.fragment-${offset}-${createHash("sha256").update(fragment).digest("hex")}`;
}

async function assertKept(fs: FileSystem, path: string, fragment: Buffer): Promise<void> {
  const file = await fs.open(path, "read");
  try {
    const { size } = await file.stat({ bigint: true });
    const same = Number(size) === fragment.length && (await readFully(file, 0, fragment.length)).equals(fragment);
    if (!same) throw new StoreError("already-exists", { location: path });
    await file.sync();
  } finally {
    await file.close();
  }
}

/** How an interruption is told; the length of what was saved where that is known. */
function interruption(recovery: RecordingRecovery): EntryInput {
  const { recordingId, durationMs } = recovery;
  const reason = recovery.reason === null ? "unexpected-end" : `unexpected-end: ${recovery.reason}`;
  return { type: "recording.interrupted", recordingId, reason, ...(durationMs === null ? {} : { durationMs }) };
}

async function dryRun(
  session: PinnedDirectory,
  { fs }: StoreContext,
  log: LogIndex,
  action: RecoverReport["action"],
): Promise<RecoverReport> {
  const facts = action === "add-newline" ? await factsWithTail(fs, session, log) : log.facts;
  const recordings: RecordingRecovery[] = [];
  for (const recording of interruptedRecordings(facts)) {
    recordings.push(await recoverRecording(fs, session, recording, { dryRun: true }));
  }
  const bytesAfter = sizeAfter(log, action);
  return { action, kept: null, bytesBefore: log.size, bytesAfter, recordings };
}

/** The last record counts once its newline is there; it may be the end of a recording. */
async function factsWithTail(fs: FileSystem, session: PinnedDirectory, log: LogIndex): Promise<LogFacts> {
  const tail = await withLog(fs, session, "read", (file) =>
    readFully(file, log.committedBytes, log.size - log.committedBytes),
  );
  const parsed = parseEntry(tail);
  if (parsed.ok) log.facts.observe(parsed.value);
  return log.facts;
}

function sizeAfter(log: LogIndex, action: Recoverable | "none"): number {
  if (action === "add-newline") return log.size + 1;
  return action === "truncate-fragment" ? log.committedBytes : log.size;
}
