const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" });

/** The longest grapheme that is looked at in full; a hostile one may have a megabyte of combining marks. */
const UNITS_PER_GRAPHEME = 32;

/** The beginning of a text on one line, at most `maxGraphemes` long, with an ellipsis when something follows. */
export function excerptOf(text: string, maxGraphemes: number): string {
  const window = text.trimStart().slice(0, maxGraphemes * UNITS_PER_GRAPHEME);
  const line = window.replace(/\s+/gu, " ").trim();
  // Here each character is a grapheme, and lists derive a thousand of these at a time.
  if (/^[\x20-\x7e]*$/.test(line.slice(0, maxGraphemes + 2))) {
    return line.length <= maxGraphemes ? line : `${line.slice(0, maxGraphemes).trimEnd()}…`;
  }
  let end = 0;
  let count = 0;
  for (const { index, segment } of segmenter.segment(line)) {
    if (count === maxGraphemes) return `${line.slice(0, end).trimEnd()}…`;
    end = index + segment.length;
    count += 1;
  }
  return line;
}
