import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { reparseEntry } from "../format/codec";
import { type Entry, type EntryType, type SessionHeader } from "../format/schema";
import { type EntryIndex } from "../log/entry-index";
import { scanBytes } from "../log/scan-records";
import { historyPositions } from "../session/history";
import { deriveLabel, foldMetadata, labelsOnBranch } from "../session/info";
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

/** What is told about a session besides its messages. */
const ABOUT: readonly EntryType[] = [
  "session_info",
  "label",
  "recording.started",
  "recording.finished",
  "recording.interrupted",
];

/**
 * Reads many small logs for a list or a search, each in one synchronous read into one buffer, and scans it as opening a
 * session does. It answers only for a log that is valid without any finding; for all others it gives null, and the
 * caller opens the session to learn what is wrong.
 */
export class QuickReader {
  #buffer = Buffer.allocUnsafeSlow(256 * 1024);

  read(candidate: Candidate): QuickLog | null {
    const bytes = this.bytes(candidate);
    return bytes === null ? null : this.parse(bytes);
  }

  /** Reads what `bytes` gave. */
  parse(bytes: Buffer): QuickLog | null {
    const { header, verdict, diagnostics, entries } = scanBytes(bytes);
    return header !== null && verdict === "valid" && diagnostics.length === 0 ? describe(bytes, header, entries) : null;
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

function describe(bytes: Buffer, header: SessionHeader, entries: EntryIndex): QuickLog {
  const leaf = entries.count - 1;
  const positions = historyPositions(entries, leaf);
  const about = [...entriesAt(bytes, entries, entries.positionsOf(ABOUT))];
  const metadata = foldMetadata(about, (id) => entries.has(id));
  const history = (): Iterable<Entry> => entriesAt(bytes, entries, positions);
  return {
    header,
    leaf: entries.lastId,
    label: metadata.name ?? firstLabel(history()),
    archived: metadata.archived,
    messages: positions.length,
    recordings: foldRecordings(about),
    branchLabels: labelsOnBranch(metadata.labels, entries, leaf),
    history,
  };
}

function* entriesAt(bytes: Buffer, entries: EntryIndex, positions: Iterable<number>): Generator<Entry> {
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
