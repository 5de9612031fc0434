/**
 * The physical append: bytes at the end of a log, durable, or the log as it was, or a handle that admits to not knowing.
 * Runs under the session lock only (Session file format, Native writes).
 */
import { StoreError, type ErrorPlace } from "../errors";
import { asStoreError, codeOfSystemError, errnoName } from "../platform/errno";
import { type OpenFile } from "../platform/fs";
import { readFully, writeFully } from "../platform/whole-file";

/** The bytes may or may not be durable, or part of them may be in the file: the handle must not be used again. */
export class UnknownOutcome extends Error {
  override readonly name = "UnknownOutcome";
  readonly error: StoreError;

  constructor(error: StoreError) {
    super(error.message);
    this.error = error;
  }
}

/**
 * Appends bytes to a file opened for appending whose size was seen to be `offset`, and syncs them.
 *
 * Throws a StoreError when the file is byte for byte what it was before, and UnknownOutcome when that is not certain. A
 * failed sync is never retried: the system may have dropped the pages and would then confirm what is not there. Answers
 * the modification time of the file with the bytes in it, in nanoseconds.
 */
export async function appendBytes(
  file: OpenFile,
  offset: number,
  bytes: Uint8Array,
  place: ErrorPlace,
): Promise<bigint> {
  let modifiedNs: bigint;
  try {
    await writeFully(file, bytes, null);
    modifiedNs = await assertWritten(file, offset, bytes, place);
  } catch (error) {
    if (error instanceof UnknownOutcome) throw error;
    throw await rolledBack(file, offset, bytes.length, asStoreError(error, place, "write to the log"));
  }
  try {
    await file.sync();
  } catch (error) {
    await takeBackUnsynced(file, offset, bytes.length);
    throw unknown(error, place, "The disk did not confirm the write");
  }
  return modifiedNs;
}

/** Somebody who ignores locks may have appended at the same moment; then our bytes are where we meant them or nowhere. */
async function assertWritten(file: OpenFile, offset: number, bytes: Uint8Array, place: ErrorPlace): Promise<bigint> {
  const stat = await file.stat({ bigint: true });
  const size = Number(stat.size);
  if (size === offset + bytes.length) return stat.mtimeNs;
  const found = size < offset + bytes.length ? undefined : await readFully(file, offset, bytes.length);
  if (found === undefined || !found.equals(bytes)) {
    throw new UnknownOutcome(
      new StoreError("outcome-unknown", { ...place, offset, message: "Another program wrote to the log meanwhile." }),
    );
  }
  return stat.mtimeNs;
}

/** Cuts a failed write off again. The lock is held, and only our own bytes may be behind the offset. */
async function rolledBack(
  file: OpenFile,
  offset: number,
  length: number,
  failure: StoreError,
): Promise<StoreError | UnknownOutcome> {
  try {
    const size = Number((await file.stat({ bigint: true })).size);
    if (size === offset) return failure;
    if (size < offset || size > offset + length) {
      return new UnknownOutcome(new StoreError("outcome-unknown", { ...failure.place, cause: failure }));
    }
    await file.truncate(offset);
    await file.sync();
    return failure;
  } catch (error) {
    return unknown(error, failure.place, `${failure.message} It could not be undone either`);
  }
}

/**
 * After a failed sync the bytes are cut off without a sync, so that a retry with the same ids writes them anew instead of
 * finding bytes that may exist in memory only. Whether this works or not, the outcome stays unknown.
 */
async function takeBackUnsynced(file: OpenFile, offset: number, length: number): Promise<void> {
  try {
    const size = Number((await file.stat({ bigint: true })).size);
    if (size === offset + length) await file.truncate(offset);
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
  }
}

function unknown(cause: unknown, place: ErrorPlace, what: string): UnknownOutcome {
  const reason = errnoName(cause) ?? codeOfSystemError(cause);
  const error = new StoreError("outcome-unknown", { ...place, message: `${what} (${reason}).`, cause });
  return new UnknownOutcome(error);
}
