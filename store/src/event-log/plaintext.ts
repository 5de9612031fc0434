/** Event-log backend, Physical encoding: the lines of a log as a stream of plain bytes, whichever way they are stored. */
import { corrupt } from "./errors";
import { StoreError } from "../errors";
import { walkFrame } from "./frames";
import { MAX_HEADER_BYTES } from "./header";
import { readFully, type ReadableFile } from "./log-file";
import { type Compression } from "./types";
import { decodeTornFrame, FrameDecoder } from "./zstd";

/** Bytes asked for at once. */
const WINDOW_BYTES = 1024 * 1024;

export interface ReadLimits {
  /** What one frame, or one line of an uncompressed log, may hold when decoded, in bytes. */
  readonly maxFrameBytes: number;
}

export const DEFAULT_LIMITS: ReadLimits = { maxFrameBytes: 256 * 1024 * 1024 };

/** One piece of a log. The bytes are valid until the next piece is asked for. */
export interface PlainPiece {
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

/** The pieces of a log from its start: first the header line with its LF, then all that follows. */
export function plaintext(source: PlainSource): AsyncGenerator<PlainPiece, void> {
  return source.compression === "zstd" ? framedPieces(source) : rawPieces(source);
}

function headerless(source: PlainSource): StoreError {
  const kind = source.compression === "zstd" ? "Zstandard " : "";
  return corrupt(`empty or header-less ${kind}session log`, { line: 1, offset: 0 });
}

async function* framedPieces(source: PlainSource): AsyncGenerator<PlainPiece, void> {
  const decoder = new FrameDecoder(source.limits.maxFrameBytes);
  const headerDecoder = new FrameDecoder(MAX_HEADER_BYTES);
  try {
    let isFirst = true;
    for await (const { frame, offset, contentSize, isComplete } of frames(source, 0)) {
      if (!isComplete) {
        if (isFirst) throw headerless(source);
        yield { kind: "torn", bytes: await decodeTornFrame(frame, offset, source.limits.maxFrameBytes), offset };
        return;
      }
      const bytes = await (isFirst ? headerDecoder : decoder).decode(frame, contentSize, offset);
      if (isFirst && (bytes.length === 0 || bytes.indexOf(10) !== bytes.length - 1)) {
        throw corrupt("corrupt Zstandard session log: first frame is not exactly one header line", { offset: 0 });
      }
      yield { kind: isFirst ? "header" : "complete", bytes, offset };
      isFirst = false;
    }
    if (isFirst) throw headerless(source);
  } finally {
    decoder.close();
    headerDecoder.close();
  }
}

export interface FrameBytes {
  readonly frame: Buffer;
  readonly offset: number;
  readonly contentSize: number | undefined;
  /** False for the last frame of a torn log. */
  readonly isComplete: boolean;
}

/** The frames of a compressed log from a frame's start on, undecoded. The bytes are valid until the next frame. */
export async function* frames(source: PlainSource, from: number): AsyncGenerator<FrameBytes, void> {
  const { file, size, limits } = source;
  const maxFrame = limits.maxFrameBytes + (limits.maxFrameBytes >>> 8) + WINDOW_BYTES;
  let buffer = Buffer.allocUnsafeSlow(Math.min(WINDOW_BYTES, size - from));
  /** File offset of the buffer's first byte, bytes that are filled, and where the next frame starts in it. */
  let base = from;
  let filled = 0;
  let at = 0;
  while (base + at < size) {
    const view = buffer.subarray(0, filled);
    const walk = filled > at ? walkFrame(view, at, base) : ({ kind: "open" } as const);
    if (walk.kind === "complete") {
      const frame = view.subarray(at, walk.end);
      yield { frame, offset: base + at, contentSize: walk.contentSize, isComplete: true };
      at = walk.end;
      continue;
    }
    const rest = filled - at;
    if (base + filled >= size) {
      yield { frame: view.subarray(at), offset: base + at, contentSize: undefined, isComplete: false };
      return;
    }
    if (rest >= maxFrame) {
      throw new StoreError("event-log-too-large", { offset: base + at, message: `the frame at byte ${base + at}` });
    }
    const wanted = Math.min(size - base - at, Math.max(WINDOW_BYTES, rest * 2));
    const next = wanted > buffer.length ? Buffer.allocUnsafeSlow(wanted) : buffer;
    buffer.copy(next, 0, at, filled);
    buffer = next;
    base += at;
    at = 0;
    filled = rest;
    const length = Math.min(buffer.length, size - base) - filled;
    await readFully(file, buffer, filled, length, base + filled);
    filled += length;
  }
}

async function* rawPieces(source: PlainSource): AsyncGenerator<PlainPiece, void> {
  const { file, size } = source;
  const header = await readRawHeader(source);
  yield { kind: "header", bytes: header, offset: 0 };
  const buffer = Buffer.allocUnsafeSlow(Math.max(1, Math.min(WINDOW_BYTES, size - header.length)));
  for (let at = header.length; at < size;) {
    const length = Math.min(buffer.length, size - at);
    await readFully(file, buffer, 0, length, at);
    yield { kind: "complete", bytes: buffer.subarray(0, length), offset: at };
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
