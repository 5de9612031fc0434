/** The lines of a log as they are, for a session of any verdict. */
import { MAX_RECORD_BYTES } from "../format/names";
import { type OpenFile } from "../platform/fs";

export interface RawRecord {
  /** 1-based. */
  line: number;
  /** Bytes from the start of the file. */
  offset: number;
  /** What is between two line feeds; the first mebibyte of it where it is longer. */
  bytes: Buffer;
  /** False for what follows the last line feed. */
  terminated: boolean;
  /** True when the line is longer than `bytes`. */
  truncated: boolean;
}

/** A place in a log: where a line begins. */
export interface RawCursor {
  line: number;
  offset: number;
}

export interface RawPage {
  records: RawRecord[];
  /** Where the next page begins; null at the end. */
  next: RawCursor | null;
}

export interface RawPageOptions {
  from?: RawCursor;
  /** At most so many records; 200 by default. */
  limit?: number;
  /** At most about so many bytes; 4 MiB by default. */
  maxBytes?: number;
}

const LINE_FEED = 0x0a;
const DEFAULT_LIMIT = 200;
const DEFAULT_MAX_BYTES = 4 * 1_048_576;
const CHUNK_BYTES = 256 * 1024;

/** Reads lines from a cursor on. */
export async function readRawRecords(file: OpenFile, options: RawPageOptions = {}): Promise<RawPage> {
  const limit = options.limit ?? DEFAULT_LIMIT;
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  let { line, offset } = options.from ?? { line: 1, offset: 0 };
  const records: RawRecord[] = [];
  const chunks = new Chunks(file);
  let kept = 0;
  while (records.length < limit && (kept < maxBytes || records.length === 0)) {
    const record = await readLine(chunks, line, offset);
    if (record === undefined) return { records, next: null };
    records.push(record.raw);
    if (!record.raw.terminated) return { records, next: null };
    kept += record.raw.bytes.length;
    line += 1;
    offset = record.end;
  }
  const more = (await chunks.at(offset)).length > 0;
  return { records, next: more ? { line, offset } : null };
}

async function readLine(
  chunks: Chunks,
  line: number,
  offset: number,
): Promise<{ raw: RawRecord; end: number } | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  for (let position = offset; ;) {
    const chunk = await chunks.at(position);
    const feed = chunk.indexOf(LINE_FEED);
    const part = feed === -1 ? chunk : chunk.subarray(0, feed);
    const room = MAX_RECORD_BYTES - Math.min(length, MAX_RECORD_BYTES);
    if (room > 0 && part.length > 0) parts.push(Buffer.from(part.subarray(0, room)));
    length += part.length;
    position += part.length;
    if (feed === -1 && chunk.length > 0) continue;
    const terminated = feed !== -1;
    if (!terminated && length === 0) return undefined;
    const raw = { line, offset, bytes: Buffer.concat(parts), terminated, truncated: length > MAX_RECORD_BYTES };
    return { raw, end: position + 1 };
  }
}

/** Reads a file in pieces, the last of which is kept. */
class Chunks {
  readonly #file: OpenFile;
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  #start = 0;
  #length = 0;

  constructor(file: OpenFile) {
    this.#file = file;
  }

  /** Some bytes from `position` on; none at the end of the file. Valid until the next call. */
  async at(position: number): Promise<Buffer> {
    if (position < this.#start || position >= this.#start + this.#length) {
      const { bytesRead } = await this.#file.read(this.#buffer, 0, CHUNK_BYTES, position);
      this.#start = position;
      this.#length = bytesRead;
    }
    return this.#buffer.subarray(position - this.#start, this.#length);
  }
}
