import { formatDuration } from "../../library/duration";
import { gapsOf, placeOf, speakerOf, type PlacedRecording, type Transcript, type Turn } from "../../library/transcript";
import { type CliContext } from "../context";
import { cell, formatTime, plural, printable } from "./format";
import { wrap } from "./wrap";

/** A transcript for people: who spoke when, the recordings and the gaps. */
export function renderTranscript(cli: CliContext, transcript: Transcript): string {
  const { style } = cli;
  const { label, sessionId, createdAt, turns, recordings } = transcript;
  const lines = [
    style.bold(cell(label) || "(no text)"),
    style.dim(`${formatTime(createdAt)}  ${sessionId}`),
    ...recordings.map((recording) => `${style.dim("recording")} ${describe(cli, recording)}`),
  ];
  for (const turn of turns) lines.push("", ...renderTurn(cli, turn, recordings));
  if (turns.length === 0) lines.push("", style.dim("No messages."));
  const gaps = gapsOf(recordings);
  if (gaps.length > 0) lines.push("", style.yellow(plural(gaps.length, "gap")));
  for (const { startMs, endMs, reason } of gaps) {
    const when =
      startMs === undefined || endMs === undefined
        ? ""
        : `${formatDuration(startMs, true)} – ${formatDuration(endMs, true)}  `;
    lines.push(`  ${when}${cell(reason)}`);
  }
  return lines.join("\n");
}

function renderTurn(cli: CliContext, turn: Turn, recordings: readonly PlacedRecording[]): string[] {
  const { style } = cli;
  const paint = turn.role === "user" ? style.cyan : turn.role === "assistant" ? style.green : style.yellow;
  const range = placeOf(turn, recordings);
  const when = range === null ? "" : `  ${formatDuration(range.startMs, true)} – ${formatDuration(range.endMs, true)}`;
  const text = printable(turn.text).split("\n");
  return [
    `${paint(speakerOf(turn.role))}${style.dim(`${when}  ${turn.entryId}`)}`,
    ...text.flatMap((line) => wrap(line, Math.min(cli.columns, 100) - 2)).map((line) => `  ${line}`),
  ];
}

function describe(cli: CliContext, recording: PlacedRecording): string {
  const length = recording.durationMs === null ? "length not recorded" : formatDuration(recording.durationMs, true);
  const file =
    recording.asset.status === "available" ? recording.asset.path : `missing: ${cell(recording.asset.reason)}`;
  const state = recording.state === "finished" ? (recording.outcome ?? "finished") : recording.state;
  const paint = state === "complete" ? cli.style.green : cli.style.yellow;
  return `${length}  ${paint(state)}${recording.reason === null ? "" : ` (${cell(recording.reason)})`}  ${cli.style.dim(file)}`;
}
