/** `1.2 MB`: decimal units, as disks and the Finder count them. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[unit] ?? "B"}`;
}

/** `2026-01-01 00:00` in local time, for tables. */
export function formatTime(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const two = (value: number): string => `${value}`.padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** `1 session`, `2 sessions`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

/**
 * Text that cannot steer the terminal: control characters (escape sequences in a transcript, for one) become visible
 * symbols, and characters that reorder the line are isolated by the caller.
 */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- these are what must not reach the terminal
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, (control) => {
    const code = control.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd";
  });
}

/** One line of text for a table cell: printable, white space runs as one space, direction isolated. */
export function cell(text: string): string {
  const line = printable(text.replace(/\s+/g, " ").trim());
  return hasRightToLeft(line) ? `\u2068${line}\u2069` : line;
}

function hasRightToLeft(text: string): boolean {
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u200f\u202a-\u202e\u2066-\u2069]/.test(text);
}
