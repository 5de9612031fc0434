/** Reads and writes that are complete or fail: the system may always do less than it was asked for. */
import { type BigIntStats } from "node:fs";
import { StoreError } from "../errors";
import { type OpenFile } from "./fs";

/** Writes all bytes at a position, or at the end when it is null. */
export async function writeFully(file: OpenFile, bytes: Uint8Array, position: number | null): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const at = position === null ? null : position + done;
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at);
    if (bytesWritten === 0) throw new StoreError("io-error", { message: "The disk took no more bytes." });
    done += bytesWritten;
  }
}

/** Reads exactly `length` bytes. A file that gives fewer, though its size promised them, is `unavailable`. */
export async function readFully(file: OpenFile, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(bytes, done, length - done, position + done);
    if (bytesRead === 0) throw new StoreError("unavailable", { offset: position + done });
    done += bytesRead;
  }
  return bytes;
}

/** Up to this size some Linux file systems keep a file in its inode, without blocks. */
const MAX_INLINE_BYTES = 4_096n;

/** True for a file whose content a sync service has taken off this computer: it has a size and no blocks. */
export function isDataless(stat: BigIntStats): boolean {
  if (stat.blocks !== 0n || stat.size === 0n) return false;
  return process.platform === "darwin" || stat.size > MAX_INLINE_BYTES;
}
