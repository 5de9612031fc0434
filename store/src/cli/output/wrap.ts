import { displayWidth } from "./table";

let words: Intl.Segmenter | undefined;

/** Breaks a line at word borders, also in scripts without spaces, so that no line is wider than asked. */
export function wrap(line: string, width: number): string[] {
  if (displayWidth(line) <= width) return [line];
  const lines: string[] = [];
  let current = "";
  let used = 0;
  words ??= new Intl.Segmenter("und", { granularity: "word" });
  for (const { segment } of words.segment(line)) {
    const size = displayWidth(segment);
    if (used + size > width && current.trim() !== "") {
      lines.push(current.trimEnd());
      current = "";
      used = 0;
    }
    if (current === "" && segment.trim() === "" && lines.length > 0) continue;
    current += segment;
    used += size;
  }
  if (current.trim() !== "") lines.push(current.trimEnd());
  return lines;
}
