/** Records that are known to be sound from their spelling alone. */
import { MAX_PLAIN_BYTES } from "./plain-parts";
import { type PlainEvent, readPlainEvent } from "./plain-event";
import { type PlainMessage, readPlainMessage } from "./plain-message";
import { type Entry } from "./schema";

/** As much of such a record as an index needs. */
export type PlainRecord = PlainMessage | PlainEvent;

/** An entry as an index takes it up: most need not be parsed for that. */
export type IndexedEntry = Exclude<Entry, { type: PlainRecord["type"] }> | PlainRecord;

/** Where the id begins in a line. */
const ID_STARTS: Readonly<Record<PlainRecord["type"], number>> = {
  message: '{"type":"message","id":"'.length,
  realtime_event: '{"type":"realtime_event","id":"'.length,
};

/**
 * The plain record from `start` to `end`, without its LF; null when it has to be parsed to be judged. The bytes are known
 * to be UTF-8.
 */
export function readPlainRecord(bytes: Buffer, start: number, end: number): PlainRecord | null {
  if (end - start > MAX_PLAIN_BYTES) return null;
  const line = bytes.toString("latin1", start, end);
  const record = readPlainMessage(line) ?? readPlainEvent(line);
  if (record === null) return null;
  // A part of a string keeps the whole of it in memory; what an index keeps is a string of its own.
  const idStart = start + ID_STARTS[record.type];
  return { ...record, id: bytes.toString("latin1", idStart, idStart + record.id.length) };
}
