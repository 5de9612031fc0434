/**
 * Event-log backend, Crash recovery: lines to events. A line that cannot be read ends the prefix that is kept; when a
 * later line ends a turn, the damage lies in what was committed and the log is refused.
 */
import { isUtf8 } from "node:buffer";
import { StoreError } from "../errors";
import { corrupt } from "./errors";
import { freezeJson, parseJson } from "./json-value";
import { type StoredEvent } from "./legacy";
import { expandRow, parseRow, type PackedRow } from "./rows";
import { asObject, isRecord, type JsonRecord, type LogEvent, type LogWarning } from "./types";
import { type EventValidator } from "./validator";

interface ScannerOptions {
  readonly validator: EventValidator;
  /** Freeze every event all the way down. */
  readonly freeze: boolean;
  /** Sequence number of the first event; 0 for a whole log. */
  readonly firstSeq?: number;
  /** What a line may hold, in bytes. */
  readonly maxLineBytes: number;
}

const LF = 10;
const REPLACEMENT = "\ufffd";

export class RecordScanner {
  readonly warnings: LogWarning[] = [];
  readonly #options: ScannerOptions;
  #events: LogEvent[] = [];
  /** Raw events since `keepRaw`, as they were stored. */
  #raw: LogEvent[] | undefined;
  #nextSeq: number;
  #line = 0;
  #issue: StoreError | undefined;
  #issueOffset = 0;
  #input = 0;
  #committed = 0;
  #chunk: Buffer = Buffer.alloc(0);
  #chunkAt = 0;
  #chunkOffset = 0;
  #offsetsAreExact = true;
  #fragments: Buffer[] = [];
  #fragmentBytes = 0;

  constructor(options: ScannerOptions) {
    this.#options = options;
    this.#nextSeq = options.firstSeq ?? 0;
  }

  /** Sequence number of the next event. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Bytes of text taken in, and those of them up to the end of the last good line. */
  get inputBytes(): number {
    return this.#input;
  }

  get committedBytes(): number {
    return this.#committed;
  }

  /** What ended the kept prefix before the text ended. */
  get issue(): StoreError | undefined {
    return this.#issue;
  }

  /** The bytes after the last LF. */
  get fragment(): Buffer {
    return Buffer.concat(this.#fragments, this.#fragmentBytes);
  }

  /** From here on the events are also kept as they are stored. */
  keepRaw(): void {
    this.#raw = [];
  }

  takeRaw(): LogEvent[] {
    return this.#raw ?? [];
  }

  /** Hands over the events read so far. */
  take(): LogEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  get waiting(): number {
    return this.#events.length;
  }

  /**
   * Takes the next bytes. `offset` is where they are in the file; with `exact` it moves with the bytes, else it is the
   * start of the frame that holds them all. Call `run` until it answers false before the next bytes.
   */
  push(chunk: Buffer, offset: number, exact: boolean): void {
    this.#chunk = chunk;
    this.#chunkAt = 0;
    this.#chunkOffset = offset;
    this.#offsetsAreExact = exact;
  }

  /** Reads up to `maxLines` lines; true when there are more. Throws `event-log-corrupt`. */
  run(maxLines: number): boolean {
    const chunk = this.#chunk;
    for (let lines = 0; lines < maxLines; lines += 1) {
      const end = chunk.indexOf(LF, this.#chunkAt);
      if (end === -1) {
        this.#keepFragment(chunk.subarray(this.#chunkAt));
        this.#input += chunk.length - this.#chunkAt;
        this.#chunkAt = chunk.length;
        return false;
      }
      const start = this.#chunkAt;
      this.#chunkAt = end + 1;
      this.#input += end + 1 - start;
      this.#line += 1;
      if (this.#fragmentBytes === 0) {
        this.#consume(chunk, start, end, this.#chunkOffset + (this.#offsetsAreExact ? start : 0));
      } else {
        const line = Buffer.concat([...this.#fragments, chunk.subarray(start, end)]);
        const before = this.#offsetsAreExact ? this.#fragmentBytes - start : 0;
        this.#fragments = [];
        this.#fragmentBytes = 0;
        this.#consume(line, 0, line.length, this.#chunkOffset - before);
      }
    }
    return true;
  }

  #keepFragment(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#fragments.push(Buffer.from(bytes));
    this.#fragmentBytes += bytes.length;
    if (this.#fragmentBytes > this.#options.maxLineBytes) {
      const { maxLineBytes } = this.#options;
      const start = this.#chunkAt - (this.#fragmentBytes - bytes.length);
      throw new StoreError("event-log-too-large", {
        line: this.#line + 2,
        offset: this.#chunkOffset + (this.#offsetsAreExact ? start : 0),
        message: `line ${this.#line + 1} of the events is longer than ${maxLineBytes} bytes`,
      });
    }
  }

  /**
   * Tries the bytes after the last LF as a record that only lacks it. True when it is the next event and a valid one:
   * an object that ends cannot be the beginning of a longer one.
   */
  acceptUnterminated(offset: number): boolean {
    if (this.#issue !== undefined || this.#fragmentBytes === 0) return false;
    const bytes = this.fragment;
    const value = parseJson(bytes.toString("utf8"));
    if (asObject(value) === undefined || !isUtf8(bytes)) return false;
    const { validator } = this.#options;
    if (validator.hasFailed) return false;
    validator.begin();
    const before = { seq: this.#nextSeq, events: this.#events.length };
    this.#line += 1;
    this.#consume(bytes, 0, bytes.length, offset);
    if (this.#issue === undefined && !validator.hasFailed) {
      validator.commit();
      return true;
    }
    validator.rollback();
    this.#line -= 1;
    this.#issue = undefined;
    this.#nextSeq = before.seq;
    this.#events.length = before.events;
    return false;
  }

  #consume(bytes: Buffer, start: number, end: number, offset: number): void {
    const text = bytes.toString("utf8", start, end);
    const value = parseJson(text);
    const place = { line: this.#line + 1, offset };
    if (value === null) {
      throw corrupt(`corrupt session log: line ${this.#line} is no event but null`, place);
    }
    const row = value === undefined ? undefined : rowOf(value);
    if (value === undefined || row === "malformed") {
      this.#setIssue(`unparsable committed event at line ${this.#line}`, offset);
      return;
    }
    if (this.#issue !== undefined) {
      if (isTurnEnd(value)) throw this.#issue;
      return;
    }
    if (text.includes(REPLACEMENT) && !isUtf8(bytes.subarray(start, end))) {
      this.warnings.push({
        code: "invalid-utf8",
        message: `line ${this.#line + 1} holds bytes that are no UTF-8; they are read as U+FFFD`,
        ...place,
      });
    }
    const seq = row === undefined ? fieldOf(value, "seq") : row.seq0;
    if (seq !== this.#nextSeq) {
      const expected = this.#nextSeq;
      this.#setIssue(
        `seq gap in committed region at line ${this.#line} (expected ${expected}, got ${String(seq)})`,
        offset,
      );
      if (isTurnEnd(value) && this.#issue !== undefined) throw this.#issue;
      return;
    }
    if (row === undefined) this.#addEvent(value, place);
    else this.#addRow(row);
    this.#committed = this.#input;
  }

  #addRow(row: PackedRow): void {
    const { freeze, validator } = this.#options;
    const before = this.#events.length;
    expandRow(row, this.#events, freeze);
    this.#nextSeq += row.payload.length;
    const last = this.#events.at(-1);
    if (last !== undefined) validator.acceptRow(last.seq, last.time);
    this.#raw?.push(...this.#events.slice(before));
  }

  #addEvent(value: unknown, place: { line: number; offset: number }): void {
    const { freeze, validator } = this.#options;
    if (!isStoredEvent(value)) return;
    this.#nextSeq += 1;
    const event = validator.accept(value, place);
    if (event === undefined) return;
    this.#events.push(freeze ? freezeJson(event) : event);
    if (this.#raw !== undefined && isLogEventLike(value)) this.#raw.push(value);
  }

  #setIssue(problem: string, offset: number): void {
    if (this.#issue !== undefined) return;
    this.#issueOffset = offset;
    this.#issue = corrupt(`corrupt session log: ${problem}`, { line: this.#line + 1, offset });
  }

  /** Where in the file the first line is that ended the kept prefix. */
  get issueOffset(): number {
    return this.#issueOffset;
  }
}

function rowOf(value: unknown): PackedRow | "malformed" | undefined {
  if (!isRecord(value)) return undefined;
  try {
    return parseRow(value);
  } catch {
    // A malformed row is an unparsable line; the caller says which line.
    return "malformed";
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

function isTurnEnd(value: unknown): boolean {
  return fieldOf(value, "type") === "turn/end";
}

function isStoredEvent(value: unknown): value is StoredEvent {
  return isRecord(value) && typeof value["seq"] === "number";
}

function isLogEventLike(value: JsonRecord): value is JsonRecord & LogEvent {
  return typeof value["type"] === "string" && typeof value["seq"] === "number" && value["data"] !== undefined;
}
