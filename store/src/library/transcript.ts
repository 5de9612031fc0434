import { type AssetReference, type Block, type Gap, isAudioBlock } from "../format/schema";
import { type HistoryItem, type RecordingSummary, type Session } from "../session/session";
import { textOf } from "../session/text";

export type TurnRole = "user" | "assistant" | "toolResult" | "custom";

/** Where in a recording something was said. Only from the session's own evidence; never estimated. */
export interface TurnRange {
  /** Null when the audio block names no recording. */
  recordingId: string | null;
  startMs: number;
  endMs: number;
}

/** One surviving message of the history. */
export interface Turn {
  entryId: string;
  role: TurnRole;
  text: string;
  /** The envelope's timestamp: when the entry was saved. */
  timestamp: string;
  /** When it was spoken, where that is known. */
  range: TurnRange | null;
}

/** A recording with its place on one axis that has all recordings of the session end to end. */
export interface PlacedRecording {
  recordingId: string;
  startedAt: string;
  state: "finished" | "interrupted" | "open";
  outcome: "complete" | "incomplete" | null;
  reason: string | null;
  /** Null when no end was recorded. */
  durationMs: number | null;
  asset: AssetReference;
  gaps: Gap[];
  /** Where the recording begins on the common axis. */
  offsetMs: number;
  /** Its extent on the axis: the recorded duration, or what its turns and gaps reach where none is recorded. */
  extentMs: number;
}

/** What all exports and `persyk show` are made from: the selected history with its recordings. */
export interface Transcript {
  sessionId: string;
  location: string;
  createdAt: string;
  label: string;
  leaf: string | null;
  turns: Turn[];
  recordings: PlacedRecording[];
}

/** Reads the selected history of a session; the default leaf when none is given. */
export async function readTranscript(
  session: Session,
  leaf?: string | null,
  options: { signal?: AbortSignal } = {},
): Promise<Transcript> {
  const selected = leaf === undefined ? session.leaf : leaf;
  const history = await session.history(selected, options);
  const { label } = await session.info(selected);
  const turns = history.map(toTurn);
  const recordings = await session.recordings();
  options.signal?.throwIfAborted();
  return {
    sessionId: session.id,
    location: session.location,
    createdAt: session.createdAt,
    label,
    leaf: selected,
    turns,
    recordings: place(recordings, turns),
  };
}

function toTurn(item: HistoryItem): Turn {
  const common = { entryId: item.id, timestamp: item.timestamp, text: textOf(item) };
  if (item.type === "custom_message") {
    return { ...common, role: "custom", range: typeof item.content === "string" ? null : rangeOf(item.content) };
  }
  return { ...common, role: item.message.role, range: rangeOf(item.message.content) };
}

/** The range that the audio blocks of one recording cover together. */
function rangeOf(content: readonly Block[]): TurnRange | null {
  let range: TurnRange | null = null;
  for (const block of content) {
    if (!isAudioBlock(block) || block.startMs === undefined || block.endMs === undefined) continue;
    const recordingId = block.recordingId ?? null;
    if (range === null) range = { recordingId, startMs: block.startMs, endMs: block.endMs };
    else if (range.recordingId === recordingId) {
      range.startMs = Math.min(range.startMs, block.startMs);
      range.endMs = Math.max(range.endMs, block.endMs);
    }
  }
  return range;
}

function place(recordings: readonly RecordingSummary[], turns: readonly Turn[]): PlacedRecording[] {
  let offsetMs = 0;
  return recordings.map((recording) => {
    const { recordingId, startedAt, state, asset, gaps } = recording;
    const ends = [
      ...turns.filter((turn) => turn.range?.recordingId === recordingId).map((turn) => turn.range?.endMs ?? 0),
      ...gaps.map((gap) => gap.endMs ?? 0),
    ];
    const placed: PlacedRecording = {
      recordingId,
      startedAt,
      state,
      outcome: recording.outcome ?? null,
      reason: recording.reason ?? null,
      durationMs: recording.durationMs ?? null,
      asset,
      gaps: [...gaps],
      offsetMs,
      extentMs: recording.durationMs ?? Math.max(0, ...ends),
    };
    offsetMs += placed.extentMs;
    return placed;
  });
}

/** A turn's range on the common axis; null when it has no time, or its recording is not one of the session's. */
export function placeOf(turn: Turn, recordings: readonly PlacedRecording[]): { startMs: number; endMs: number } | null {
  const { range } = turn;
  if (range === null) return null;
  const recording =
    range.recordingId === null
      ? recordings.length === 1
        ? recordings[0]
        : undefined
      : recordings.find((candidate) => candidate.recordingId === range.recordingId);
  if (recording === undefined) return null;
  return { startMs: recording.offsetMs + range.startMs, endMs: recording.offsetMs + range.endMs };
}

/** Every gap of every recording, in order. */
export function gapsOf(recordings: readonly PlacedRecording[]): (Gap & { recordingId: string })[] {
  return recordings.flatMap(({ recordingId, gaps }) => gaps.map((gap) => ({ recordingId, ...gap })));
}

const speakers: Record<TurnRole, string> = { user: "You", assistant: "Assistant", toolResult: "Tool", custom: "Note" };

export function speakerOf(role: TurnRole): string {
  return speakers[role];
}

/**
 * The text of a transcript as it is copied: the surviving messages, one a line. Where more than one role speaks, each
 * line says whose it is and turns stand apart. Tool results are not a part of it.
 */
export function plainText(turns: readonly Turn[]): string {
  const spoken = turns.filter((turn) => turn.role !== "toolResult" && turn.text.trim() !== "");
  const mixed = new Set(spoken.map((turn) => turn.role)).size > 1;
  return mixed
    ? spoken.map((turn) => `${speakerOf(turn.role)}: ${turn.text.trim()}`).join("\n\n")
    : spoken.map((turn) => turn.text.trim()).join("\n");
}

/** The surviving canonical text of a session, as Copy Last Transcript copies it. */
export async function transcriptText(session: Session, leaf?: string | null): Promise<string> {
  return plainText((await readTranscript(session, leaf)).turns);
}
