import fc from "fast-check";
import { fold } from "../../src/library/search/fold";
import { createPrefilter } from "../../src/library/search/prefilter";
import { hardText, needleOf, otherSpelling } from "./hard-text";

const accepts = (needle: string, json: string): boolean =>
  createPrefilter(fold(needle)).test(Buffer.from(json, "utf8").toString("latin1"));

describe("the byte prefilter", () => {
  test("accepts every log that holds the text, in whatever case and spelling", () => {
    fc.assert(
      fc.property(
        fc
          .array(hardText(), { minLength: 1, maxLength: 3 })
          .chain((texts) => fc.tuple(fc.constant(texts), needleOf(texts), fc.infiniteStream(fc.nat()), fc.boolean())),
        ([texts, needle, choices, respell]) => {
          const plain = JSON.stringify({ content: texts });
          const json = respell ? otherSpelling(plain, () => choices.next().value) : plain;
          const found = texts.some((text) => fold(text).includes(fold(needle)));
          if (found) expect(accepts(needle, json)).toBe(true);
        },
      ),
      { numRuns: 3000 },
    );
  });

  test("rejects a log that does not hold the text", () => {
    const json = JSON.stringify({ content: 'Über "quoted" paths\n/usr/bin and naïve café' });
    for (const needle of ["zebra", "usr//", '"unquoted"', "cafe", "ÜBER%", "\nusr"]) {
      expect(accepts(needle, json)).toBe(false);
    }
    for (const needle of ["ÜBER", '"QUOTED"', "paths\n/", "/USR/", "NAÏVE", "CAFÉ"])
      expect(accepts(needle, json)).toBe(true);
  });

  test("spans no more bytes than it says", () => {
    fc.assert(
      fc.property(hardText(4), (needle) => {
        fc.pre(needle !== "");
        const { maxBytes } = createPrefilter(fold(needle));
        expect(maxBytes).toBeGreaterThanOrEqual(
          Buffer.byteLength(JSON.stringify(needle).slice(1, -1)) - countControls(needle) * 5,
        );
      }),
    );
  });
});

const countControls = (text: string): number => [...text].filter((character) => character < " ").length;
