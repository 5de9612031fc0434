/** The pass over the bytes of a log, be it read in bounded memory or at once. */
import { isUtf8 } from "node:buffer";
import { StoreError } from "../errors";
import { parseEntry, parseHeader, type Malformed } from "../format/codec";
import { defectMessages } from "../format/defects";
import { MAX_RECORD_BYTES } from "../format/names";
import { type IndexedEntry, readPlainRecord } from "../format/plain-record";
import { type OpenFile } from "../platform/fs";
import { LogContents } from "./log-contents";
import { relationDefect, relationWarning } from "./relations";
import { judgeTail, ZERO_FILLED } from "./tail";
import { type Diagnostic, MAX_DIAGNOSTICS, type Recoverable, type Verdict } from "./verdict";

/** How far a scan is, in bytes of the file. */
export interface ScanProgress {
  bytes: number;
  size: number;
}

export interface ScanOptions {
  signal?: AbortSignal;
  /** Called after each piece of the file, at most every few mebibytes. */
  onProgress?: (progress: ScanProgress) => void;
}

const LINE_FEED = 0x0a;
/** Room for the longest record with its LF, and for several shorter ones at a time. */
const MAX_BUFFER_BYTES = 2 * (MAX_RECORD_BYTES + 1);

/**
 * Brings `log` up to `size`, from the end of what it knows; the caller has checked that this is still there. Takes no
 * more memory for a larger log.
 */
export async function scanRecords(file: OpenFile, log: LogContents, size: number, options: ScanOptions): Promise<void> {
  const pass = new Pass(log);
  const start = log.committedBytes;
  const buffer = Buffer.allocUnsafeSlow(Math.min(Math.max(size - start, 1), MAX_BUFFER_BYTES));
  let filled = 0;
  let position = start;
  while (position < size && !pass.full) {
    const wanted = Math.min(buffer.length - filled, size - position);
    const { bytesRead } = await file.read(buffer, filled, wanted, position);
    options.signal?.throwIfAborted();
    // Fewer bytes than the size promised: the content is not on this computer, or was cut off meanwhile.
    if (bytesRead === 0) throw new StoreError("unavailable", { offset: position });
    filled += bytesRead;
    position += bytesRead;
    const used = pass.take(buffer.subarray(0, filled), position - filled);
    buffer.copyWithin(0, used, filled);
    filled -= used;
    options.onProgress?.({ bytes: position, size });
  }
  if (!pass.full) pass.end(buffer.subarray(0, filled), position - filled);
  pass.conclude();
}

/** What is in a log whose bytes are at hand, from the first to the last. */
export function scanBytes(bytes: Buffer): LogContents {
  const log = new LogContents();
  const pass = new Pass(log);
  const used = pass.take(bytes, 0);
  if (!pass.full) pass.end(bytes.subarray(used), used);
  pass.conclude();
  return log;
}

/** The state of one pass. */
class Pass {
  readonly #log: LogContents;
  readonly #problems: Diagnostic[] = [];
  #verdict: Verdict = "valid";
  #recoverable: Recoverable = "no";
  /** 1-based number of the next line. */
  #line: number;
  /** Where the record began that is being skipped because it is over the limit. */
  #oversized: { offset: number; onlyZeros: boolean } | undefined;

  constructor(log: LogContents) {
    this.#log = log;
    this.#line = log.header === null ? 1 : log.entries.count + 2;
  }

  /** Nothing more can change the verdict, and no more findings are kept. */
  get full(): boolean {
    return this.#problems.length >= MAX_DIAGNOSTICS && this.#verdict === "corrupt";
  }

  /** Takes the complete lines of a piece that begins at `base` in the file; says how many bytes it is done with. */
  take(piece: Buffer, base: number): number {
    let start = 0;
    let end = piece.indexOf(LINE_FEED);
    if (end === -1) return this.#skipOversized(piece, base);
    if (this.#oversized !== undefined) {
      this.#oversized = undefined;
      this.#line += 1;
      start = end + 1;
      end = piece.indexOf(LINE_FEED, start);
    }
    const knownUtf8 = isUtf8(piece.subarray(start, piece.lastIndexOf(LINE_FEED) + 1));
    while (end !== -1 && !this.full) {
      this.#record(piece, start, end, base + start, knownUtf8);
      this.#line += 1;
      start = end + 1;
      end = piece.indexOf(LINE_FEED, start);
    }
    return start + this.#skipOversized(piece.subarray(start), base + start);
  }

  /** Takes what follows the last LF of the file. */
  end(rest: Buffer, offset: number): void {
    const oversized = this.#oversized;
    if (oversized !== undefined) {
      if (oversized.onlyZeros) this.#replaceLast({ ...ZERO_FILLED, line: this.#line, offset: oversized.offset });
      return;
    }
    if (this.#log.header === null && this.#problems.length === 0 && rest.length === 0) {
      this.#problem("corrupt", "header-missing", "The file is empty; it does not begin with a session header.", offset);
      return;
    }
    // Damage before the tail decides, so the tail itself needs no judgement.
    if (rest.length === 0 || this.#problems.length > 0) return;
    const judgement = judgeTail(this.#log, rest);
    this.#recoverable = judgement.recoverable;
    this.#problem(judgement.verdict, judgement.code, judgement.message, offset + judgement.offset);
  }

  conclude(): void {
    this.#log.conclude(this.#verdict, this.#recoverable, this.#problems);
  }

  /** Takes the record from `start` to `end` of a piece; it begins at `offset` in the file. */
  #record(piece: Buffer, start: number, end: number, offset: number, knownUtf8: boolean): void {
    const log = this.#log;
    if (log.header === null && this.#line === 1) {
      const header = parseHeader(piece.subarray(start, end), { knownUtf8 });
      if (header.ok) log.commitHeader(header.value, end - start);
      else this.#malformed(header, offset);
      return;
    }
    const plain = knownUtf8 ? readPlainRecord(piece, start, end) : null;
    if (plain !== null) {
      this.#entry(plain, end - start, offset);
      return;
    }
    const parsed = parseEntry(piece.subarray(start, end), { knownUtf8 });
    if (parsed.ok) this.#entry(parsed.value, end - start, offset);
    else this.#malformed(parsed, offset);
  }

  /** Takes an entry that is sound by itself. */
  #entry(entry: IndexedEntry, length: number, offset: number): void {
    // After a problem only records on their own are judged: what they refer to may have been in the damaged part.
    if (this.#problems.length > 0) return;
    const log = this.#log;
    const defect = relationDefect(log.entries, entry);
    if (defect !== undefined) {
      this.#problem("blocked", defect.code, defect.message, offset);
      return;
    }
    const warning = relationWarning(log.entries, log.facts, entry);
    if (warning !== undefined) log.warn({ ...warning, line: this.#line, offset });
    log.commit(entry, length);
  }

  /** A piece that is longer than any record and has no LF is dropped; its defect is reported once. */
  #skipOversized(piece: Buffer, base: number): number {
    if (this.#oversized === undefined) {
      if (piece.length <= MAX_RECORD_BYTES) return 0;
      this.#oversized = { offset: base, onlyZeros: true };
      this.#problem("corrupt", "record-too-large", defectMessages["record-too-large"], base);
    }
    this.#oversized.onlyZeros &&= isZeros(piece);
    return piece.length;
  }

  #malformed(defect: Malformed, recordOffset: number): void {
    this.#problem(defect.class, defect.code, defect.message, recordOffset + (defect.offset ?? 0));
  }

  #problem(verdict: Verdict, code: string, message: string, offset: number): void {
    if (this.#verdict !== "corrupt") this.#verdict = verdict;
    if (this.#problems.length < MAX_DIAGNOSTICS) this.#problems.push({ code, message, line: this.#line, offset });
  }

  #replaceLast(diagnostic: Diagnostic): void {
    if (this.#problems[this.#problems.length - 1]?.offset === diagnostic.offset) this.#problems.pop();
    this.#problems.push(diagnostic);
  }
}

const zeros = Buffer.alloc(64 * 1024);

function isZeros(bytes: Buffer): boolean {
  for (let start = 0; start < bytes.length; start += zeros.length) {
    const part = bytes.subarray(start, start + zeros.length);
    if (part.compare(zeros, 0, part.length) !== 0) return false;
  }
  return true;
}
