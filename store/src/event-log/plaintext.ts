/** Event-log backend, Physical encoding: the lines of a log as a stream of plain bytes, whichever way they are stored. */
import { corrupt } from "./errors";
import { StoreError } from "../errors";
import { walkFrame } from "./frames";
import { MAX_HEADER_BYTES } from "./header";
import { readFully, type ReadableFile } from "./log-file";
import { type Compression } from "./types";
import { decodeTornFrame, FrameDecoder, LARGE_FRAME_BYTES } from "./zstd";

/** Bytes asked for at once. */
const WINDOW_BYTES = 1024 * 1024;
/** Decoded bytes that are handed over at once, at most one frame more. */
const BATCH_BYTES = 256 * 1024;

export interface ReadLimits {
  /** What one frame, or one line of an uncompressed log, may hold when decoded, in bytes. */
  readonly maxFrameBytes: number;
  /** What the text of a log may hold that is asked for as a whole, in bytes; else as much as a string can. */
  readonly maxTextBytes?: number;
}

export const DEFAULT_LIMITS: ReadLimits = { maxFrameBytes: 256 * 1024 * 1024 };

/** One piece of a log. The bytes are valid until the next batch is asked for. */
interface PlainPiece {
  readonly kind: "header" | "complete" | "torn";
  readonly bytes: Buffer;
  /** Where the piece starts in the file: the frame of a compressed log, the very byte of an uncompressed one. */
  readonly offset: number;
}

export interface PlainSource {
  readonly file: ReadableFile;
  /** Bytes of the file to look at. */
  readonly size: number;
  readonly compression: Compression;
  readonly limits: ReadLimits;
}

/**
 * The pieces of a log from its start, in batches: first the header line with its LF, alone, then all that follows.
 * A log of small frames gives many pieces at once, because waiting for each would cost more than reading it.
 */
export function plaintextBatches(source: PlainSource): AsyncGenerator<readonly PlainPiece[], void> {
  return source.compression === "zstd" ? framedPieces(source) : rawPieces(source);
}

/** The same pieces one by one. */
export async function* plaintext(source: PlainSource): AsyncGenerator<PlainPiece, void> {
  for await (const pieces of plaintextBatches(source)) yield* pieces;
}

function headerless(source: PlainSource): StoreError {
  const kind = source.compression === "zstd" ? "Zstandard " : "";
  return corrupt(`empty or header-less ${kind}session log`, { line: 1, offset: 0 });
}

async function* framedPieces(source: PlainSource): AsyncGenerator<readonly PlainPiece[], void> {
  const { maxFrameBytes } = source.limits;
  const decoder = new FrameDecoder(maxFrameBytes);
  const headerDecoder = new FrameDecoder(MAX_HEADER_BYTES);
  let hasHeader = false;
  let batch: PlainPiece[] = [];
  let batchBytes = 0;
  try {
    for await (const found of frameBatches(source, 0)) {
      for (const { frame, offset, contentSize, isComplete } of found) {
        if (!hasHeader) {
          if (!isComplete) throw headerless(source);
          const line = headerDecoder.decodeSync(frame, contentSize, offset);
          if (line.length === 0 || line.indexOf(10) !== line.length - 1) {
            throw corrupt("corrupt Zstandard session log: first frame is not exactly one header line", { offset: 0 });
          }
          hasHeader = true;
          yield [{ kind: "header", bytes: line, offset }];
          continue;
        }
        if (!isComplete) {
          if (batch.length > 0) yield batch;
          yield [{ kind: "torn", bytes: await decodeTornFrame(frame, offset, maxFrameBytes), offset }];
          return;
        }
        const isLarge = frame.length >= LARGE_FRAME_BYTES;
        const bytes = isLarge
          ? await decoder.decode(frame, contentSize, offset)
          : decoder.decodeSync(frame, contentSize, offset);
        // The decoder uses its memory again; a large result is memory of its own.
        batch.push({ kind: "complete", bytes: isLarge ? bytes : Buffer.from(bytes), offset });
        batchBytes += bytes.length;
        if (batchBytes < BATCH_BYTES) continue;
        yield batch;
        batch = [];
        batchBytes = 0;
      }
    }
    if (!hasHeader) throw headerless(source);
    if (batch.length > 0) yield batch;
  } finally {
    decoder.close();
    headerDecoder.close();
  }
}

interface FrameBytes {
  readonly frame: Buffer;
  readonly offset: number;
  readonly contentSize: number | undefined;
  /** False for the last frame of a torn log. */
  readonly isComplete: boolean;
}

/**
 * The frames of a compressed log from a frame's start on, undecoded, as many at once as a read gave. The bytes are valid
 * until the next batch. Frame by frame this would be a wait for each of them.
 */
export async function* frameBatches(source: PlainSource, from: number): AsyncGenerator<readonly FrameBytes[], void> {
  const { file, size, limits } = source;
  const maxFrame = limits.maxFrameBytes + (limits.maxFrameBytes >>> 8) + WINDOW_BYTES;
  let buffer = Buffer.allocUnsafeSlow(Math.min(WINDOW_BYTES, size - from));
  /** File offset of the buffer's first byte, and bytes that are filled. */
  let base = from;
  let filled = 0;
  while (base < size) {
    const view = buffer.subarray(0, filled);
    const batch: FrameBytes[] = [];
    let at = 0;
    while (at < filled) {
      const walk = walkFrame(view, at, base);
      if (walk.kind === "open") break;
      const frame = view.subarray(at, walk.end);
      batch.push({ frame, offset: base + at, contentSize: walk.contentSize, isComplete: true });
      at = walk.end;
    }
    if (batch.length > 0) yield batch;
    const rest = filled - at;
    if (base + filled >= size) {
      if (rest > 0) yield [{ frame: view.subarray(at), offset: base + at, contentSize: undefined, isComplete: false }];
      return;
    }
    if (rest >= maxFrame) {
      throw new StoreError("event-log-too-large", {
        offset: base + at,
        message: `the frame at byte ${base + at} takes more than ${maxFrame} bytes`,
      });
    }
    const wanted = Math.min(size - base - at, Math.max(WINDOW_BYTES, rest * 2));
    const next = wanted > buffer.length ? Buffer.allocUnsafeSlow(wanted) : buffer;
    buffer.copy(next, 0, at, filled);
    buffer = next;
    base += at;
    filled = rest;
    const length = Math.min(buffer.length, size - base) - filled;
    await readFully(file, buffer, filled, length, base + filled);
    filled += length;
  }
}

async function* rawPieces(source: PlainSource): AsyncGenerator<readonly PlainPiece[], void> {
  const { file, size } = source;
  const header = await readRawHeader(source);
  yield [{ kind: "header", bytes: header, offset: 0 }];
  const buffer = Buffer.allocUnsafeSlow(Math.max(1, Math.min(WINDOW_BYTES, size - header.length)));
  for (let at = header.length; at < size;) {
    const length = Math.min(buffer.length, size - at);
    await readFully(file, buffer, 0, length, at);
    yield [{ kind: "complete", bytes: buffer.subarray(0, length), offset: at }];
    at += length;
  }
}

async function readRawHeader(source: PlainSource): Promise<Buffer> {
  const { file, size } = source;
  for (let length = Math.min(size, 4096); length > 0;) {
    const head = Buffer.allocUnsafe(length);
    await readFully(file, head, 0, length, 0);
    const end = head.indexOf(10);
    if (end !== -1) return head.subarray(0, end + 1);
    if (length === size || length >= MAX_HEADER_BYTES) break;
    length = Math.min(size, length * 8, MAX_HEADER_BYTES);
  }
  throw headerless(source);
}
