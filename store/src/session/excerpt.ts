import { graphemesOf } from "./graphemes";

/** The longest grapheme that is looked at in full; a hostile one may have a megabyte of combining marks. */
const UNITS_PER_GRAPHEME = 32;

/** The beginning of a text on one line, at most `maxGraphemes` long, with an ellipsis when something follows. */
export function excerptOf(text: string, maxGraphemes: number): string {
  const start = text.trimStart().slice(0, maxGraphemes + 2);
  // Here each character is a grapheme and nothing has to be put on one line; lists derive a thousand of these at a time.
  if (start.length === maxGraphemes + 2 && /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/.test(start)) {
    return `${start.slice(0, maxGraphemes).trimEnd()}…`;
  }
  const window = text.trimStart().slice(0, maxGraphemes * UNITS_PER_GRAPHEME);
  const line = window.replace(/\s+/gu, " ").trim();
  if (/^[\x20-\x7e]*$/.test(line.slice(0, maxGraphemes + 2))) {
    return line.length <= maxGraphemes ? line : `${line.slice(0, maxGraphemes).trimEnd()}…`;
  }
  let end = 0;
  let count = 0;
  for (const { index, segment } of graphemesOf(line)) {
    if (count === maxGraphemes) return `${line.slice(0, end).trimEnd()}…`;
    end = index + segment.length;
    count += 1;
  }
  return line;
}
