import { crc32 } from "node:zlib";
import { type OpenFile } from "../platform/fs";

/** How much of the end of a record is compared. */
const MAX_COMPARED_BYTES = 512;

/** The end of a committed record with its LF, to be found again later in the same place. */
export interface Fingerprint {
  matches(file: OpenFile): Promise<boolean>;
}

/** Remembers a record as it is in the file now; undefined without a record. */
export async function fingerprintAt(
  file: OpenFile,
  record: { offset: number; length: number } | undefined,
): Promise<Fingerprint | undefined> {
  if (record === undefined) return undefined;
  const length = Math.min(record.length + 1, MAX_COMPARED_BYTES);
  const position = record.offset + record.length + 1 - length;
  const sum = await sumOf(file, position, length);
  return { matches: async (other) => (await sumOf(other, position, length)) === sum };
}

/** The same for a record whose bytes, LF included, are at hand and end at an offset of the file. */
export function fingerprintOf(bytes: Buffer, end: number): Fingerprint {
  const compared = bytes.subarray(-MAX_COMPARED_BYTES);
  const sum = crc32(compared);
  return { matches: async (other) => (await sumOf(other, end - compared.length, compared.length)) === sum };
}

/** -1 when the bytes are not all there. */
async function sumOf(file: OpenFile, position: number, length: number): Promise<number> {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(bytes, done, length - done, position + done);
    if (bytesRead === 0) return -1;
    done += bytesRead;
  }
  return crc32(bytes);
}
