import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { parseEntry, parseHeader, reparseEntry } from "../format/codec";
import { type Entry, type MessageEntry, type SessionHeader } from "../format/schema";
import { EntryIndex } from "../log/entry-index";
import { LogFacts } from "../log/facts";
import { relationDefect, relationWarning } from "../log/relations";
import { historyPositions } from "../session/history";
import { deriveLabel, foldMetadata } from "../session/info";
import { foldRecordings, type RecordingSummary } from "../session/recordings";
import { textOf } from "../session/text";
import { type Candidate } from "./discover";

/** A log that is valid from its first byte to its last, read at once. Good until the reader's next read. */
export interface QuickLog {
  header: SessionHeader;
  /** The default leaf. */
  leaf: string | null;
  /** The display label: the name, or what is derived from the first surviving text. */
  label: string;
  archived: boolean;
  /** Surviving messages of the default branch. */
  messages: number;
  recordings: RecordingSummary[];
  /** Current labels of entries on the default branch. */
  branchLabels: Map<string, string>;
  /** The surviving messages of the default branch, each parsed when it is asked for. */
  history(): Iterable<Entry>;
}

/** Larger logs are read piece by piece, by the session itself. */
const MAX_BYTES = 4 * 1024 * 1024;
const LINE_FEED = 0x0a;

/**
 * Reads many small logs for a list or a search, each in one synchronous read into one buffer. It makes every check that opening a
 * session makes, and answers only for a log that is valid without any finding; for all others it gives null, and the
 * caller opens the session to learn what is wrong. A property test holds the two to each other.
 */
export class QuickReader {
  #buffer = Buffer.allocUnsafeSlow(256 * 1024);

  read(candidate: Candidate): QuickLog | null {
    const bytes = this.bytes(candidate);
    return bytes === null ? null : this.parse(bytes);
  }

  /** Reads what `bytes` gave. */
  parse(bytes: Buffer): QuickLog | null {
    if (bytes[bytes.length - 1] !== LINE_FEED || !isUtf8(bytes)) return null;
    const headerEnd = bytes.indexOf(LINE_FEED);
    const header = parseHeader(bytes.subarray(0, headerEnd), { knownUtf8: true });
    return header.ok ? readRecords(bytes, header.value, headerEnd + 1) : null;
  }

  /** The whole log, good until the next read; null when it is not one that is read at once. */
  bytes({ logPath, revision }: Candidate): Buffer | null {
    if (revision.size === 0 || revision.size > MAX_BYTES) return null;
    const descriptor = openSync(logPath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(descriptor);
      if (!stat.isFile() || stat.size === 0 || stat.size > MAX_BYTES) return null;
      if (stat.size > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(stat.size * 2);
      const read = readSync(descriptor, this.#buffer, 0, stat.size, 0);
      return read === stat.size ? this.#buffer.subarray(0, read) : null;
    } finally {
      closeSync(descriptor);
    }
  }
}

function readRecords(bytes: Buffer, header: SessionHeader, from: number): QuickLog | null {
  const entries = new EntryIndex();
  const facts = new LogFacts();
  const about: Entry[] = [];
  let start = from;
  while (start < bytes.length) {
    const end = bytes.indexOf(LINE_FEED, start);
    const entry = plainMessage(bytes, start, end) ?? strictEntry(bytes, start, end);
    if (entry === null || relationDefect(entries, entry) !== undefined) return null;
    if (entry.type !== "message") {
      if (relationWarning(entries, facts, entry) !== undefined) return null;
      facts.observe(entry);
      if (isAbout(entry)) about.push(entry);
    }
    entries.add(entry, start, end - start);
    start = end + 1;
  }
  const positions = historyPositions(entries, entries.count - 1);
  const metadata = foldMetadata(about, (id) => entries.has(id));
  const history = (): Iterable<Entry> => historyOf(bytes, entries, positions);
  const leaf = entries.count - 1;
  return {
    header,
    leaf: entries.lastId,
    label: metadata.name ?? firstLabel(history()),
    archived: metadata.archived,
    messages: positions.length,
    recordings: foldRecordings(about),
    branchLabels: new Map([...metadata.labels].filter(([id]) => entries.isOnPath(entries.positionOf(id), leaf))),
    history,
  };
}

function* historyOf(bytes: Buffer, entries: EntryIndex, positions: Int32Array): Generator<Entry> {
  for (const position of positions) {
    const offset = entries.offsetOf(position);
    const end = offset + entries.lengthOf(position);
    const entry = reparseEntry(bytes, offset, end, entries.typeOf(position), entries.idOf(position));
    if (entry !== undefined) yield entry;
  }
}

function firstLabel(history: Iterable<Entry>): string {
  for (const entry of history) {
    const label = deriveLabel(textOf(entry));
    if (label !== "") return label;
  }
  return "";
}

function isAbout({ type }: Entry): boolean {
  return type === "session_info" || type === "label" || type.startsWith("recording.");
}

function strictEntry(bytes: Buffer, start: number, end: number): Entry | null {
  const parsed = parseEntry(bytes.subarray(start, end), { knownUtf8: true });
  return parsed.ok ? parsed.value : null;
}

/** Longer lines are parsed: as strings they would cost the system new memory each. */
const MAX_PLAIN_BYTES = 64 * 1024;

const ID = "[A-Za-z0-9][A-Za-z0-9._-]{0,127}";
/** Days that every month has; other dates are checked the long way. */
const TIME = "\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?Z";
const STRING = '"(?:[^"\\\\\\x00-\\x1f]|\\\\["\\\\/bfnrt])*"';
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

const ID_START = '{"type":"message","id":"'.length;
/** From the end of the id to the beginning of a parent's id. */
const BETWEEN_IDS = '","parentId":"';

/** The message that is on the line, as far as an index needs it; null when the line has to be parsed. */
function plainMessage(bytes: Buffer, start: number, end: number): MessageEntry | null {
  if (end - start > MAX_PLAIN_BYTES) return null;
  const line = bytes.toString("latin1", start, end);
  if (!PLAIN_MESSAGE.test(line)) return null;
  const idEnd = line.indexOf('"', ID_START);
  const parentStart = idEnd + BETWEEN_IDS.length;
  const id = line.slice(ID_START, idEnd);
  const parentId =
    line.charAt(parentStart - 1) === '"' ? line.slice(parentStart, line.indexOf('"', parentStart)) : null;
  return { type: "message", id, parentId, timestamp: "", message: { role: "user", timestamp: 0, content: [] } };
}
