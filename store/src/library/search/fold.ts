/**
 * Case folding of the literal search: each code point is lower-cased by itself, with no locale and no change of
 * normalisation form. Of all code points only `İ` (U+0130) becomes two, `i` and U+0307.
 */
export function fold(text: string): string {
  // toLowerCase is context-free but for the Greek final sigma, and by itself a Σ is never final.
  return (text.includes("\u03a3") ? text.replaceAll("\u03a3", "\u03c3") : text).toLowerCase();
}

/** Folded text that knows where in the original each of its code units comes from. */
export interface FoldedText {
  original: string;
  folded: string;
  /** Original range of a folded range; a folded `İ` is covered whole. */
  toOriginal(start: number, end: number): { start: number; end: number };
}

export function foldWithOffsets(original: string): FoldedText {
  const folded = fold(original);
  if (folded.length === original.length) {
    return { original, folded, toOriginal: (start, end) => ({ start, end }) };
  }
  // Each İ before a folded offset has made the text one unit longer.
  const grown: number[] = [];
  for (let at = original.indexOf("\u0130"); at !== -1; at = original.indexOf("\u0130", at + 1)) {
    grown.push(at + grown.length);
  }
  const toOriginalStart = (offset: number): number => offset - countBelow(grown, offset);
  return {
    original,
    folded,
    toOriginal: (start, end) => ({ start: toOriginalStart(start), end: toOriginalStart(end - 1) + 1 }),
  };
}

/** How many of the ascending values are below the limit. */
function countBelow(ascending: readonly number[], limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Every code point up to U+1FFFF that folds to exactly this one, itself among them. */
export function foldsTo(folded: string): readonly string[] {
  return [folded, ...(partners().get(folded) ?? [])];
}

let table: Map<string, string[]> | undefined;

/** For each lower-case code point, the others that fold to it. Made once, when the first search needs it. */
function partners(): Map<string, string[]> {
  if (table !== undefined) return table;
  const made = new Map<string, string[]>();
  for (let codePoint = 0x41; codePoint <= 0x1ffff; codePoint += 1) {
    if (codePoint >= 0xd800 && codePoint <= 0xdfff) continue;
    const character = String.fromCodePoint(codePoint);
    const lower = character.toLowerCase();
    if (lower === character || codePoint === 0x130) continue;
    const same = made.get(lower);
    if (same === undefined) made.set(lower, [character]);
    else same.push(character);
  }
  table = made;
  return made;
}

/** True when the text has a lone surrogate; session text never has one, so it can match nothing. */
export function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}
