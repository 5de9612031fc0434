import { join } from "node:path";
import { StoreError } from "../errors";
import { assetFolder, assetNameOf, assetPathOf, openConfined } from "../assets/asset-path";
import { readWav, repairWav, type WavReport } from "../assets/wav";
import { isCaptureFormat } from "../assets/wav-format";
import { type LogFacts } from "../log/facts";
import { type FileSystem } from "../platform/fs";
import { type PinnedDirectory } from "../platform/pinned-directory";

/** What recovery found out about one recording that had not ended, and did to its WAV file. */
export interface RecordingRecovery {
  readonly recordingId: string;
  /** Where the WAV file is; null when the log names none. */
  readonly path: string | null;
  readonly outcome: "intact" | "repaired" | "rejected";
  readonly frames: number | null;
  readonly durationMs: number | null;
  /** Why nothing could be counted: a reason of the WAV scan, `missing`, `foreign-format` or `no-asset`. */
  readonly reason: string | null;
}

export interface InterruptedRecording {
  readonly recordingId: string;
  readonly assetPath: string | undefined;
}

/** The recordings that began and have no end, in file order. */
export function interruptedRecordings(facts: LogFacts): InterruptedRecording[] {
  return [...facts.recordings()]
    .filter(([, recording]) => !recording.ended)
    .map(([recordingId, { assetPath }]) => ({ recordingId, assetPath }));
}

/**
 * Repairs the WAV file of an interrupted recording. The capture locks of the session are held. Throws when the file is
 * there but cannot be read now; a file that can never be repaired is an answer.
 */
export async function recoverRecording(
  fs: FileSystem,
  session: PinnedDirectory,
  { recordingId, assetPath }: InterruptedRecording,
  { dryRun }: { dryRun: boolean },
): Promise<RecordingRecovery> {
  const rejected = (path: string | null, reason: string): RecordingRecovery => ({
    recordingId,
    path,
    outcome: "rejected",
    frames: null,
    durationMs: null,
    reason,
  });
  if (assetPath === undefined) return rejected(null, "no-asset");
  const name = assetNameOf(assetPath);
  const path = join(assetFolder(session), name);
  const ownCapture = assetPath === assetPathOf(`${recordingId}.wav`);
  const report = await withoutMissing(() => examine(fs, session, name, { dryRun, ownCapture }));
  if (report === undefined) return rejected(path, "missing");
  if (report.outcome === "rejected") return rejected(path, report.reason);
  const { outcome, frames, durationMs } = report;
  return { recordingId, path, outcome, frames, durationMs, reason: null };
}

async function examine(
  fs: FileSystem,
  session: PinnedDirectory,
  name: string,
  { dryRun, ownCapture }: { dryRun: boolean; ownCapture: boolean },
): Promise<WavReport | { outcome: "rejected"; reason: "foreign-format" }> {
  const file = await openConfined(fs, session, name, dryRun ? "read" : "update");
  try {
    const report = await readWav(file);
    if (report.outcome === "rejected") return report;
    // A native capture has one format only; another one is somebody else's file in its place, and stays as it is.
    if (ownCapture && !isCaptureFormat(report.format, report.dataOffset)) {
      return { outcome: "rejected", reason: "foreign-format" };
    }
    return dryRun || report.outcome === "intact" ? report : await repairWav(file);
  } finally {
    await file.close();
  }
}

async function withoutMissing<T>(step: () => Promise<T>): Promise<T | undefined> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof StoreError && error.code === "asset-missing") return undefined;
    throw error;
  }
}
