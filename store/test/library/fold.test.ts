import fc from "fast-check";
import { hardText } from "./hard-text";
import { fold, foldsTo, foldWithOffsets } from "../../src/library/search/fold";

/** The definition: every code point by itself. */
const byCodePoint = (text: string): string => [...text].map((character) => character.toLowerCase()).join("");

describe("case folding", () => {
  test("is the lower case of each code point, whatever its neighbours", () => {
    fc.assert(
      fc.property(hardText(), (text) => {
        expect(fold(text)).toBe(byCodePoint(text));
      }),
      { numRuns: 500 },
    );
  });

  test("folds every single code point as the definition does", () => {
    for (let codePoint = 0; codePoint <= 0x10ffff; codePoint += 1) {
      if (codePoint >= 0xd800 && codePoint <= 0xdfff) continue;
      const character = String.fromCodePoint(codePoint);
      if (fold(character) !== character.toLowerCase()) throw new Error(`U+${codePoint.toString(16)}`);
    }
  });

  test("changes the length of no code point but İ", () => {
    const changed: string[] = [];
    for (let codePoint = 0; codePoint <= 0x10ffff; codePoint += 1) {
      if (codePoint >= 0xd800 && codePoint <= 0xdfff) continue;
      const character = String.fromCodePoint(codePoint);
      if (fold(character).length !== character.length) changed.push(character);
    }
    expect(changed).toEqual(["İ"]);
  });

  test("knows every code point that folds to another", () => {
    expect(foldsTo("k")).toEqual(["k", "K", "\u212a"]);
    expect(foldsTo("å")).toEqual(["å", "Å", "\u212b"]);
    expect(foldsTo("σ")).toEqual(["σ", "Σ"]);
    expect(foldsTo("ς")).toEqual(["ς"]);
    expect(foldsTo("ß")).toEqual(["ß", "ẞ"]);
    for (let codePoint = 0; codePoint <= 0x10ffff; codePoint += 1) {
      if (codePoint >= 0xd800 && codePoint <= 0xdfff) continue;
      const character = String.fromCodePoint(codePoint);
      const lower = character.toLowerCase();
      if (lower !== character && codePoint !== 0x130) expect(foldsTo(lower)).toContain(character);
    }
  });

  test("maps folded ranges back to the original", () => {
    const source = foldWithOffsets("aİbİİc");
    expect(source.folded).toBe("ai\u0307bi\u0307i\u0307c");
    const range = (needle: string): string => {
      const at = source.folded.indexOf(needle);
      const { start, end } = source.toOriginal(at, at + needle.length);
      return source.original.slice(start, end);
    };
    expect(range("a")).toBe("a");
    expect(range("ai")).toBe("aİ");
    expect(range("\u0307b")).toBe("İb");
    expect(range("b")).toBe("b");
    expect(range("i\u0307i")).toBe("İİ");
    expect(range("c")).toBe("c");
  });

  test("mapped ranges fold to something that holds the folded range", () => {
    fc.assert(
      fc.property(hardText(), fc.nat(), fc.nat(), (text, a, b) => {
        const source = foldWithOffsets(text);
        fc.pre(source.folded.length > 0);
        const start = a % source.folded.length;
        const end = start + 1 + (b % (source.folded.length - start));
        fc.pre(!/\p{Surrogate}/u.test(source.folded.slice(start, end)));
        const original = source.toOriginal(start, end);
        expect(fold(text.slice(original.start, original.end))).toContain(source.folded.slice(start, end));
        expect(original.end).toBeGreaterThan(original.start);
        expect(original.end).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 500 },
    );
  });
});
