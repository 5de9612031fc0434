import { placeOf, speakerOf, type Transcript } from "../transcript";

interface Cue {
  startMs: number;
  endMs: number;
  text: string;
}

/** Cues for the turns whose time is known; a turn without one has no place in subtitles and is left out. */
function cuesOf(transcript: Transcript): Cue[] {
  const placed = transcript.turns.flatMap((turn) => {
    const range = placeOf(turn, transcript.recordings);
    const text = turn.text.trim();
    return range === null || text === "" ? [] : [{ ...range, role: turn.role, text }];
  });
  const mixed = new Set(placed.map((turn) => turn.role)).size > 1;
  return placed
    .map(({ startMs, endMs, role, text }) => ({ startMs, endMs, text: mixed ? `${speakerOf(role)}: ${text}` : text }))
    .sort((a, b) => a.startMs - b.startMs);
}

/** SubRip subtitles. Several recordings count as one after another, as their WAV files would play. */
export function exportSrt(transcript: Transcript): string {
  return cuesOf(transcript)
    .map(
      ({ startMs, endMs, text }, index) =>
        `${index + 1}\n${clock(startMs, ",")} --> ${clock(endMs, ",")}\n${withoutBlankLines(text).replaceAll("-->", "→")}\n`,
    )
    .join("\n");
}

/** WebVTT subtitles, times as in `exportSrt`. */
export function exportVtt(transcript: Transcript): string {
  const cues = cuesOf(transcript).map(({ startMs, endMs, text }) => {
    const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    return `${clock(startMs, ".")} --> ${clock(endMs, ".")}\n${withoutBlankLines(escaped)}\n`;
  });
  return ["WEBVTT\n", ...cues].join("\n");
}

/** A blank line would end the cue. */
function withoutBlankLines(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/\n\s*\n/g, "\n");
}

function clock(totalMs: number, separator: "," | "."): string {
  const pad = (value: number, width: number): string => `${value}`.padStart(width, "0");
  const hours = Math.floor(totalMs / 3_600_000);
  const minutes = Math.floor(totalMs / 60_000) % 60;
  const seconds = Math.floor(totalMs / 1000) % 60;
  return `${pad(hours, 2)}:${pad(minutes, 2)}:${pad(seconds, 2)}${separator}${pad(Math.floor(totalMs % 1000), 3)}`;
}
