import { isUtf8 } from "node:buffer";
import fc from "fast-check";
import { checkEntry, parseEntry } from "../../src/format/codec";
import { copyJson } from "../../src/format/json-copy";
import { plainMessageLine } from "../../src/format/plain-message";
import { readPlainRecord } from "../../src/format/plain-record";
import { type Entry, isObject } from "../../src/format/schema";
import { readCases } from "./case-files";

/** Whether a line is taken without being parsed; what is taken must be what the strict reader says it is. */
function taken(line: Buffer | string): boolean {
  const bytes = typeof line === "string" ? Buffer.from(line) : line;
  const plain = readPlainRecord(bytes, 0, bytes.length);
  if (plain === null) return false;
  const parsed = parseEntry(bytes, { knownUtf8: true });
  if (!parsed.ok) throw new Error(`taken though it is not valid (${parsed.code}): ${bytes.toString("utf8")}`);
  const { type, id, parentId } = parsed.value;
  const ofEvent =
    parsed.value.type === "realtime_event"
      ? { connectionId: parsed.value.connectionId, sequence: parsed.value.sequence }
      : {};
  expect(plain).toEqual({ type, id, parentId, ...ofEvent });
  return true;
}

const line = (message: string, parent = "null", time = "2026-01-05T00:00:00Z"): string =>
  `{"type":"message","id":"e1","parentId":${parent},"timestamp":"${time}","message":{"role":"user",${message}}}`;
/** Sound that was sent, as the recorder keeps it. */
const sent = (range = ',"byteRange":{"start":44,"end":4844}', time = "2026-01-31T00:00:00.5Z"): string =>
  `{"type":"realtime_event","id":"e1","parentId":"e0","timestamp":"${time}","connectionId":"c1","direction":"outgoing",` +
  `"observation":"send_attempt","observedAt":"${time}","sequence":6,"payload":{"type":"input_audio_buffer.append",` +
  `"audio":null},"media":[{"path":"/audio","asset":{"status":"available","path":"assets/a.wav",` +
  `"mimeType":"audio/wav"${range},"encoding":"pcm_s16le","sha256":"${"0".repeat(64)}"}}]}`;
const plain = [
  sent(),
  sent(""),
  sent().replace('"audio":null', '"event_id":"event_1","audio":null').replace("send_attempt", "send_failed"),
  line('"timestamp":0,"content":[]'),
  line('"content":[{"type":"text","text":"x"}],"timestamp":12', '"e0"'),
  line('"timestamp":999999999999999,"content":[{"type":"text","text":"a \\"quoted\\" é \\\\ \\n 𝄞"}]', '"a.b-c_d"'),
  line('"timestamp":1,"content":[{"type":"text","text":""}],"api":"a","provider":"p","model":"m"', '"0"'),
];

test("messages of plain text are taken as they are", () => {
  for (const each of plain) expect(taken(each)).toBe(true);
});

test("a message is taken from the middle of other bytes", () => {
  const bytes = Buffer.from(`first\n${plain[4]}\nlast`);
  expect(readPlainRecord(bytes, 6, bytes.length - 5)).toEqual({ type: "message", id: "e1", parentId: "e0" });
});

test.each([
  sent(',"byteRange":{"start":44,"end":44}'),
  sent(',"byteRange":{"start":100,"end":99}'),
  sent("", "2026-04-31T00:00:00Z"),
  sent("", "2024-02-29T00:00:00Z"),
  sent().replace("outgoing", "incoming"),
  sent().replace("send_attempt", "received"),
  sent().replace('"audio":null', '"audio":"AAAA"'),
  sent().replace("assets/a.wav", "assets/../a.wav"),
  sent().replace('"sequence":6', '"sequence":-6'),
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

describe("writing", () => {
  /** What the careful way, which copies and checks member by member, writes; undefined when it refuses. */
  function carefully(record: Entry): string | undefined {
    const copied = copyJson(record);
    if (!copied.ok || !isObject(copied.value) || !checkEntry(copied.value).ok) return undefined;
    return JSON.stringify(copied.value);
  }

  /** Whether the fast way takes a record; what it takes, it writes as the careful way does. */
  function written(record: Entry): boolean {
    const fast = plainMessageLine(record);
    if (fast !== null) expect(fast).toBe(carefully(record));
    return fast !== null;
  }

  const records = plain.map((each) => JSON.parse(each) as Entry).filter(({ type }) => type === "message");

  test("messages of plain text are written as they are", () => {
    for (const record of records) expect(written(record)).toBe(true);
    expect(written({ ...records[0], message: undefined } as unknown as Entry)).toBe(false);
  });

  /** Made anew for each record: one that was changed already must not get into itself. */
  const hostile = (): readonly unknown[] => [
    new Date(0),
    Object("boxed"),
    Object(1),
    Object.assign(Object.create({ inherited: 1 }), { text: "x" }),
    Object.assign(Object.create(null), { type: "text", text: "x" }),
    { toJSON: () => "2026-01-05T00:00:00Z" },
    { toJSON: () => 5 },
    Object.assign([], { toJSON: () => [] }),
    { type: "text", text: "x", toString: () => "y" },
    [[[[[["deep"]]]]]],
    ["a", undefined],
    new Array(1),
    () => 1,
    Symbol("s"),
    1n,
    undefined,
    null,
    true,
    NaN,
    Infinity,
    -0,
    0.5,
    1e21,
    "",
    "\ud800",
    "\u0000",
    "\u2028",
    'a","parentId":"b',
    "2026-01-05T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "message",
    "toolResult",
    "x".repeat(70_000),
  ];

  test("whatever is put into one, the fast way writes what the careful way writes, or leaves it to that", () => {
    let fast = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...records),
        fc.array(fc.tuple(fc.nat(), fc.constantFrom("put", "add", "drop"), fc.nat(hostile().length - 1)), {
          minLength: 1,
          maxLength: 3,
        }),
        (original, changes) => {
          const record = JSON.parse(JSON.stringify(original)) as Entry;
          for (const [at, kind, value] of changes) change(record, at, kind, hostile()[value]);
          if (written(record)) fast += 1;
        },
      ),
      { numRuns: Number(process.env["PERSYK_ROUNDS"] ?? 20_000) },
    );
    expect(fast).toBeGreaterThan(0);
  });

  /** Changes one member, or adds or drops one, somewhere in a record. */
  function change(record: Entry, at: number, kind: "put" | "add" | "drop", value: unknown): void {
    const places = membersOf(record);
    const [owner, key] = places[at % places.length] ?? [record, "type"];
    if (kind === "drop") Reflect.deleteProperty(owner, key);
    else Reflect.set(owner, kind === "add" ? "more" : key, value);
  }

  /** Every member of the plain objects and lists in a value, with what holds it. */
  function membersOf(value: object): [object, string][] {
    return Object.entries(value).flatMap(([key, member]): [object, string][] => {
      const isPlain = Array.isArray(member) || (isObject(member) && Object.getPrototypeOf(member) === Object.prototype);
      return [[value, key], ...(isPlain ? membersOf(member) : [])];
    });
  }
});
