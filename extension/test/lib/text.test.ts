import fc from "fast-check";
import { clockTime, counted, levelText, sessionTitle, shorten, spokenLength } from "../../src/lib/format";
import { highlighted, plain } from "../../src/lib/markdown";
import { fileName } from "../../src/lib/exports";

/** What a Markdown reader shows of escaped text: the characters, with the line breaks. */
function shown(markdown: string): string {
  return markdown.replace(/ {2}\n/g, "\n").replace(/\\([\\`*_{}[\]<>~&$|#+=:.)-])/g, "$1");
}

test("times are read, not counted", () => {
  expect(clockTime(7_900)).toBe("0:07");
  expect(clockTime(754_000)).toBe("12:34");
  expect(clockTime(3_723_000)).toBe("1:02:03");
  expect(spokenLength(8_200)).toBe("8 s");
  expect(spokenLength(720_000)).toBe("12 min");
  expect(spokenLength(3_600_000)).toBe("1 h");
  expect(spokenLength(3_720_000)).toBe("1 h 2 min");
});

test("the level is a word and a number", () => {
  expect(levelText(undefined)).toBe("–");
  expect(levelText(null)).toBe("Silent");
  expect(levelText(-80)).toBe("Silent");
  expect(levelText(-40)).toBe("Low (-40 dB)");
  expect(levelText(-12.4)).toBe("Good (-12 dB)");
  expect(levelText(-1)).toBe("Too loud (-1 dB)");
});

test("a session without words is named by its time", () => {
  expect(sessionTitle("  two\n lines ", "2026-09-01T10:00:00.000Z")).toBe("two lines");
  expect(sessionTitle("", "2026-09-01T10:00:00.000Z")).toMatch(/^Session of Sep 1, 2026/);
  expect(sessionTitle("", null)).toBe("Unreadable Session");
  expect(counted(1, "gap")).toBe("1 gap");
  expect(counted(2, "gap")).toBe("2 gaps");
});

test("a shortened text ends at a grapheme border", () => {
  expect(shorten("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 15)).toBe("👩‍👩‍👧‍👦…");
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 2, max: 40 }), (text, length) => {
      const short = shorten(text, length);
      expect(short.length).toBeLessThanOrEqual(length);
      expect(short.isWellFormed()).toBe(true);
    }),
  );
});

test("text of other people is never markup", () => {
  expect(plain("# not a heading")).toBe("\\# not a heading");
  expect(plain("1. not a list")).toBe("1\\. not a list");
  expect(plain("[a](http://b) <img>")).toBe("\\[a\\](http://b) \\<img\\>");
  expect(plain("one\ntwo")).toBe("one  \ntwo");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(shown(plain(text))).toBe(text.replace(/\r\n?/g, "\n"));
    }),
  );
});

test("what was found is bold, and nothing else changes", () => {
  expect(highlighted("the *bank* is", [{ start: 5, end: 9 }])).toBe("the \\***bank**\\* is");
  expect(highlighted("a b", [{ start: 1, end: 2 }])).toBe("a b");
  expect(highlighted("short", [{ start: 2, end: 90 }])).toBe("short");
});

test("a title becomes a file name that any disk takes", () => {
  expect(fileName('a/b\\c:d*e?f"g<h>i|j')).toBe("a b c d e f g h i j");
  expect(fileName("..hidden")).toBe("hidden");
  expect(fileName("\u0000\n")).toBe("Session");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (title) => {
      const name = fileName(title);
      expect(name).not.toMatch(/[/\\:*?"<>|\p{Cc}]/u);
      expect(name).not.toMatch(/^\./);
      expect(name.length).toBeGreaterThan(0);
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(245);
    }),
  );
});
