import fc from "fast-check";

/** Characters whose case, normalisation, encoding or escaping is a trap for a literal search. */
const traps = [
  ..."aAbBkKiIsSeE \u212a\u0130\u0131\u017f\u00df\u1e9e\u03a3\u03c3\u03c2\u00c5\u00e5\u212b\u00e9\u00c9\u0301\u0307",
  ..."\u30ac\u30ab\u3099\uff76\uff9e\u{1f600}\u{10400}\u{10428}\u0633\u0644\u0627\u0645\u0e44\u0e17\u0e22\u6f22\u5b57",
  ...'\n\t\r\b\f\u0000\u001b\u007f\u2028"\\/<>&u0',
];

/** Text in which short needles are found often. */
export function hardText(maxLength = 24): fc.Arbitrary<string> {
  const unit = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...traps) },
    { weight: 1, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 1 }) },
  );
  return fc.array(unit, { maxLength }).map((units) => units.join("").replace(/\p{Surrogate}/gu, "?"));
}

/** A needle that is often, but not always, a part of one of the texts, in another case. */
export function needleOf(texts: readonly string[]): fc.Arbitrary<string> {
  const part = fc
    .tuple(fc.nat({ max: Math.max(0, texts.length - 1) }), fc.nat(), fc.integer({ min: 1, max: 6 }), fc.nat({ max: 2 }))
    .map(([which, from, length, change]) => {
      const characters = [...(texts[which] ?? "")];
      const start = characters.length === 0 ? 0 : from % characters.length;
      const cut = characters.slice(start, start + length).join("");
      return change === 0 ? cut : change === 1 ? cut.toUpperCase() : cut.toLowerCase();
    });
  return fc.oneof({ weight: 4, arbitrary: part }, { weight: 1, arbitrary: hardText(3) }).map((needle) => needle || "a");
}

/**
 * JSON text of a value with every way of writing it that the format allows: some characters of strings become `\u`
 * escapes or short escapes, as other writers do.
 */
export function otherSpelling(json: string, choose: () => number): string {
  let inString = false;
  let result = "";
  for (let index = 0; index < json.length;) {
    // Whole characters: half of a surrogate pair is no text.
    const character = String.fromCodePoint(json.codePointAt(index) ?? 0);
    let length = character.length;
    if (character === '"') inString = !inString;
    if (inString && character === "\\") {
      length = json.charAt(index + 1) === "u" ? 6 : 2;
      result += json.slice(index, index + length);
    } else if (!inString || character === '"') result += character;
    else if (character === "/" && choose() % 2 === 0) result += "\\/";
    else if (choose() % 4 === 0) result += escaped(character);
    else result += character;
    index += length;
  }
  return result;
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_unused, unit) => {
    return `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`;
  }).join("");
}
