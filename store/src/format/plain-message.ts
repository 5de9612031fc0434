/** The fast way through the commonest record: a message of plain text, checked in full without being parsed. */
import { COUNT, ID, MAX_PLAIN_BYTES, PARENT_ID, SOME_STRING, STRING, TIME } from "./plain-parts";
import { type Entry, type MessageEntry, type SessionHeader } from "./schema";

/** As much of a message as an index needs. */
export type PlainMessage = Pick<MessageEntry, "type" | "id" | "parentId">;

const MS = `"timestamp":${COUNT}`;
const CONTENT = `"content":\\[(?:\\{"type":"text","text":${STRING}\\})?\\]`;
const PROVENANCE = `(?:,"api":${SOME_STRING},"provider":${SOME_STRING},"model":${SOME_STRING})?`;

/**
 * A user or assistant message of plain text as writers spell it, which is most of most logs. What matches has been
 * checked in full: it is strict JSON without a duplicate key or a `\u` escape, and every member is what the schema
 * asks for. What does not match is parsed.
 */
const PLAIN_MESSAGE = new RegExp(
  `^\\{"type":"message","id":"${ID}","parentId":${PARENT_ID},"timestamp":"${TIME}","message":` +
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

/** The message of plain text that a line is; null when the line has to be parsed to be judged. */
export function readPlainMessage(line: string): PlainMessage | null {
  if (!PLAIN_MESSAGE.test(line)) return null;
  const idEnd = line.indexOf('"', ID_START);
  const parentStart = idEnd + BETWEEN_IDS.length;
  const id = line.slice(ID_START, idEnd);
  const parentId =
    line.charAt(parentStart - 1) === '"' ? line.slice(parentStart, line.indexOf('"', parentStart)) : null;
  return { type: "message", id, parentId };
}
