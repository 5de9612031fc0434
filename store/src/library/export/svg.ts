import { formatDuration } from "../duration";
import { placeOf, speakerOf, type PlacedRecording, type Transcript, type Turn } from "../transcript";
import { type Waveform } from "./peaks";
import { attribute, cut, escapeXml } from "./xml";

/**
 * A picture of a session: the waveform of its recordings, the turns and the gaps on one time axis, and the words
 * below. Plain SVG without scripts or fonts of its own; it follows the light or dark scheme of where it is shown.
 */
export function exportSvg(transcript: Transcript, waveforms: ReadonlyMap<string, Waveform>): string {
  const recordings = transcript.recordings.map((recording) => withExtent(recording, waveforms));
  let offsetMs = 0;
  for (const recording of recordings) {
    recording.offsetMs = offsetMs;
    offsetMs += recording.extentMs;
  }
  const axis: Axis = { totalMs: Math.max(offsetMs, 1), empty: offsetMs === 0 };
  const turns = transcript.turns.filter((turn) => turn.text.trim() !== "");
  const listed = turns.slice(0, MAX_ROWS);
  const listTop = WAVE_TOP + WAVE_HEIGHT + LANE_GAP + LANE_HEIGHT + AXIS_HEIGHT + 24;
  const rows = listed.length + (turns.length > listed.length ? 1 : 0);
  const height = listTop + rows * ROW_HEIGHT + (rows > 0 ? 12 : 0);
  const title = transcript.label === "" ? "Untitled session" : transcript.label;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${attribute(`${title}: waveform, turns and gaps`)}">`,
    `<title>${escapeXml(title)}</title>`,
    STYLE,
    `<rect class="card" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="14"/>`,
    `<text class="title" x="${LEFT}" y="42">${escapeXml(cut(title, 78))}</text>`,
    `<text class="small" x="${LEFT}" y="64">${escapeXml(subtitle(transcript, recordings, turns))}</text>`,
    ...recordings.map((recording) =>
      drawWave(recording, waveforms.get(recording.recordingId), turns, recordings, axis),
    ),
    ...drawLanes(turns, recordings, axis),
    ...recordings.flatMap((recording) => drawGaps(recording, axis)),
    ...drawAxis(axis, recordings),
    ...listed.map((turn, index) => drawRow(turn, index, recordings, listTop)),
    ...(turns.length > listed.length
      ? [
          `<text class="small" x="${LEFT + 142}" y="${listTop + listed.length * ROW_HEIGHT + 14}">and ${turns.length - listed.length} more</text>`,
        ]
      : []),
    "</svg>\n",
  ].join("\n");
}

interface Axis {
  totalMs: number;
  empty: boolean;
}

const WIDTH = 960;
const LEFT = 32;
const RIGHT = 32;
const PLOT = WIDTH - LEFT - RIGHT;
const WAVE_TOP = 102;
const WAVE_HEIGHT = 104;
const LANE_GAP = 12;
const LANE_HEIGHT = 26;
const AXIS_HEIGHT = 30;
const ROW_HEIGHT = 24;
const MAX_ROWS = 12;
const BAR_STEP = 4;
const BAR_WIDTH = 2.4;

/** The level of each bar of a recording that is this wide on the axis. */
function barsOf(waveform: Waveform, axis: Axis): number[] {
  const { levels, durationMs } = waveform;
  const count = Math.max(1, Math.min(levels.length, Math.floor((PLOT * durationMs) / axis.totalMs / BAR_STEP)));
  return Array.from({ length: count }, (_unused, bar) => {
    const from = Math.floor((bar * levels.length) / count);
    const to = Math.max(from + 1, Math.floor(((bar + 1) * levels.length) / count));
    const slice = levels.subarray(from, to);
    return Math.sqrt(slice.reduce((sum, level) => sum + level * level, 0) / slice.length);
  });
}

interface Palette {
  card: string;
  line: string;
  ink: string;
  dim: string;
  silent: string;
  user: string;
  assistant: string;
  note: string;
  gap: string;
}

const light: Palette = {
  card: "#ffffff",
  line: "#e3e3ea",
  ink: "#1d1d22",
  dim: "#6f6f7b",
  silent: "#c6c6d1",
  user: "#5b5bd6",
  assistant: "#0c8f80",
  note: "#8b6f2a",
  gap: "#d9480f",
};

const dark: Palette = {
  card: "#17171b",
  line: "#2e2e37",
  ink: "#ececf1",
  dim: "#9a9aa6",
  silent: "#4b4b57",
  user: "#9d9dff",
  assistant: "#3fd0bd",
  note: "#d9bd6a",
  gap: "#ff8a4c",
};

/** Plain declarations: viewers that know no media queries or variables show the light scheme. */
function paint(palette: Palette): string {
  return [
    `.card{fill:${palette.card};stroke:${palette.line}}`,
    `.title,.text{fill:${palette.ink}}`,
    `.small,.tick,.time{fill:${palette.dim}}`,
    `.grid{stroke:${palette.line}}`,
    `.silent{fill:${palette.silent}}`,
    `.user{fill:${palette.user}}`,
    `.assistant{fill:${palette.assistant}}`,
    `.custom,.toolResult{fill:${palette.note}}`,
    `.gap,.gaptext{fill:${palette.gap}}`,
    `.gapline{stroke:${palette.gap}}`,
  ].join("");
}

const STYLE = `<style>
text{font-family:ui-sans-serif,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
.title{font-size:19px;font-weight:600}.text{font-size:13.5px}.small{font-size:12.5px}
.time{font-size:12px;font-variant-numeric:tabular-nums}.tick{font-size:11px;font-variant-numeric:tabular-nums}
.lane{fill-opacity:.15}.gap{fill-opacity:.12}.gapline{fill:none;stroke-width:1.2;stroke-dasharray:3 3}.gaptext{font-size:11px}
${paint(light)}
@media (prefers-color-scheme:dark){${paint(dark)}}
</style>`;

function withExtent(recording: PlacedRecording, waveforms: ReadonlyMap<string, Waveform>): PlacedRecording {
  const waveform = waveforms.get(recording.recordingId);
  return { ...recording, extentMs: Math.max(recording.extentMs, waveform?.durationMs ?? 0) };
}

function x(axis: Axis, atMs: number): number {
  return round(LEFT + (PLOT * Math.min(Math.max(atMs, 0), axis.totalMs)) / axis.totalMs);
}

function subtitle(transcript: Transcript, recordings: readonly PlacedRecording[], turns: readonly Turn[]): string {
  const gaps = recordings.reduce((sum, recording) => sum + recording.gaps.length, 0);
  const untimed = turns.filter((turn) => placeOf(turn, recordings) === null).length;
  const totalMs = recordings.reduce((sum, recording) => sum + recording.extentMs, 0);
  const count = (value: number, word: string): string => `${value} ${word}${value === 1 ? "" : "s"}`;
  return [
    transcript.createdAt.slice(0, 16).replace("T", " "),
    ...(recordings.length > 0 ? [`${formatDuration(totalMs)} recorded`] : []),
    count(turns.length, "turn"),
    ...(gaps > 0 ? [count(gaps, "gap")] : []),
    ...(recordings.length > 0 && untimed > 0 ? [`${untimed} without a known time`] : []),
    ...recordings
      .filter(({ state }) => state !== "finished")
      .map(({ state }) => (state === "open" ? "not ended" : state)),
  ].join("  ·  ");
}

/** Mirrored bars, in the colour of who speaks there. Levels are scaled to the loudest, so quiet speech is seen too. */
function drawWave(
  recording: PlacedRecording,
  waveform: Waveform | undefined,
  turns: readonly Turn[],
  recordings: readonly PlacedRecording[],
  axis: Axis,
): string {
  const middle = WAVE_TOP + WAVE_HEIGHT / 2;
  const from = x(axis, recording.offsetMs);
  if (waveform === undefined) {
    const label = `<text class="small" x="${from + 8}" y="${middle - 8}">the audio is not here</text>`;
    return `<line class="grid" x1="${from}" y1="${middle}" x2="${x(axis, recording.offsetMs + recording.extentMs)}" y2="${middle}" stroke-dasharray="2 6"/>${recording.asset.status === "missing" ? label : ""}`;
  }
  const spoken = turns.flatMap((turn) => {
    const range = placeOf(turn, recordings);
    return range === null ? [] : [{ ...range, role: turn.role }];
  });
  const levels = barsOf(waveform, axis);
  const loudest = Math.max(...levels);
  const bars = new Map<string, string>();
  levels.forEach((level, column) => {
    const atMs = recording.offsetMs + (waveform.durationMs * (column + 0.5)) / levels.length;
    const role = spoken.find((range) => range.startMs <= atMs && atMs < range.endMs)?.role ?? "silent";
    const half = Math.max(1.2, loudest === 0 ? 0 : (WAVE_HEIGHT / 2) * Math.sqrt(level / loudest));
    const left = round(x(axis, atMs) - BAR_WIDTH / 2);
    bars.set(
      role,
      `${bars.get(role) ?? ""}M${left} ${round(middle - half)}h${BAR_WIDTH}v${round(2 * half)}h-${BAR_WIDTH}z`,
    );
  });
  return [...bars].map(([role, path]) => `<path class="${role}" d="${path}"/>`).join("");
}

function drawLanes(turns: readonly Turn[], recordings: readonly PlacedRecording[], axis: Axis): string[] {
  const top = WAVE_TOP + WAVE_HEIGHT + LANE_GAP;
  return turns.flatMap((turn, index) => {
    const range = placeOf(turn, recordings);
    if (range === null) return [];
    const from = x(axis, range.startMs);
    const width = round(Math.max(3, x(axis, range.endMs) - from - 2));
    const text =
      width < 40
        ? ""
        : `<svg x="${from}" y="${top}" width="${round(width - 6)}" height="${LANE_HEIGHT}"><text class="text" x="10" y="17.5">${escapeXml(cut(turn.text, Math.floor((width - 20) / 7.4)))}</text></svg>`;
    return [
      `<g><title>${escapeXml(`${index + 1}. ${speakerOf(turn.role)} ${formatDuration(range.startMs)}–${formatDuration(range.endMs)}`)}</title>` +
        `<rect class="${turn.role} lane" x="${from}" y="${top}" width="${width}" height="${LANE_HEIGHT}" rx="6"/>` +
        `<rect class="${turn.role} edge" x="${from}" y="${top}" width="3" height="${LANE_HEIGHT}" rx="1.5"/>${text}</g>`,
    ];
  });
}

function drawGaps(recording: PlacedRecording, axis: Axis): string[] {
  return recording.gaps.flatMap((gap) => {
    if (gap.startMs === undefined || gap.endMs === undefined) return [];
    const from = x(axis, recording.offsetMs + gap.startMs);
    const to = Math.max(from + 2, x(axis, recording.offsetMs + gap.endMs));
    const bottom = WAVE_TOP + WAVE_HEIGHT + LANE_GAP + LANE_HEIGHT;
    const label = cut(gap.reason, Math.max(6, Math.floor((WIDTH - RIGHT - from) / 6.2)));
    return [
      `<g><title>${escapeXml(`Gap ${formatDuration(gap.startMs)}–${formatDuration(gap.endMs)}: ${gap.reason}`)}</title>` +
        `<rect class="gap" x="${from}" y="${WAVE_TOP - 6}" width="${round(to - from)}" height="${bottom - WAVE_TOP + 6}" rx="4"/>` +
        `<path class="gapline" d="M${from} ${WAVE_TOP - 6}V${bottom}M${to} ${WAVE_TOP - 6}V${bottom}"/>` +
        `<text class="gaptext" x="${from}" y="${WAVE_TOP - 11}">${escapeXml(label)}</text></g>`,
    ];
  });
}

/** Ticks at round times; where several recordings follow each other, a line says when each began. */
function drawAxis(axis: Axis, recordings: readonly PlacedRecording[]): string[] {
  const top = WAVE_TOP + WAVE_HEIGHT + LANE_GAP + LANE_HEIGHT + 10;
  const line = `<line class="grid" x1="${LEFT}" y1="${top}" x2="${WIDTH - RIGHT}" y2="${top}"/>`;
  if (axis.empty) return [line];
  const stepMs = tickStep(axis.totalMs);
  const ticks: string[] = [];
  for (let atMs = 0; atMs <= axis.totalMs; atMs += stepMs) {
    const at = x(axis, atMs);
    const anchor = atMs === 0 ? "start" : at > WIDTH - RIGHT - 16 ? "end" : "middle";
    ticks.push(
      `<line class="grid" x1="${at}" y1="${top}" x2="${at}" y2="${top + 5}"/><text class="tick" x="${at}" y="${top + 18}" text-anchor="${anchor}">${formatDuration(atMs, stepMs < 1000)}</text>`,
    );
  }
  const breaks = recordings.slice(1).map((recording) => {
    const at = x(axis, recording.offsetMs);
    return `<line class="grid" x1="${at}" y1="${WAVE_TOP - 6}" x2="${at}" y2="${top}"/><text class="tick" x="${at + 4}" y="${top - 2}">${escapeXml(recording.startedAt.slice(11, 16))}</text>`;
  });
  return [line, ...ticks, ...breaks];
}

/** A round step that gives at most ten ticks. */
function tickStep(totalMs: number): number {
  const steps = [100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000];
  const step = steps.find((candidate) => totalMs / candidate <= 10);
  return step ?? Math.ceil(totalMs / 10 / 1_800_000) * 1_800_000;
}

function drawRow(turn: Turn, index: number, recordings: readonly PlacedRecording[], top: number): string {
  const y = top + index * ROW_HEIGHT;
  const range = placeOf(turn, recordings);
  const time =
    range === null
      ? ""
      : `<text class="time" x="${LEFT + 126}" y="${y + 14}" text-anchor="end">${formatDuration(range.startMs, true)}</text>`;
  return (
    `<circle class="${turn.role}" cx="${LEFT + 5}" cy="${y + 9.5}" r="4"/>` +
    `<text class="time" x="${LEFT + 16}" y="${y + 14}">${speakerOf(turn.role)}</text>${time}` +
    `<text class="text" x="${LEFT + 142}" y="${y + 14}">${escapeXml(cut(turn.text, 104))}</text>`
  );
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
