import { type Gap } from "../../format/schema";
import { gapsOf, type PlacedRecording, type Transcript, type TurnRange, type TurnRole } from "../transcript";

/** What `persyk show --json` and the `json` export give. */
export interface TranscriptDocument {
  id: string;
  location: string;
  createdAt: string;
  leaf: string | null;
  label: string;
  history: {
    entryId: string;
    role: TurnRole;
    text: string;
    timestamp: string;
    /** Where in a recording it was said; null when that is not known. */
    range: TurnRange | null;
  }[];
  recordings: Omit<PlacedRecording, "gaps" | "offsetMs" | "extentMs">[];
  gaps: (Gap & { recordingId: string })[];
}

export function toDocument(transcript: Transcript): TranscriptDocument {
  const { sessionId, location, createdAt, leaf, label, turns, recordings } = transcript;
  return {
    id: sessionId,
    location,
    createdAt,
    leaf,
    label,
    history: turns.map(({ entryId, role, text, timestamp, range }) => ({ entryId, role, text, timestamp, range })),
    recordings: recordings.map(({ recordingId, startedAt, state, outcome, reason, durationMs, asset }) => ({
      recordingId,
      startedAt,
      state,
      outcome,
      reason,
      durationMs,
      asset,
    })),
    gaps: gapsOf(recordings),
  };
}
