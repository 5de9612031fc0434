import fc from "fast-check";
import { excerptOf } from "../../src/session/excerpt";

/** The same without any short cut. */
function slowly(text: string, maxGraphemes: number): string {
  const line = text.replace(/\s+/gu, " ").trim();
  const graphemes = [...new Intl.Segmenter("und", { granularity: "grapheme" }).segment(line)];
  if (graphemes.length <= maxGraphemes) return line;
  const kept = graphemes.slice(0, maxGraphemes).map(({ segment }) => segment);
  return `${kept.join("").trimEnd()}…`;
}

test("an excerpt is one line of so many graphemes, whatever the text is made of", () => {
  const piece = fc.constantFrom(
    "word",
    "a",
    ".",
    " ",
    "  ",
    "\t",
    "\n",
    "\u00a0",
    "é",
    "e\u0301",
    "\u0301",
    "👩‍👧",
    "한",
    "\u2028",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 12 }), (pieces, max) => {
      const text = pieces.join("");
      expect(excerptOf(text, max)).toBe(slowly(text, max));
    }),
    { numRuns: Number(process.env["PERSYK_ROUNDS"] ?? 5_000) },
  );
});

test("a text that is longer by one character, by a space, or by nothing", () => {
  expect(excerptOf("twelve chars", 12)).toBe("twelve chars");
  expect(excerptOf("twelve chars ", 12)).toBe("twelve chars");
  expect(excerptOf("twelve chars.", 12)).toBe("twelve chars…");
  expect(excerptOf("twelve chars and", 12)).toBe("twelve chars…");
  expect(excerptOf("twelve char  s", 12)).toBe("twelve char…");
});
