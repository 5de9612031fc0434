import { graphemesOf } from "../../session/graphemes";
import { type TextRange } from "../types";
import { foldWithOffsets } from "./fold";

export interface Excerpt {
  excerpt: string;
  /** Every match inside the excerpt, in UTF-16 code units of it. */
  matches: TextRange[];
}

/** Graphemes kept before and after the first match. */
const BEFORE = 40;
const AFTER = 120;
/** Code units looked at on each side: graphemes are found in a window, not in a whole transcript. */
const WINDOW = 1024;
const ELLIPSIS = "…";

/**
 * The text around its first match of the folded needle, or null when there is none. It is the text as it is, line
 * breaks and all; both ends are grapheme borders, and `…` stands where text was left out.
 */
export function makeExcerpt(text: string, foldedNeedle: string): Excerpt | null {
  const source = foldWithOffsets(text);
  const at = source.folded.indexOf(foldedNeedle);
  if (at === -1) return null;
  const first = source.toOriginal(at, at + foldedNeedle.length);
  const start = back(text, first.start, BEFORE);
  const end = forward(text, first.end, AFTER);
  const matches: TextRange[] = [];
  const windowed = foldWithOffsets(text.slice(start, end));
  for (
    let found = windowed.folded.indexOf(foldedNeedle);
    found !== -1;
    found = windowed.folded.indexOf(foldedNeedle, found + foldedNeedle.length)
  ) {
    matches.push(windowed.toOriginal(found, found + foldedNeedle.length));
  }
  const cut = start > 0 ? ELLIPSIS : "";
  return {
    excerpt: `${cut}${text.slice(start, end)}${end < text.length ? ELLIPSIS : ""}`,
    matches: matches.map((match) => ({ start: match.start + cut.length, end: match.end + cut.length })),
  };
}

/** The grapheme border at most `count` graphemes before the offset; the offset may lie inside a grapheme. */
function back(text: string, offset: number, count: number): number {
  const near = Math.max(0, offset - count);
  if (isPlain(text, near - 1, offset + 1)) return near;
  const from = scalarBorder(text, Math.max(0, offset - WINDOW));
  const starts: number[] = [];
  for (const { index } of graphemesOf(text.slice(from, offset + WINDOW))) {
    if (from + index > offset) break;
    starts.push(from + index);
  }
  // The last start is the border of the grapheme that the offset is in.
  return starts[Math.max(0, starts.length - 1 - count)] ?? offset;
}

/** The grapheme border at most `count` graphemes after the end of the grapheme that the offset is in. */
function forward(text: string, offset: number, count: number): number {
  const near = Math.min(text.length, offset + count);
  if (isPlain(text, offset - 1, near + 1)) return near;
  const from = back(text, Math.max(0, offset - 1), 0);
  const until = scalarBorder(text, Math.min(text.length, offset + WINDOW));
  let end = offset;
  let left = count;
  for (const { index, segment } of graphemesOf(text.slice(from, until))) {
    const segmentEnd = from + index + segment.length;
    if (segmentEnd < offset) continue;
    if (segmentEnd > offset && from + index >= offset) {
      if (left === 0) break;
      left -= 1;
    }
    end = segmentEnd;
  }
  return end;
}

/** Whether every character of a part is a grapheme of its own, whatever stands beside it in the part. */
function isPlain(text: string, start: number, end: number): boolean {
  return /^[\n\x20-\x7e]*$/.test(text.slice(Math.max(0, start), end));
}

/** The offset, or one earlier when it would split a surrogate pair. */
function scalarBorder(text: string, offset: number): number {
  const code = text.charCodeAt(offset);
  return code >= 0xdc00 && code <= 0xdfff && offset > 0 ? offset - 1 : offset;
}
