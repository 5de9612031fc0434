/** Event-log backend, Crash recovery: a whole log, from its first byte to what its last bytes are. */
import { StoreError } from "../errors";
import { Breather } from "./breather";
import { corrupt } from "./errors";
import { parseHeaderToRead, type ParsedHeader } from "./header";
import { plaintextBatches, type PlainSource } from "./plaintext";
import { RecordScanner } from "./record-scanner";
import { type LogEvent, type LogWarning } from "./types";
import { EventValidator } from "./validator";

/** Lines that are read between two looks at the clock. */
const LINES_A_STEP = 64;
/** Events that are handed over at once, at most a few more. */
const EVENTS_A_BATCH = 2048;

/** What the last bytes of a log are. */
export type LogTail =
  /** A sound log; `end` is its size. */
  | { readonly kind: "clean"; readonly end: number }
  /** Uncompressed: the last record is whole and lacks only its LF. */
  | { readonly kind: "unterminated"; readonly end: number }
  /** The last record or frame was not written to its end. `recovered` are the events it still gave, as stored. */
  | {
      readonly kind: "torn";
      readonly truncateTo: number;
      readonly end: number;
      readonly recovered: readonly LogEvent[];
    }
  /** Uncompressed: lines that cannot be read, although they were written to their end. */
  | { readonly kind: "damaged"; readonly truncateTo: number; readonly end: number; readonly issue: StoreError };

export interface ScanOptions {
  /** Called with the header before any event; may refuse the log. */
  readonly onHeader: (header: ParsedHeader) => Promise<void> | void;
  readonly extraTypes?: ReadonlySet<string> | undefined;
  /** Freeze every event all the way down. */
  readonly freeze: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface ScanEnd {
  readonly header: ParsedHeader;
  /** Has seen every event: appending goes on from it. */
  readonly validator: EventValidator;
  /** Sequence number of the next event. */
  readonly nextSeq: number;
  readonly tail: LogTail;
  readonly warnings: readonly LogWarning[];
}

/** Reads and validates a log; yields its events in batches. Throws `event-log-corrupt` or `event-log-unsupported`. */
export async function* scanLog(source: PlainSource, options: ScanOptions): AsyncGenerator<LogEvent[], ScanEnd> {
  const breather = new Breather(options.signal);
  const pieces = plaintextBatches(source);
  try {
    const first = await pieces.next();
    const line = first.done === true ? undefined : first.value[0]?.bytes;
    if (line === undefined) throw corrupt("empty or header-less session log", { line: 1, offset: 0 });
    const header = parseHeaderToRead(line.subarray(0, -1));
    const headerBytes = line.length;
    await options.onHeader(header);
    breather.check();
    const { extraTypes, freeze } = options;
    const validator = new EventValidator({ sessionId: header.header.id, extraTypes });
    if (header.problem !== undefined) validator.failHeader(header.problem);
    const scanner = new RecordScanner({ validator, freeze, maxLineBytes: source.limits.maxFrameBytes });
    const isFramed = source.compression === "zstd";
    let tornAt: number | undefined;
    for await (const batch of pieces) {
      breather.check();
      for (const piece of batch) {
        if (piece.kind === "torn") {
          assertWhole(scanner, piece.offset);
          tornAt = piece.offset;
          scanner.keepRaw();
        }
        scanner.push(piece.bytes, piece.offset, !isFramed);
        while (scanner.run(LINES_A_STEP)) if (breather.isDue) await breather.breathe();
        if (breather.isDue) await breather.breathe();
      }
      if (scanner.waiting >= EVENTS_A_BATCH && !validator.hasFailed) yield scanner.take();
    }
    if (isFramed && tornAt === undefined) assertWhole(scanner, source.size);
    const tail = isFramed ? framedTail(source, scanner, tornAt) : rawTail(source, scanner, headerBytes);
    validator.finish();
    if (scanner.waiting > 0) yield scanner.take();
    return { header, validator, nextSeq: scanner.nextSeq, tail, warnings: [...scanner.warnings, ...warningsOf(tail)] };
  } finally {
    await pieces.return();
  }
}

/** Complete frames hold complete lines, and all of them are good. */
function assertWhole(scanner: RecordScanner, end: number): void {
  if (scanner.committedBytes === scanner.inputBytes) return;
  throw new StoreError("event-log-corrupt", {
    ...(scanner.issue?.place ?? { offset: end }),
    message: "corrupt Zstandard session log: complete frame contains a torn JSONL record",
    cause: scanner.issue,
  });
}

function framedTail(source: PlainSource, scanner: RecordScanner, tornAt: number | undefined): LogTail {
  if (tornAt === undefined) return { kind: "clean", end: source.size };
  return { kind: "torn", truncateTo: tornAt, end: source.size, recovered: scanner.takeRaw() };
}

function rawTail(source: PlainSource, scanner: RecordScanner, headerBytes: number): LogTail {
  const { size: end } = source;
  const truncateTo = headerBytes + scanner.committedBytes;
  if (scanner.issue !== undefined) return { kind: "damaged", truncateTo, end, issue: scanner.issue };
  if (truncateTo === end) return { kind: "clean", end };
  if (scanner.acceptUnterminated(truncateTo)) return { kind: "unterminated", end };
  return { kind: "torn", truncateTo, end, recovered: [] };
}

function warningsOf(tail: LogTail): LogWarning[] {
  switch (tail.kind) {
    case "clean":
      return [];
    case "unterminated":
      return [{ code: "unterminated-line", message: "the last line lacks its line feed", offset: tail.end }];
    case "torn":
      return [{ code: "torn-tail", message: "the last write did not reach its end", offset: tail.truncateTo }];
    case "damaged": {
      const { line, offset } = tail.issue.place;
      const message = `${tail.issue.message}; the ${tail.end - tail.truncateTo} bytes from there on are left out`;
      return [
        {
          code: "damaged-tail",
          message,
          ...(line === undefined ? {} : { line }),
          ...(offset === undefined ? {} : { offset }),
        },
      ];
    }
  }
}
