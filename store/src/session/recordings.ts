import { type AssetReference, type Entry, type Gap } from "../format/schema";

/** One capture period, as its lifecycle entries tell it. */
export interface RecordingSummary {
  recordingId: string;
  asset: AssetReference;
  /** ISO time of the `recording.started` entry. */
  startedAt: string;
  /** `open`: no end is recorded; it may still be running, or its end was lost. */
  state: "finished" | "interrupted" | "open";
  outcome?: "complete" | "incomplete";
  durationMs?: number;
  gaps: Gap[];
  /** Why it was interrupted. */
  reason?: string;
}

/** Folds `recording.*` entries in file order. The first start and the first end of a recording count. */
export function foldRecordings(entries: Iterable<Entry>): RecordingSummary[] {
  const recordings = new Map<string, RecordingSummary>();
  for (const entry of entries) {
    if (entry.type === "recording.started") {
      if (recordings.has(entry.recordingId)) continue;
      const { recordingId, asset, timestamp } = entry;
      recordings.set(recordingId, { recordingId, asset, startedAt: timestamp, state: "open", gaps: [] });
    } else if (entry.type === "recording.finished" || entry.type === "recording.interrupted") {
      const recording = recordings.get(entry.recordingId);
      if (recording?.state !== "open") continue;
      if (entry.durationMs !== undefined) recording.durationMs = entry.durationMs;
      if (entry.type === "recording.interrupted") {
        recording.state = "interrupted";
        recording.reason = entry.reason;
      } else {
        recording.state = "finished";
        recording.outcome = entry.outcome;
        recording.gaps = entry.gaps ?? [];
      }
    }
  }
  return [...recordings.values()];
}
