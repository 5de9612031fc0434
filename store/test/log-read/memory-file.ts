import { type BigIntStats, statSync } from "node:fs";
import { type LogIndex, scanLog, type ScanOptions } from "../../src/log/scan";
import { type OpenFile } from "../../src/platform/fs";

const template = statSync(__filename, { bigint: true });

/** A log in memory, for the many thousand variants that are read once; counts what was read. */
export class MemoryFile implements OpenFile {
  readonly fd = -1;
  bytes: Buffer;
  bytesRead = 0;
  /** At most so many bytes a read, as a system may give. */
  readonly chunk: number;
  #version = 0n;

  constructor(bytes: Buffer, chunk = Infinity) {
    this.bytes = bytes;
    this.chunk = chunk;
  }

  replaceContent(bytes: Buffer): void {
    this.bytes = bytes;
    this.#version += 1n;
  }

  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }> {
    const part = this.bytes.subarray(position, position + Math.min(length, this.chunk));
    buffer.set(part, offset);
    this.bytesRead += part.length;
    return Promise.resolve({ bytesRead: part.length });
  }

  stat(): Promise<BigIntStats> {
    const stat = Object.assign(Object.create(template) as BigIntStats, template);
    stat.size = BigInt(this.bytes.length);
    stat.mtimeNs = this.#version;
    return Promise.resolve(stat);
  }

  write = refuse;
  sync = refuse;
  truncate = refuse;

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function refuse(): Promise<never> {
  return Promise.reject(new Error("a reader writes nothing"));
}

export function scanBytes(bytes: Buffer, chunk?: number, options?: ScanOptions): Promise<LogIndex> {
  return scanLog(new MemoryFile(bytes, chunk), options);
}

/** What two indexes of the same log have in common. */
export function describeLog(log: LogIndex): object {
  const { header, verdict, recoverable, committedBytes, size, entries, diagnostics } = log;
  const rows = Array.from({ length: entries.count }, (_, position) => [
    entries.idOf(position),
    entries.typeOf(position),
    entries.offsetOf(position),
    entries.lengthOf(position),
    entries.parentOf(position),
    entries.removalTargetOf(position),
  ]);
  return { header, verdict, recoverable, committedBytes, size, rows, diagnostics };
}
