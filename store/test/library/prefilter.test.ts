import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { Slicer } from "../../src/library/discover";
import { fold } from "../../src/library/search/fold";
import { createPrefilter } from "../../src/library/search/prefilter";
import { ByteScanner } from "../../src/library/search/scan-bytes";
import { temporaryFolder } from "./sessions";
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
    for (const needle of ["zebra", "usr//", '"unquoted"', "cafe", "ÜBER%", "paths usrbin"]) {
      expect(accepts(needle, json)).toBe(false);
    }
    for (const needle of ["ÜBER", '"QUOTED"', "paths\n/", "/USR/", "NAÏVE", "CAFÉ"])
      expect(accepts(needle, json)).toBe(true);
  });

  test("finds a text wherever the pieces that a log is read in meet", async () => {
    const folder = temporaryFolder();
    const file = path.join(folder, "log");
    const needle = 'naïve "quotes" Kelvin';
    const spelled = JSON.stringify(needle.replace("K", "\u212a")).slice(1, -1);
    const longest = '\\"QUOTES\\"';
    for (const edge of [96 * 1024, 2 * 96 * 1024]) {
      for (let before = 0; before <= longest.length + 1; before += 1) {
        writeFileSync(
          file,
          `${"x".repeat(edge - before)}${spelled.replace('\\"quotes\\"', longest)}${"y".repeat(100)}`,
        );
        expect(await new ByteScanner(createPrefilter(fold(needle))).mayHold(file, new Slicer())).toBe(true);
        expect(new ByteScanner(createPrefilter(fold(needle))).holds(readFileSync(file))).toBe(true);
      }
    }
    writeFileSync(file, "x".repeat(300 * 1024));
    expect(await new ByteScanner(createPrefilter(fold(needle))).mayHold(file, new Slicer())).toBe(false);
  });
});
