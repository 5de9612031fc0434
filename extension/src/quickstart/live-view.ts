/** What the live view shows at one moment. */
export interface LiveFrame {
  phase: "starting" | "recording" | "finishing" | "finished" | "failed";
  elapsedMs: number;
  /** Peak level in dBFS; absent before the first level event. */
  levelDb?: number | undefined;
  device?: string | undefined;
  /** Canonical messages, the newest of a long recording: they are in the session file. */
  saved: readonly { entryId: string; text: string }[];
  /** Text that the provider may still change: it is not in the session as a message. */
  provisional: readonly string[];
  warnings: readonly string[];
}

export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
}

const METER_CELLS = 16;
const METER_FLOOR_DB = -60;

/** `mm:ss.t`, the elapsed time of the recording. */
export function formatElapsed(elapsedMs: number): string {
  const tenths = Math.floor(elapsedMs / 100);
  const minutes = Math.floor(tenths / 600);
  const seconds = Math.floor(tenths / 10) % 60;
  return `${String(minutes).padStart(2, "0")}:${String(seconds).padStart(2, "0")}.${tenths % 10}`;
}

/** A bar for the level and its number, so that colour or shape is never the only signal. */
export function formatLevel(levelDb: number | undefined): string {
  if (levelDb === undefined) return `${"·".repeat(METER_CELLS)}      `;
  const share = Math.min(1, Math.max(0, (levelDb - METER_FLOOR_DB) / -METER_FLOOR_DB));
  const cells = Math.round(share * METER_CELLS);
  const number = levelDb <= METER_FLOOR_DB ? "silent" : `${Math.round(levelDb)} dB`;
  return `${"█".repeat(cells)}${"·".repeat(METER_CELLS - cells)} ${number.padEnd(6)}`;
}

/** The lines of the live view. Saved and provisional text are told apart by words, not by colour alone. */
export function renderFrame(frame: LiveFrame, width: number, style: Style): string[] {
  const word = {
    starting: "starting",
    recording: "recording",
    finishing: "finishing",
    finished: "done",
    failed: "failed",
  };
  const head = `${style.bold(word[frame.phase].padEnd(10))} ${formatElapsed(frame.elapsedMs)}  ${formatLevel(frame.levelDb)}`;
  const lines = [frame.device === undefined ? head : `${head}  ${style.dim(frame.device)}`];
  for (const { text } of frame.saved) {
    lines.push(...wrap(text, width, "  saved          ").map((line, at) => (at === 0 ? style.green(line) : line)));
  }
  for (const text of frame.provisional) {
    lines.push(...wrap(text === "" ? "…" : text, width, "  not yet saved  ").map((line) => style.dim(line)));
  }
  for (const warning of frame.warnings)
    lines.push(...wrap(warning, width, "  warning        ").map((line) => style.yellow(line)));
  return lines;
}

function wrap(text: string, width: number, label: string): string[] {
  const room = Math.max(20, width - label.length);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  lines.push(line);
  return lines.map((part, at) => (at === 0 ? label + part : " ".repeat(label.length) + part));
}

/** Where the live view writes; a terminal is redrawn in place, anything else gets one line for each change. */
export interface Screen {
  isTerminal: boolean;
  width(): number;
  height(): number;
  write(text: string): void;
}

export class LiveView {
  private drawn = 0;
  private readonly written = new Set<string>();
  private last: LiveFrame | null = null;

  constructor(
    private readonly screen: Screen,
    private readonly style: Style,
  ) {}

  show(frame: LiveFrame): void {
    if (this.screen.isTerminal) this.redraw(frame);
    else this.append(frame);
    this.last = frame;
  }

  private redraw(frame: LiveFrame): void {
    const [head = "", ...rest] = renderFrame(frame, this.screen.width(), this.style);
    // The cursor cannot go back above the screen: of a long transcript the newest lines that fit are shown.
    const room = Math.max(1, this.screen.height() - 2);
    const lines = [head, ...rest.slice(-room)];
    const up = this.drawn === 0 ? "" : `\u001b[${this.drawn}A`;
    this.screen.write(`${up}\u001b[0J${lines.join("\n")}\n`);
    this.drawn = lines.length;
  }

  private append(frame: LiveFrame): void {
    const before = this.last;
    const at = formatElapsed(frame.elapsedMs);
    const put = (line: string): void => this.screen.write(`  ${at}  ${line}\n`);
    if (before?.phase !== frame.phase) put(frame.phase);
    const second = (ms: number): number => Math.floor(ms / 1000);
    if (
      frame.phase === "recording" &&
      before?.phase === "recording" &&
      second(before.elapsedMs) !== second(frame.elapsedMs)
    ) {
      put(formatLevel(frame.levelDb).trimEnd());
    }
    for (const text of frame.provisional) {
      if (before?.provisional.includes(text) !== true) put(`not yet saved  ${text === "" ? "…" : text}`);
    }
    for (const { entryId, text } of frame.saved) {
      if (this.written.has(entryId)) continue;
      this.written.add(entryId);
      put(`saved          ${text}`);
    }
    for (const text of frame.warnings) if (before?.warnings.includes(text) !== true) put(`warning        ${text}`);
  }
}
