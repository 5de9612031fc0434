import { foldsTo } from "./fold";

/**
 * A test on the raw bytes of a log that is sound: a log it rejects cannot hold the text anywhere, so it need not be
 * parsed. It accepts more than it should (keys, other record types, removed text); what it accepts is parsed.
 *
 * Bytes are looked at as Latin-1 characters. The pattern spells each character of the folded needle in every way that
 * a log can: each case partner (K, k and the Kelvin sign), in UTF-8, with the short JSON escapes. The one other way to
 * write a character is a `\u` escape; a log that has any of those at all is accepted.
 *
 * Only the longest part of the needle without white space is looked for. A line break may stand between two blocks, and
 * a derived label has a space for any white space and an ellipsis of its own, so that these need not be in the bytes.
 */
export interface Prefilter {
  /** True when the bytes may hold the needle. */
  test(latin1: string): boolean;
  /** How many bytes a match can span; consecutive chunks have to overlap by one less. */
  readonly maxBytes: number;
}

/** JSON's own spellings of a character, in Latin-1 characters, without `\u`. */
const shortEscapes = new Map([
  ['"', ['\\"']],
  ["\\", ["\\\\"]],
  ["/", ["/", "\\/"]],
  ["\b", ["\\b"]],
  ["\f", ["\\f"]],
  ["\n", ["\\n"]],
  ["\r", ["\\r"]],
  ["\t", ["\\t"]],
]);

const UNICODE_ESCAPE = "\\u";

export function createPrefilter(foldedNeedle: string): Prefilter {
  const parts: string[] = [];
  let length = 0;
  for (const character of longestWord(foldedNeedle)) {
    const spellings = spellingsOf(character);
    length += Math.max(...spellings.map((spelling) => spelling.length));
    const pattern = alternatives(spellings);
    // U+0307 may be the second half of a folded İ, whose bytes stand for both.
    parts.push(character === "\u0307" ? `(?:${pattern})?` : pattern);
  }
  const maxBytes = Math.max(UNICODE_ESCAPE.length, length);
  const pattern = new RegExp(parts.join(""));
  return { maxBytes, test: (latin1) => pattern.test(latin1) || latin1.includes(UNICODE_ESCAPE) };
}

/** Empty, which every log holds, when there is nothing else than white space. */
function longestWord(foldedNeedle: string): string {
  return foldedNeedle
    .split(/[\s\u2026]+/u)
    .reduce((longest, word) => (word.length > longest.length ? word : longest), "");
}

function spellingsOf(character: string): string[] {
  const spellings = new Set<string>();
  for (const partner of foldsTo(character)) {
    for (const spelling of shortEscapes.get(partner) ?? [toLatin1(partner)]) spellings.add(spelling);
  }
  if (character === "i" || character === "\u0307") spellings.add(toLatin1("\u0130"));
  return [...spellings];
}

/** The UTF-8 bytes of a character, each as the Latin-1 character of the same value. */
function toLatin1(character: string): string {
  return Buffer.from(character, "utf8").toString("latin1");
}

function alternatives(spellings: readonly string[]): string {
  if (spellings.every((spelling) => spelling.length === 1)) {
    return spellings.length === 1 ? escape(spellings[0] ?? "") : `[${spellings.map(escape).join("")}]`;
  }
  return spellings.length === 1 ? escape(spellings[0] ?? "") : `(?:${spellings.map(escape).join("|")})`;
}

function escape(latin1: string): string {
  return [...latin1].map((byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`).join("");
}
