/** The fast way through the commonest record: a message of plain text, checked in full without being parsed. */
import { type Entry, type MessageEntry, type SessionHeader } from "./schema";

/** As much of a message as an index needs. */
export type PlainMessage = Pick<MessageEntry, "type" | "id" | "parentId">;

/** An entry as an index takes it up: messages need not be parsed for that. */
export type IndexedEntry = Exclude<Entry, MessageEntry> | PlainMessage;

/** Longer lines are parsed: as strings they would cost the system new memory each. */
const MAX_PLAIN_BYTES = 64 * 1024;

const ID = "[A-Za-z0-9][A-Za-z0-9._-]{0,127}";
/** Days that every month has; other dates are checked the long way. */
const TIME = "\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?Z";
/** Written as runs between escapes, which is what an engine of expressions reads fastest. */
const STRING = '"[^"\\\\\\x00-\\x1f]*(?:\\\\["\\\\/bfnrt][^"\\\\\\x00-\\x1f]*)*"';
const SOME_STRING = '"[^"\\\\\\x00-\\x1f]+"';
const MS = '"timestamp":(?:0|[1-9]\\d{0,14})';
const CONTENT = `"content":\\[(?:\\{"type":"text","text":${STRING}\\})?\\]`;
const PROVENANCE = `(?:,"api":${SOME_STRING},"provider":${SOME_STRING},"model":${SOME_STRING})?`;

/**
 * A user or assistant message of plain text as writers spell it, which is most of most logs. What matches has been
 * checked in full: it is strict JSON without a duplicate key or a `\u` escape, and every member is what the schema
 * asks for. What does not match is parsed.
 */
const PLAIN_MESSAGE = new RegExp(
  `^\\{"type":"message","id":"${ID}","parentId":(?:null|"${ID}"),"timestamp":"${TIME}","message":` +
    `\\{"role":"(?:user|assistant)",(?:${MS},${CONTENT}|${CONTENT},${MS})${PROVENANCE}\\}\\}$`,
);

/** Deeper than any plain message. */
const MAX_PLAIN_DEPTH = 4;

/**
 * The line of a record, without its LF, when the record is a message of plain text; null when it has to be checked
 * member by member.
 */
export function plainMessageLine(record: SessionHeader | Entry): string | null {
  if (record.type !== "message" || !isPlainData(record, 0)) return null;
  const line = JSON.stringify(record);
  return line.length <= MAX_PLAIN_BYTES && PLAIN_MESSAGE.test(line) ? line : null;
}

/** Plain objects and lists of strings, numbers and null: what JSON writes of such data is all that is in it. */
function isPlainData(value: unknown, depth: number): boolean {
  if (typeof value === "string" || value === null || Number.isFinite(value)) return true;
  if (typeof value !== "object" || depth >= MAX_PLAIN_DEPTH || "toJSON" in value) return false;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return false;
  return Object.values(value).every((member) => member === undefined || isPlainData(member, depth + 1));
}

const ID_START = '{"type":"message","id":"'.length;
/** From the end of the id to the beginning of a parent's id. */
const BETWEEN_IDS = '","parentId":"';

/**
 * The message of plain text that a record from `start` to `end`, without its LF, is; null when the record has to be
 * parsed to be judged. The bytes are known to be UTF-8.
 */
export function readPlainMessage(bytes: Buffer, start: number, end: number): PlainMessage | null {
  if (end - start > MAX_PLAIN_BYTES) return null;
  const line = bytes.toString("latin1", start, end);
  if (!PLAIN_MESSAGE.test(line)) return null;
  const idEnd = line.indexOf('"', ID_START);
  const parentStart = idEnd + BETWEEN_IDS.length;
  const id = line.slice(ID_START, idEnd);
  const parentId =
    line.charAt(parentStart - 1) === '"' ? line.slice(parentStart, line.indexOf('"', parentStart)) : null;
  return { type: "message", id, parentId };
}
