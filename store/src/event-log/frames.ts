/**
 * The structure of a Zstandard frame (RFC 8878), walked without decompressing: Event-log backend, Physical encoding.
 * A file that ends inside a frame is torn there; anything else than a frame where one must start is corruption.
 */
import { corrupt } from "./errors";

const MAGIC = 0xfd2fb528;
const RESERVED_BITS = 0x18;
const BLOCK_RLE = 1;
const BLOCK_RESERVED = 3;

type FrameWalk =
  | { readonly kind: "complete"; readonly end: number; readonly contentSize: number | undefined }
  /** The bytes end inside the frame. */
  | { readonly kind: "open" };

/**
 * Walks one frame that starts at `start` of a buffer whose first byte is at `base` in the file.
 * Throws `event-log-corrupt` with the byte offset for bytes that no frame can have.
 */
export function walkFrame(buffer: Buffer, start: number, base = 0): FrameWalk {
  const length = buffer.length;
  if (length - start < 4) return { kind: "open" };
  if (buffer.readUInt32LE(start) !== MAGIC) {
    throw corrupt(`corrupt Zstandard session log: invalid frame magic at byte ${base + start}`, {
      offset: base + start,
    });
  }
  let at = start + 4;
  if (at >= length) return { kind: "open" };
  const descriptor = buffer.readUInt8(at);
  if ((descriptor & RESERVED_BITS) !== 0) {
    throw corrupt(`corrupt Zstandard session log: reserved frame-header bit at byte ${base + at}`, {
      offset: base + at,
    });
  }
  at += 1;
  const singleSegment = (descriptor & 0x20) !== 0;
  const dictionaryFlag = descriptor & 3;
  const dictionaryBytes = dictionaryFlag === 3 ? 4 : dictionaryFlag;
  const sizeFlag = descriptor >>> 6;
  const sizeBytes = sizeFlag === 0 ? (singleSegment ? 1 : 0) : 1 << sizeFlag;
  const sizeAt = at + (singleSegment ? 0 : 1) + dictionaryBytes;
  at = sizeAt + sizeBytes;
  if (at > length) return { kind: "open" };
  const contentSize = readContentSize(buffer, sizeAt, sizeBytes);
  for (;;) {
    if (length - at < 3) return { kind: "open" };
    const header = (buffer[at] ?? 0) | ((buffer[at + 1] ?? 0) << 8) | ((buffer[at + 2] ?? 0) << 16);
    const type = (header >>> 1) & 3;
    if (type === BLOCK_RESERVED) {
      throw corrupt(`corrupt Zstandard session log: reserved block type at byte ${base + at}`, { offset: base + at });
    }
    at += 3 + (type === BLOCK_RLE ? 1 : header >>> 3);
    if (at > length) return { kind: "open" };
    if ((header & 1) !== 0) break;
  }
  if ((descriptor & 4) !== 0) at += 4;
  return at > length ? { kind: "open" } : { kind: "complete", end: at, contentSize };
}

function readContentSize(buffer: Buffer, at: number, bytes: number): number | undefined {
  switch (bytes) {
    case 1:
      return buffer.readUInt8(at);
    case 2:
      return buffer.readUInt16LE(at) + 256;
    case 4:
      return buffer.readUInt32LE(at);
    case 8:
      return Number(buffer.readBigUInt64LE(at));
    default:
      return undefined;
  }
}
