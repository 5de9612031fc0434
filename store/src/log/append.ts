/**
 * The one way by which records enter a log: Session file format, "Native writes". Queue and lock, then what is on disk
 * is looked at again, then the batch is checked against it, encoded, written in one go and synced, and only then do the
 * index and the caller learn of it.
 */
import { isoTime, type Clock } from "../clock";
import { StoreError } from "../errors";
import { encodeRecord } from "../format/codec";
import { MAX_BATCH_BYTES, MAX_BATCH_RECORDS } from "../format/names";
import { type Entry, type EntryInput } from "../format/schema";
import { type LockGuard, type SessionLock } from "../lock/session-lock";
import { asStoreError } from "../platform/errno";
import { type OpenFile } from "../platform/fs";
import { type LogHandle } from "./log-handle";
import { normalize } from "./normalize";
import { readEntries } from "./read-entries";
import { isSameContent } from "./record-equality";
import { appendProblem } from "./relations";
import { type LogIndex } from "./log-index";
import { StagedIndex } from "./staged-index";
import { appendBytes, UnknownOutcome } from "./write-bytes";

/** A log that can be appended to: the hold on the file, and what is known of its content. */
export interface LogTarget {
  readonly handle: LogHandle;
  readonly log: LogIndex;
}

export interface AppendContext {
  readonly clock: Clock;
  newId(): string;
  readonly lock: SessionLock;
}

export interface AppendOptions {
  /**
   * Parent of the first entry that names none; each later one that names none follows the entry before it. Left out, the
   * default leaf is taken, as it is under the lock.
   */
  parentId?: string | null;
  signal?: AbortSignal;
}

export interface AppendResult {
  /** The committed entries in the order asked for, those that were there already included. */
  readonly committed: Entry[];
  /** How many of them were written by this call. */
  readonly wrote: number;
}

/** So often is an append begun anew when its lock was taken over before anything was written. */
const MAX_LOST_LOCKS = 3;

/** An entry ready to be compared or written, and which members were not the caller's. */
interface Draft {
  readonly input: EntryInput;
  readonly id: string;
  readonly timestamp: string;
}

/**
 * Appends a batch of at most 256 records and 4 MiB; on return it is durable. An entry whose id is there with the same
 * content is not written again; with other content it is a `conflict` and nothing of the batch is written. When this
 * throws anything but `outcome-unknown`, the log holds what it held before. After a crash a prefix of the batch may be
 * there: a retry with the same ids writes the rest.
 */
export async function appendEntries(
  target: LogTarget,
  inputs: readonly EntryInput[],
  context: AppendContext,
  options: AppendOptions = {},
): Promise<AppendResult> {
  const { handle } = target;
  options.signal?.throwIfAborted();
  handle.assertUsable();
  const drafts = draftsOf(target, inputs, context);
  const lockTarget = { ...handle.directory.identity, location: handle.directory.path };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await context.lock.withLock(
        lockTarget,
        options.signal === undefined ? {} : { signal: options.signal },
        (guard) => appendDrafts(target, drafts, guard, options),
      );
    } catch (error) {
      const lost = error instanceof StoreError && error.code === "lock-lost";
      if (!lost || attempt === MAX_LOST_LOCKS) throw error;
    }
  }
}

function draftsOf({ handle }: LogTarget, inputs: readonly EntryInput[], context: AppendContext): Draft[] {
  if (inputs.length > MAX_BATCH_RECORDS) throw new StoreError("batch-too-large", handle.place);
  const timestamp = isoTime(context.clock.now());
  return inputs.map((input) => {
    const normal = normalize(input);
    return { input: normal, id: normal.id ?? context.newId(), timestamp: normal.timestamp ?? timestamp };
  });
}

/** What a batch looks like against the log: which of it is there already, and which is to be written. */
interface Plan {
  readonly committed: Entry[];
  readonly added: { readonly entry: Entry; readonly bytes: Buffer }[];
}

/** The same for a caller that holds the lock of the session already. */
export async function appendUnderLock(
  target: LogTarget,
  inputs: readonly EntryInput[],
  context: AppendContext,
  guard: LockGuard,
): Promise<AppendResult> {
  return appendDrafts(target, draftsOf(target, inputs, context), guard, {});
}

async function appendDrafts(
  target: LogTarget,
  drafts: readonly Draft[],
  guard: LockGuard,
  options: AppendOptions,
): Promise<AppendResult> {
  const { handle, log } = target;
  const file = await refresh(target);
  const { committed, added } = await plan(target, file, drafts, options.parentId);
  if (added.length === 0) return { committed, wrote: 0 };
  const bytes = Buffer.concat(added.map((record) => record.bytes));
  if (bytes.length > MAX_BATCH_BYTES) throw new StoreError("batch-too-large", handle.place);
  options.signal?.throwIfAborted();
  guard.assertHeld();
  const modifiedNs = await writeOrPoison(handle, file, log.size, bytes);
  log.appended(added, modifiedNs);
  return { committed, wrote: added.length };
}

/** Looks at the file as it is now, takes up what others wrote, and refuses a log that is not valid. */
export async function refresh({ handle, log }: LogTarget): Promise<OpenFile> {
  const { file, stat } = await handle.appendable();
  try {
    await log.extendTo(file, stat);
  } catch (error) {
    const typed = asStoreError(error, handle.place, "read the log");
    if (typed.code === "log-replaced" || typed.code === "log-shrank") await handle.revoke();
    throw typed;
  }
  if (log.verdict !== "valid") throw new StoreError("session-not-authoritative", handle.place);
  return file;
}

async function plan(
  { handle, log }: LogTarget,
  file: OpenFile,
  drafts: readonly Draft[],
  parentId: string | null | undefined,
): Promise<Plan> {
  const staged = new StagedIndex(log.entries);
  const facts = log.facts.stage();
  const result: Plan = { committed: [], added: [] };
  let previous = parentId;
  for (const draft of drafts) {
    const entry = complete(draft, previous === undefined ? staged.lastId : previous);
    const known =
      staged.staged(entry.id) ?? (log.entries.has(entry.id) ? await readEntry(log, file, entry.id) : undefined);
    if (known === undefined) {
      const problem = appendProblem(staged, facts, entry);
      if (problem !== undefined) throw new StoreError(problem.code, { ...handle.place, message: problem.message });
      result.added.push({ entry, bytes: encodeRecord(entry) });
      staged.add(entry);
      facts.observe(entry);
    } else if (!isSameContent(known, entry, filledIn(draft, previous))) {
      throw new StoreError("conflict", handle.place);
    }
    result.committed.push(known ?? entry);
    previous = entry.id;
  }
  return result;
}

/** The envelope comes first, in the order that the format shows. */
function complete(draft: Draft, defaultParentId: string | null): Entry {
  const { id, timestamp, input } = draft;
  const parentId = input.parentId === undefined ? defaultParentId : input.parentId;
  const envelope = { type: input.type, id, parentId, timestamp };
  return { ...envelope, ...input, id, parentId, timestamp };
}

/** What the caller left to the store, so that it is no part of the content that a retry repeats. */
function filledIn(draft: Draft, parentId: string | null | undefined): ReadonlySet<"parentId" | "timestamp"> {
  const members = new Set<"parentId" | "timestamp">();
  if (draft.input.timestamp === undefined) members.add("timestamp");
  if (draft.input.parentId === undefined && parentId === undefined) members.add("parentId");
  return members;
}

async function readEntry(log: LogIndex, file: OpenFile, id: string): Promise<Entry | undefined> {
  const position = log.entries.positionOf(id);
  return position === -1 ? undefined : (await readEntries(file, log.entries, [position]))[0];
}

async function writeOrPoison(handle: LogHandle, file: OpenFile, offset: number, bytes: Buffer): Promise<bigint> {
  try {
    return await appendBytes(file, offset, bytes, handle.place);
  } catch (error) {
    if (!(error instanceof UnknownOutcome)) throw error;
    await handle.poison();
    throw error.error;
  }
}
