/** How times, levels and names are written on the screen. */

/** `0:07`, `12:34`, `1:02:03`. */
export function clockTime(durationMs: number): string {
  const seconds = Math.max(0, Math.floor(durationMs / 1000));
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const tail = `${String(rest).padStart(2, "0")}`;
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${tail}` : `${minutes}:${tail}`;
}

/** `8 s`, `12 min`, `1 h 2 min`: a length that is read, not counted. */
export function spokenLength(durationMs: number): string {
  const seconds = Math.round(durationMs / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const LEVEL_FLOOR_DB = -60;

/** The level as a word and a number: a picture alone would say nothing to a screen reader. */
export function levelText(levelDb: number | null | undefined): string {
  if (levelDb === undefined) return "–";
  if (levelDb === null || levelDb <= LEVEL_FLOOR_DB) return "Silent";
  const word = levelDb > -3 ? "Too loud" : levelDb > -30 ? "Good" : "Low";
  return `${word} (${Math.round(levelDb)} dB)`;
}

// Made at the first use: they take long to load their tables, and commands start without them.
let dateTime: Intl.DateTimeFormat | undefined;
let graphemes: Intl.Segmenter | undefined;

/** A timestamp of the store as a person writes it; the timestamp itself when it is no date. */
export function dateText(timestamp: string): string {
  const at = new Date(timestamp);
  if (Number.isNaN(at.getTime())) return timestamp;
  dateTime ??= new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeStyle: "short" });
  return dateTime.format(at);
}

/** The title of a session that has no name and no text yet. */
export function sessionTitle(label: string, createdAt: string | null): string {
  const line = label.replace(/\s+/gu, " ").trim();
  if (line !== "") return line;
  return createdAt === null ? "Unreadable Session" : `Session of ${dateText(createdAt)}`;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The beginning of a text, cut at a grapheme border. */
export function shorten(text: string, length: number): string {
  const line = text.replace(/\s+/gu, " ").trim();
  if (line.length <= length) return line;
  graphemes ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  let kept = "";
  for (const { segment } of graphemes.segment(line)) {
    if (kept.length + segment.length > length - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}
