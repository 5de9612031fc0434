import fc from "fast-check";
import { fold } from "../../src/library/search/fold";
import { makeExcerpt } from "../../src/library/search/excerpt";
import { hardText, needleOf } from "./hard-text";

const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" });
const borders = (text: string): Set<number> =>
  new Set([...segmenter.segment(text)].map(({ index }) => index).concat(text.length));

describe("excerpts", () => {
  test("exist exactly when the text matches, and every marked range is a match", () => {
    fc.assert(
      fc.property(
        hardText(400).chain((text) => fc.tuple(fc.constant(text), needleOf([text]))),
        ([text, needle]) => {
          const folded = fold(needle);
          const result = makeExcerpt(text, folded);
          if (result === null) {
            expect(fold(text).includes(folded)).toBe(false);
            return;
          }
          expect(result.matches.length).toBeGreaterThan(0);
          for (const { start, end } of result.matches) {
            expect(fold(result.excerpt.slice(start, end))).toContain(folded);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("are a part of the text, cut at grapheme borders", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("e\u0301", "👩‍👩‍👧", "नि", "ก็", "漢", "x", " ", "🇫🇷", "\r\n"), {
          minLength: 1,
          maxLength: 600,
        }),
        fc.nat(),
        (units, where) => {
          const text = units.join("");
          const needle = fold(units[where % units.length] ?? "x");
          const result = makeExcerpt(text, needle);
          if (result === null) throw new Error("the needle is a part of the text");
          const bare = result.excerpt.replace(/^…/, "").replace(/…$/, "");
          const at = text.indexOf(bare);
          expect(at).not.toBe(-1);
          const first = fold(text).indexOf(needle);
          const start = result.excerpt.startsWith("…") ? first - ((result.matches[0]?.start ?? 0) - 1) : 0;
          expect(borders(text).has(start)).toBe(true);
          expect(borders(text).has(start + bare.length)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("show what is around the match", () => {
    const text = `${"before ".repeat(30)}NEEDLE${" after".repeat(60)}`;
    const result = makeExcerpt(text, "needle");
    expect(result?.excerpt).toMatch(/^….*before NEEDLE after.*…$/);
    expect(result?.matches).toHaveLength(1);
  });
});
