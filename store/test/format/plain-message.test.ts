import { isUtf8 } from "node:buffer";
import fc from "fast-check";
import { parseEntry } from "../../src/format/codec";
import { readPlainMessage } from "../../src/format/plain-message";
import { readCases } from "./case-files";

/** Whether a line is taken without being parsed; what is taken must be what the strict reader says it is. */
function taken(line: Buffer | string): boolean {
  const bytes = typeof line === "string" ? Buffer.from(line) : line;
  const plain = readPlainMessage(bytes, 0, bytes.length);
  if (plain === null) return false;
  const parsed = parseEntry(bytes, { knownUtf8: true });
  if (!parsed.ok) throw new Error(`taken though it is not valid (${parsed.code}): ${bytes.toString("utf8")}`);
  const { type, id, parentId } = parsed.value;
  expect(plain).toEqual({ type, id, parentId });
  return true;
}

const line = (message: string, parent = "null", time = "2026-01-05T00:00:00Z"): string =>
  `{"type":"message","id":"e1","parentId":${parent},"timestamp":"${time}","message":{"role":"user",${message}}}`;
const plain = [
  line('"timestamp":0,"content":[]'),
  line('"content":[{"type":"text","text":"x"}],"timestamp":12', '"e0"'),
  line('"timestamp":999999999999999,"content":[{"type":"text","text":"a \\"quoted\\" é \\\\ \\n 𝄞"}]', '"a.b-c_d"'),
  line('"timestamp":1,"content":[{"type":"text","text":""}],"api":"a","provider":"p","model":"m"', '"0"'),
];

test("messages of plain text are taken as they are", () => {
  for (const each of plain) expect(taken(each)).toBe(true);
});

test("a message is taken from the middle of other bytes", () => {
  const bytes = Buffer.from(`first\n${plain[1]}\nlast`);
  expect(readPlainMessage(bytes, 6, bytes.length - 5)).toEqual({ type: "message", id: "e1", parentId: "e0" });
});

test.each([
  line('"timestamp":01,"content":[]'),
  line('"timestamp":-1,"content":[]'),
  line('"timestamp":1e3,"content":[]'),
  line('"timestamp":9999999999999999,"content":[]'),
  line('"timestamp":0,"content":[{"type":"text","text":"\t"}]'),
  line('"timestamp":0,"content":[{"type":"text","text":"\\ud800"}]'),
  line('"timestamp":0,"content":[{"type":"text","text":"\\x"}]'),
  line('"timestamp":0,"content":[{"type":"text","text":1}]'),
  line('"timestamp":0,"timestamp":0,"content":[]'),
  line('"timestamp":0,"content":[],"api":"","provider":"p","model":"m"'),
  line('"timestamp":0,"content":null'),
  line('"timestamp":0'),
  line('"content":[]'),
  line('"timestamp":0,"content":[]', '""'),
  line('"timestamp":0,"content":[]', `"${"a".repeat(129)}"`),
  line('"timestamp":0,"content":[]', "null", "2026-02-30T00:00:00Z"),
  line('"timestamp":0,"content":[]', "null", "2026-13-01T00:00:00Z"),
  line('"timestamp":0,"content":[]', "null", "2026-01-05T24:00:00Z"),
  line('"timestamp":0,"content":[]', "null", "2026-01-05T00:00:60Z"),
  `${line('"timestamp":0,"content":[]')}\r`,
  ` ${line('"timestamp":0,"content":[]')}`,
  `${line('"timestamp":0,"content":[]')}{}`,
  line('"timestamp":0,"content":[]').replace('"user"', '"toolResult"'),
  line(`"timestamp":0,"content":[{"type":"text","text":"${"x".repeat(70_000)}"}]`),
])("what is not spelled so is left to the parser (%#)", (each) => {
  expect(taken(each)).toBe(false);
});

test("no line of the stored cases is taken that the strict reader refuses", () => {
  let count = 0;
  for (const { base64 } of [...readCases("records.json"), ...readCases("verdicts.json")]) {
    for (const each of Buffer.from(base64, "base64").toString("latin1").split("\n")) {
      const bytes = Buffer.from(each, "latin1");
      // The scan checks the encoding before it comes here.
      if (isUtf8(bytes) && taken(bytes)) count += 1;
    }
  }
  expect(count).toBeGreaterThan(0);
});

test("whatever character is changed, dropped or added", () => {
  const characters = [...'"\\{}[],:0123456789.eE+-TZ \t\r\u0000\u007fé𝄞unult'];
  fc.assert(
    fc.property(
      fc.constantFrom(...plain),
      fc.array(
        fc.tuple(fc.nat(), fc.oneof(fc.constantFrom(...characters), fc.string()), fc.constantFrom("put", "add")),
        { minLength: 1, maxLength: 3 },
      ),
      (original, changes) => {
        const text = [...original];
        for (const [at, insert, kind] of changes) text.splice(at % text.length, kind === "put" ? 1 : 0, insert);
        taken(text.join(""));
      },
    ),
    { numRuns: Number(process.env["PERSYK_ROUNDS"] ?? 20_000) },
  );
});
