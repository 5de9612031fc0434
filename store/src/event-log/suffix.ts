/** Reading the newest events of a log without reading the rest of it. */
import { isStoreError } from "../errors";
import { Breather } from "./breather";
import { parseHeaderToRead } from "./header";
import { parseJson } from "./json-value";
import { needsPrefix } from "./legacy";
import { readFully } from "./log-file";
import { frameBatches, plaintext, type PlainSource } from "./plaintext";
import { RecordScanner } from "./record-scanner";
import { type ScanOptions } from "./scan-log";
import { isRecord, type EventLogHeader, type LogEvent } from "./types";
import { EventValidator } from "./validator";
import { decodeTornFrame, FrameDecoder } from "./zstd";

interface Suffix {
  readonly header: EventLogHeader;
  /** Events from some sequence number at or before the wanted one. */
  readonly events: LogEvent[];
}

const FIRST_BLOCK_BYTES = 64 * 1024;

/**
 * The events from `fromSeq` on, or undefined when only a read of the whole log can tell (old shapes, or a tail that
 * does not add up). Checked are the header, the structure, and every event that is returned.
 */
export async function readSuffix(
  source: PlainSource,
  fromSeq: number,
  options: ScanOptions,
): Promise<Suffix | undefined> {
  const breather = new Breather(options.signal);
  const pieces = plaintext(source);
  const first = await pieces.next();
  const headerBytes = first.done === true ? Buffer.alloc(0) : Buffer.from(first.value.bytes);
  await pieces.return();
  const header = parseHeaderToRead(headerBytes.subarray(0, -1));
  await options.onHeader(header);
  if (header.problem !== undefined) return undefined;
  const start =
    source.compression === "zstd"
      ? await findFrames(source, fromSeq, breather)
      : await findLines(source, headerBytes.length, fromSeq, breather);
  if (start === undefined) return undefined;
  const { extraTypes, freeze } = options;
  const validator = new EventValidator({ sessionId: header.header.id, extraTypes, isSuffix: true });
  const scanner = new RecordScanner({
    validator,
    freeze,
    firstSeq: start.seq,
    maxLineBytes: source.limits.maxFrameBytes,
  });
  // Whatever is odd is for the whole read to judge: it knows the lines and what came before.
  if (!(await isEven(scanner, start, breather)) || validator.hasFailed) return undefined;
  if (source.compression === "none") scanner.acceptUnterminated(start.offset);
  const events = scanner.take();
  if (events.some((event) => needsPrefix({ ...event }))) return undefined;
  breather.check();
  return { header: header.header, events };
}

/** Reads all pieces; false when a line of them cannot be read. */
async function isEven(scanner: RecordScanner, start: Start, breather: Breather): Promise<boolean> {
  for (const bytes of start.pieces) {
    scanner.push(bytes, start.offset, false);
    try {
      while (scanner.run(64)) if (breather.isDue) await breather.breathe();
    } catch (error) {
      if (isStoreError(error) && error.code.startsWith("event-log-")) return false;
      throw error;
    }
  }
  return scanner.issue === undefined;
}

interface Start {
  readonly seq: number;
  readonly offset: number;
  readonly pieces: readonly Buffer[];
}

/** Decodes frames from the last one backwards until one starts a line at or before the wanted event. */
async function findFrames(source: PlainSource, fromSeq: number, breather: Breather): Promise<Start | undefined> {
  const starts: number[] = [];
  let torn: { frame: Buffer; offset: number } | undefined;
  for await (const batch of frameBatches(source, 0)) {
    for (const { frame, offset, isComplete } of batch) {
      if (isComplete) starts.push(offset);
      else torn = { frame: Buffer.from(frame), offset };
    }
    if (breather.isDue) await breather.breathe();
  }
  const decoder = new FrameDecoder(source.limits.maxFrameBytes);
  const end = torn?.offset ?? source.size;
  const pieces: Buffer[] = [];
  if (torn !== undefined) pieces.unshift(await decodeTornFrame(torn.frame, torn.offset, source.limits.maxFrameBytes));
  try {
    let next: Buffer | undefined;
    for (let index = starts.length - 1; index >= 1; index -= 1) {
      const offset = starts[index] ?? 0;
      const bytes: Buffer = next ?? (await decodeAt(source, decoder, offset, starts[index + 1] ?? end));
      pieces.unshift(bytes);
      next = index === 1 ? undefined : await decodeAt(source, decoder, starts[index - 1] ?? 0, offset);
      const startsLine = index === 1 || next?.at(-1) === 10;
      const seq = startsLine ? firstSeqOf(bytes) : undefined;
      if (startsLine && seq === undefined) return undefined;
      if (seq !== undefined && (seq <= fromSeq || index === 1)) return { seq, offset, pieces };
      if (breather.isDue) await breather.breathe();
    }
    return undefined;
  } finally {
    decoder.close();
  }
}

async function decodeAt(source: PlainSource, decoder: FrameDecoder, start: number, end: number): Promise<Buffer> {
  const frame = Buffer.allocUnsafe(end - start);
  await readFully(source.file, frame, 0, frame.length, start);
  return Buffer.from(await decoder.decode(frame, undefined, start));
}

/** Reads blocks from the end backwards, each twice as long, until one holds a line at or before the wanted event. */
async function findLines(
  source: PlainSource,
  headerBytes: number,
  fromSeq: number,
  breather: Breather,
): Promise<Start | undefined> {
  for (let length = FIRST_BLOCK_BYTES; ; length *= 2) {
    const offset = Math.max(headerBytes, source.size - length);
    const block = Buffer.allocUnsafe(source.size - offset);
    await readFully(source.file, block, 0, block.length, offset);
    const lineStart = offset === headerBytes ? 0 : block.indexOf(10) + 1;
    const isWhole = offset === headerBytes;
    const bytes = block.subarray(lineStart);
    const seq = lineStart === 0 && !isWhole ? undefined : firstSeqOf(bytes);
    if (seq !== undefined && (seq <= fromSeq || isWhole)) return { seq, offset: offset + lineStart, pieces: [bytes] };
    if (isWhole) return undefined;
    if (breather.isDue) await breather.breathe();
  }
}

/** The sequence number of the first event of a text that starts with a line. */
function firstSeqOf(bytes: Buffer): number | undefined {
  const end = bytes.indexOf(10);
  if (end === -1) return undefined;
  const value = parseJson(bytes.toString("utf8", 0, end));
  const seq = isRecord(value) ? (value["seq"] ?? value["seq0"]) : undefined;
  return typeof seq === "number" ? seq : undefined;
}
