import { formatDuration } from "../duration";
import { gapsOf, placeOf, plainText, speakerOf, type Transcript } from "../transcript";

/** The transcript as it is copied. */
export function exportText(transcript: Transcript): string {
  const text = plainText(transcript.turns);
  return text === "" ? "" : `${text}\n`;
}

/** A Markdown document: title, recordings, turns with the times that are known, gaps. */
export function exportMarkdown(transcript: Transcript): string {
  const { label, createdAt, sessionId, recordings, turns } = transcript;
  const lines = [
    `# ${inline(label === "" ? "Untitled session" : label)}`,
    "",
    `Session \`${sessionId}\`, created ${createdAt}`,
    "",
  ];
  for (const recording of recordings) {
    const length = recording.durationMs === null ? "length not recorded" : formatDuration(recording.durationMs, true);
    const state = recording.state === "finished" ? (recording.outcome ?? "finished") : recording.state;
    const path = recording.asset.status === "available" ? `\`${recording.asset.path}\`` : "audio missing";
    lines.push(`- Recording ${path}: ${length}, ${state}, started ${recording.startedAt}`);
  }
  if (recordings.length > 0) lines.push("");
  for (const turn of turns) {
    const range = placeOf(turn, recordings);
    const time =
      range === null ? "" : ` (${formatDuration(range.startMs, true)} – ${formatDuration(range.endMs, true)})`;
    lines.push(`**${speakerOf(turn.role)}**${time}`, "", block(turn.text), "");
  }
  const gaps = gapsOf(recordings);
  if (gaps.length > 0) lines.push("## Gaps", "");
  for (const gap of gaps) {
    const where =
      gap.startMs === undefined || gap.endMs === undefined
        ? ""
        : `${formatDuration(gap.startMs, true)} – ${formatDuration(gap.endMs, true)}: `;
    lines.push(`- ${where}${inline(gap.reason)}`);
  }
  return `${lines.join("\n").trimEnd()}\n`;
}

/** Text that Markdown does not take for markup. */
function inline(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\\`*_{}[\]<>#|~]/g, "\\$&");
}

/** Paragraphs of text; each line is kept as a line of its own. */
function block(text: string): string {
  return text
    .split("\n")
    .map((line) =>
      inline(line)
        .trim()
        .replace(/^([-+])(?=\s|$)/, "\\$1")
        .replace(/^(\d+)([.)])(?=\s|$)/, "$1\\$2"),
    )
    .join("  \n");
}
