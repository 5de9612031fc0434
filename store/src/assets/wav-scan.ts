/**
 * What a WAV file says about itself and what is on disk. Chunks are walked from the start with bounds on everything and
 * the walk ends at the first `data`: structure is never looked for among samples, which may contain any bytes.
 */
import { type OpenFile } from "../platform/fs";
import { readFully } from "../platform/whole-file";
import { parseWavFormat, type WavFormat } from "./wav-format";

export type WavRejection =
  | "empty-file"
  | "truncated-header"
  | "not-riff-wave"
  | "unsupported-container"
  | "missing-fmt"
  | "invalid-fmt"
  | "unsupported-encoding"
  | "no-data-chunk";

/** The parts of a WAV file, with absolute byte offsets. Sizes are those declared, not those found. */
export interface WavLayout {
  readonly kind: "wav";
  readonly fileSize: number;
  readonly riffSize: number;
  readonly format: WavFormat;
  /** Offset of the frame count in a `fact` chunk before the samples, and its value. */
  readonly fact?: { readonly offset: number; readonly frames: number };
  /** Offset of the first sample. */
  readonly dataOffset: number;
  readonly dataSize: number;
}

export type WavScan = WavLayout | { readonly kind: "rejected"; readonly reason: WavRejection };

const RIFF_HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
const MAX_FMT_BYTES = 64;
/** Real files have a handful of chunks before their samples. */
const MAX_CHUNKS = 1_024;
/** The largest size that a RIFF field can hold. */
export const MAX_RIFF_SIZE = 0xffff_ffff;
const UNSUPPORTED_CONTAINERS = ["RF64", "BW64", "RIFX"];
const KNOWN_CHUNKS = ["data", "fmt ", "fact", "LIST", "bext", "JUNK", "FLLR", "cue ", "PEAK", "iXML", "id3 "];

const rejected = (reason: WavRejection): WavScan => ({ kind: "rejected", reason });

/** Scans an open file. Reads headers only, in a few small reads, however large the file is. */
export async function scanWav(file: OpenFile): Promise<WavScan> {
  const fileSize = Number((await file.stat({ bigint: true })).size);
  if (fileSize === 0) return rejected("empty-file");
  const head = await readFully(file, 0, Math.min(fileSize, RIFF_HEADER_BYTES));
  const container = judgeContainer(head);
  if (container !== undefined) return rejected(container);
  if (fileSize > MAX_RIFF_SIZE + 8) return rejected("unsupported-container");
  return walkChunks(file, fileSize, head.readUInt32LE(4));
}

function judgeContainer(head: Buffer): WavRejection | undefined {
  const name = head.toString("latin1", 0, 4);
  if (UNSUPPORTED_CONTAINERS.includes(name)) return "unsupported-container";
  if (!"RIFF".startsWith(name)) return "not-riff-wave";
  if (!"WAVE".startsWith(head.toString("latin1", 8))) return "not-riff-wave";
  return head.length < RIFF_HEADER_BYTES ? "truncated-header" : undefined;
}

async function walkChunks(file: OpenFile, fileSize: number, riffSize: number): Promise<WavScan> {
  let format: WavFormat | undefined;
  let fact: { offset: number; frames: number } | undefined;
  let at = RIFF_HEADER_BYTES;
  for (let count = 0; count < MAX_CHUNKS && at < fileSize; count += 1) {
    if (at + CHUNK_HEADER_BYTES > fileSize) return rejected("truncated-header");
    const header = await readFully(file, at, CHUNK_HEADER_BYTES);
    const name = header.toString("latin1", 0, 4);
    const size = header.readUInt32LE(4);
    const body = at + CHUNK_HEADER_BYTES;
    if (name === "data") {
      if (format === undefined) return rejected("missing-fmt");
      const layout = { kind: "wav", fileSize, riffSize, format, dataOffset: body, dataSize: size } as const;
      return fact === undefined ? layout : { ...layout, fact };
    }
    if (body + size > fileSize) return rejected("truncated-header");
    if (name === "fmt " && format === undefined) {
      const parsed = parseWavFormat(await readFully(file, body, Math.min(size, MAX_FMT_BYTES)));
      if (typeof parsed === "string") return rejected(parsed);
      format = parsed;
    }
    if (name === "fact" && size >= 4) fact = { offset: body, frames: (await readFully(file, body, 4)).readUInt32LE(0) };
    at = body + size + (size % 2 === 1 && !(await lacksPadding(file, body + size, fileSize)) ? 1 : 0);
  }
  return rejected(format === undefined ? "missing-fmt" : "no-data-chunk");
}

/** Some writers forget the pad byte after an odd chunk: then the name of the next chunk stands where it should be. */
async function lacksPadding(file: OpenFile, at: number, fileSize: number): Promise<boolean> {
  if (at + CHUNK_HEADER_BYTES > fileSize) return false;
  return KNOWN_CHUNKS.includes((await readFully(file, at, 4)).toString("latin1"));
}
