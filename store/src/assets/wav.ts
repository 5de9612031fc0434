/**
 * Inspection and explicit repair of WAV files whose writer ended before it finished: Session file format, "Native
 * writes, assets and recovery" ("preserves samples, fixes sizes").
 */
import { asStoreError } from "../platform/errno";
import { StoreError } from "../errors";
import { nodeFileSystem, type FileSystem, type OpenFile } from "../platform/fs";
import { isDataless, writeFully } from "../platform/whole-file";
import { systemCaptureLock, type CaptureLock } from "../lock/capture-lock";
import { type WavFormat } from "./wav-format";
import { MAX_RIFF_SIZE, scanWav, type WavLayout, type WavRejection } from "./wav-scan";

/**
 * - `intact`: the sizes describe the file; nothing is or was written.
 * - `repaired`: the sizes were, or in an inspection would be, made to describe the samples on disk.
 * - `rejected`: not a file that can be repaired exactly; no byte is changed.
 */
export type WavReport =
  | ({ readonly outcome: "intact" | "repaired" } & WavContent)
  | { readonly outcome: "rejected"; readonly reason: WavRejection };

export interface WavContent {
  readonly format: WavFormat;
  readonly frames: number;
  /** Rounded to whole milliseconds. */
  readonly durationMs: number;
  readonly dataOffset: number;
  readonly dataBytes: number;
  /** Bytes of an incomplete last frame, which are not counted. */
  readonly droppedTrailingBytes: number;
}

export interface WavOptions {
  fs?: FileSystem;
  captureLock?: CaptureLock;
}

/** Says what recovery would do, and does nothing. */
export async function inspectWav(path: string, options: WavOptions = {}): Promise<WavReport> {
  return withWav(options.fs ?? nodeFileSystem, path, "read", async (file) => judge(await scanWav(file)));
}

/**
 * Repairs the sizes of an interrupted file in place. Takes the capture lock first: `capture-live` while anybody records
 * into it, whatever its header or age say. Safe to interrupt at any point and to run again.
 */
export async function recoverWav(path: string, options: WavOptions = {}): Promise<WavReport> {
  const held = await (options.captureLock ?? systemCaptureLock).tryAcquire(path);
  if (held === undefined) throw new StoreError("capture-live");
  try {
    const fs = options.fs ?? nodeFileSystem;
    const report = await withWav(fs, path, "read", async (file) => judge(await scanWav(file)));
    if (report.outcome !== "repaired") return report;
    return await withWav(fs, path, "update", repairWav);
  } finally {
    await held.release();
  }
}

async function withWav<T>(
  fs: FileSystem,
  path: string,
  mode: "read" | "update",
  use: (file: OpenFile) => Promise<T>,
): Promise<T> {
  try {
    const file = await fs.open(path, mode);
    try {
      const stat = await file.stat({ bigint: true });
      if (!stat.isFile() || (mode === "update" && stat.nlink !== 1n)) throw new StoreError("unsafe-path");
      if (isDataless(stat)) throw new StoreError("unavailable");
      return await use(file);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw asStoreError(error, {}, mode === "read" ? "read the WAV file" : "repair the WAV file");
  }
}

/** Reads what an open WAV file holds, without judging or changing it. */
export async function readWav(file: OpenFile): Promise<WavReport> {
  return judge(await scanWav(file));
}

/** Repairs an open file. The caller holds its capture lock. */
export async function repairWav(file: OpenFile): Promise<WavReport> {
  const scan = await scanWav(file);
  const report = judge(scan);
  if (scan.kind === "rejected" || report.outcome !== "repaired") return report;
  await patchSizes(file, scan, report);
  return report;
}

function judge(scan: WavLayout | { kind: "rejected"; reason: WavRejection }): WavReport {
  if (scan.kind === "rejected") return { outcome: "rejected", reason: scan.reason };
  const { fileSize, dataOffset, dataSize, format } = scan;
  const behind = fileSize - dataOffset;
  const consistent =
    scan.riffSize + 8 === fileSize &&
    dataSize <= behind &&
    dataSize % format.blockAlign === 0 &&
    (dataSize > 0 || behind === 0);
  if (consistent) return { outcome: "intact", ...content(scan, dataSize, 0) };
  const stray = behind % format.blockAlign;
  return { outcome: "repaired", ...content(scan, behind - stray, stray) };
}

function content(scan: WavLayout, dataBytes: number, droppedTrailingBytes: number): WavContent {
  const frames = dataBytes / scan.format.blockAlign;
  return {
    format: scan.format,
    frames,
    durationMs: Math.round((frames * 1_000) / scan.format.sampleRate),
    dataOffset: scan.dataOffset,
    dataBytes,
    droppedTrailingBytes,
  };
}

/**
 * The RIFF size comes last and everything else is on the disk before it, so that a file whose repair was cut short
 * never looks intact before it is.
 */
async function patchSizes(file: OpenFile, scan: WavLayout, repaired: WavContent): Promise<void> {
  const end = repaired.dataOffset + repaired.dataBytes;
  if (end - 8 > MAX_RIFF_SIZE) throw new StoreError("file-too-large");
  if (scan.fileSize !== end) {
    await file.truncate(end);
    await file.sync();
  }
  if (scan.fact !== undefined && scan.fact.frames !== repaired.frames) {
    await writeFully(file, uint32(repaired.frames), scan.fact.offset);
    await file.sync();
  }
  await writeFully(file, uint32(repaired.dataBytes), repaired.dataOffset - 4);
  await file.sync();
  await writeFully(file, uint32(end - 8), 4);
  await file.sync();
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
