import fc from "fast-check";
import { encodeRecord, parseEntry, parseHeader } from "../../src/format/codec";
import { parseStrictJson } from "../../src/format/json";
import { scanJson } from "../../src/format/json-scan";
import { MAX_RECORD_BYTES } from "../../src/format/names";
import { type Entry, type SessionHeader } from "../../src/format/schema";
import { entry, json, jsonObject } from "./arbitraries";

const RUNS = Number(process.env["PERSYK_ROUNDS"] ?? 300);

const note = (data: unknown): Entry =>
  ({ type: "custom", id: "x", parentId: null, timestamp: "2026-01-01T00:00:00Z", customType: "c", data }) as Entry;

function line(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length - 1);
}

test("every entry comes back deep-equal, and as the same bytes", () => {
  fc.assert(
    fc.property(entry, (original) => {
      const bytes = encodeRecord(original);
      expect(bytes.indexOf(0x0a)).toBe(bytes.length - 1);
      const parsed = parseEntry(line(bytes));
      expect(parsed).toEqual({ ok: true, value: original });
      if (parsed.ok) expect(encodeRecord(parsed.value)).toEqual(bytes);
    }),
    { numRuns: RUNS },
  );
});

test("an own key __proto__ is data and pollutes nothing", () => {
  const bytes = Buffer.from(
    '{"type":"custom","id":"x","parentId":null,"timestamp":"2026-01-01T00:00:00Z","customType":"c",' +
      '"data":{"__proto__":{"polluted":true},"constructor":{"prototype":1}}}',
  );
  const parsed = parseEntry(bytes);
  if (!parsed.ok || parsed.value.type !== "custom") throw new Error("not read");
  const { data } = parsed.value;
  expect(Object.keys(data as object)).toEqual(["__proto__", "constructor"]);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  expect((data as { polluted?: boolean }).polluted).toBeUndefined();
  expect(line(encodeRecord(parsed.value))).toEqual(bytes);
});

test("unknown members keep their place in messages, blocks, usage and payloads", () => {
  const message = {
    role: "assistant",
    zzz: { __proto__: null, deep: [1] },
    content: [
      { type: "hologram", frames: [{ a: 1 }], asset: "not checked" },
      { type: "text", text: "t", later: 1 },
    ],
    usage: { input: 1, audio: { tokens: 3 } },
    timestamp: 0,
  };
  const original = { type: "message", id: "m", parentId: null, timestamp: "2026-01-01T00:00:00Z", message };
  const bytes = Buffer.from(JSON.stringify(original));
  const parsed = parseEntry(bytes);
  expect(parsed.ok && JSON.stringify(parsed.value)).toBe(bytes.toString());
});

describe("a writer refuses what a reader would not get back", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  let deep: unknown = 1;
  for (let depth = 0; depth < 128; depth += 1) deep = [deep];
  test.each([
    ["NaN", NaN, "record-invalid"],
    ["Infinity", [Infinity], "record-invalid"],
    ["a bigint", 1n, "record-invalid"],
    ["a function", () => 1, "record-invalid"],
    ["a date", new Date(0), "record-invalid"],
    ["a map", new Map(), "record-invalid"],
    ["a hole", [undefined], "record-invalid"],
    ["half a surrogate pair", { a: "\ud800" }, "record-invalid"],
    ["half a surrogate pair in a key", { "\udc00": 1 }, "record-invalid"],
    ["a cycle", cyclic, "record-too-large"],
    ["129 containers", deep, "record-too-large"],
    ["more than a mebibyte", "x".repeat(MAX_RECORD_BYTES), "record-too-large"],
    ["more than a mebibyte of escapes", "\u0001".repeat(MAX_RECORD_BYTES / 5), "record-too-large"],
  ])("%s", (_name, data, code) => {
    expect(() => encodeRecord(note(data))).toThrow(expect.objectContaining({ code }));
  });

  test("a malformed header or entry", () => {
    const header = { type: "session", version: 2, id: "x", timestamp: "2026-01-01T00:00:00Z" } as unknown;
    expect(() => encodeRecord(header as SessionHeader)).toThrow(expect.objectContaining({ code: "record-invalid" }));
    expect(() => encodeRecord({ ...note(1), id: "-" })).toThrow(expect.objectContaining({ code: "record-invalid" }));
    expect(() => encodeRecord({ ...note(1), extra: 1 } as unknown as Entry)).toThrow(
      expect.objectContaining({ code: "record-invalid" }),
    );
  });
});

test("exactly a mebibyte fits, one byte more does not, in both directions", () => {
  const frame = line(encodeRecord(note(""))).length;
  const largest = encodeRecord(note("x".repeat(MAX_RECORD_BYTES - frame)));
  expect(largest.length).toBe(MAX_RECORD_BYTES + 1);
  expect(parseEntry(line(largest)).ok).toBe(true);
  expect(() => encodeRecord(note("x".repeat(MAX_RECORD_BYTES - frame + 1)))).toThrow();
  const larger = Buffer.from(JSON.stringify(note("x".repeat(MAX_RECORD_BYTES - frame + 1))));
  expect(parseEntry(larger)).toMatchObject({ ok: false, code: "record-too-large", class: "corrupt" });
});

test("undefined members are left out", () => {
  const bytes = encodeRecord({
    type: "session_info",
    id: "x",
    parentId: null,
    timestamp: "2026-01-01T00:00:00Z",
    name: undefined,
  } as unknown as Entry);
  expect(bytes.toString()).not.toContain("name");
});

/** Writes a value as JSON in one of the many ways of doing so, sometimes with a member twice. */
function write(value: unknown, random: () => number): { text: string; duplicate: boolean } {
  let duplicate = false;
  const space = (): string => (random() < 0.15 ? " \t"[Math.floor(random() * 2)]! : "");
  const string = (text: string): string => {
    const plain = JSON.stringify(text);
    if (random() < 0.8 || text === "") return plain;
    return `"${[...text].map((each) => escape(each)).join("")}"`;
  };
  const number = (each: number): string => (random() < 0.7 ? shortest(each) : JSON.stringify(each));
  const any = (each: unknown): string => {
    if (typeof each === "string") return string(each);
    if (typeof each === "number") return number(each);
    if (typeof each !== "object" || each === null) return JSON.stringify(each);
    if (Array.isArray(each)) return `[${space()}${each.map(any).join(`,${space()}`)}]`;
    const members = Object.entries(each).map(([key, member]) => `${string(key)}${space()}:${any(member)}`);
    if (members.length > 0 && random() < 0.15) {
      const [key] = Object.keys(each);
      members.splice(Math.floor(random() * members.length), 0, `${string(key ?? "")}:0`);
      duplicate = true;
    }
    return `{${members.join(",")}}`;
  };
  return { text: any(value), duplicate };
}

/** The shortest way of writing a number: an exponent may save many characters. */
function shortest(value: number): string {
  const [mantissa = "", exponent = "0"] = value.toExponential().split("e");
  const digits = mantissa.replace(".", "");
  const whole = digits.replace("-", "").length - 1;
  const forms = [JSON.stringify(value), `${mantissa}e${Number(exponent)}`, `${digits}e${Number(exponent) - whole}`];
  return forms.filter((form) => Number(form) === value).sort((a, b) => a.length - b.length)[0] ?? "0";
}

function escape(character: string): string {
  return [...Array(character.length).keys()]
    .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`)
    .join("");
}

test("duplicate keys are found however the record is written, and nothing else is taken for one", () => {
  const seeds = fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }));
  fc.assert(
    fc.property(jsonObject, seeds, (value, stream) => {
      const { text, duplicate } = write(value, () => stream.next().value ?? 0);
      const bytes = Buffer.from(text);
      const fast = parseStrictJson(bytes);
      const scan = scanJson(bytes);
      expect(fast.ok ? "ok" : fast.code).toBe(duplicate ? "duplicate-key" : "ok");
      expect(scan.kind === "error" ? scan.code : scan.kind).toBe(duplicate ? "duplicate-key" : "ok");
      if (fast.ok) expect(JSON.stringify(fast.value)).toBe(JSON.stringify(value));
    }),
    { numRuns: RUNS * 5 },
  );
});

test("every proper prefix of a record is a prefix, and the record itself is not", () => {
  fc.assert(
    fc.property(json, (data) => {
      const bytes = line(encodeRecord(note(data)));
      expect(scanJson(bytes)).toEqual({ kind: "ok" });
      for (let end = 0; end < bytes.length; end += 1) {
        expect(scanJson(bytes.subarray(0, end))).toEqual({ kind: "prefix" });
      }
    }),
    { numRuns: Math.ceil(RUNS / 3) },
  );
});

test("the byte pass agrees with the engine's parser on damaged records", () => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const engineAccepts = (bytes: Buffer): boolean => {
    try {
      const value: unknown = JSON.parse(decoder.decode(bytes));
      return typeof value === "object" && value !== null && !Array.isArray(value);
    } catch {
      return false;
    }
  };
  const stricter = ["duplicate-key", "lone-surrogate", "number-out-of-range", "depth-exceeded"];
  fc.assert(
    fc.property(
      jsonObject,
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 }),
      (value, damages) => {
        const bytes = Buffer.from(JSON.stringify(value));
        for (const [at, byte] of damages) bytes[at % bytes.length] = byte;
        const scan = scanJson(bytes);
        const accepted = engineAccepts(bytes);
        if (scan.kind === "ok") expect(accepted).toBe(true);
        else if (scan.kind === "prefix") expect(accepted).toBe(false);
        else if (accepted) expect(stricter).toContain(scan.code);
        const fast = parseStrictJson(bytes);
        // A CR at the very end is the one thing that only the record reader minds.
        if (bytes.at(-1) !== 0x0d) expect(fast.ok).toBe(scan.kind === "ok");
      },
    ),
    { numRuns: RUNS * 10 },
  );
});

describe("hostile records are answered, not suffered", () => {
  const mebibyte = MAX_RECORD_BYTES;
  const cases: [string, Buffer, string][] = [
    ["open lists", Buffer.alloc(mebibyte, "["), "not-an-object"],
    ["open lists in an object", Buffer.from(`{"a":${"[".repeat(mebibyte - 5)}`), "depth-exceeded"],
    ["open objects", Buffer.from('{"a":'.repeat(200_000)), "depth-exceeded"],
    ["balanced lists", Buffer.from(`{"a":${"[".repeat(500_000)}${"]".repeat(500_000)}}`), "depth-exceeded"],
    ["spaces", Buffer.alloc(mebibyte, " "), "invalid-json"],
    ["zeros", Buffer.alloc(mebibyte), "invalid-json"],
    ["a string without an end", Buffer.from(`{"a":"${"x".repeat(mebibyte - 7)}`), "invalid-json"],
    ["continuation bytes", Buffer.alloc(mebibyte, 0x80), "invalid-utf8"],
    ["a number of a million digits", Buffer.from(`{"a":${"9".repeat(mebibyte - 7)}}`), "number-out-of-range"],
  ];
  test.each(cases)("%s", (_name, bytes, code) => {
    expect(parseEntry(bytes)).toMatchObject({ ok: false, code, class: "corrupt" });
  });

  test("hundreds of thousands of malformed blocks give one short answer", () => {
    const start = '{"type":"message","id":"m","parentId":null,"timestamp":"2026-01-01T00:00:00Z","message":';
    const blocks = `${start}{"role":"user","timestamp":0,"content":[${"0,".repeat(500_000)}0]}}`;
    const parsed = parseEntry(Buffer.from(blocks));
    expect(parsed).toMatchObject({ ok: false, code: "field-invalid" });
    expect(JSON.stringify(parsed).length).toBeLessThan(300);
    const keys = Array.from({ length: 90_000 }, (_, index) => `"k${index}":0`).join(",");
    const extras = parseEntry(Buffer.from(`{"type":"session_info","id":"m","parentId":null,"timestamp":"x",${keys}}`));
    expect(JSON.stringify(extras).length).toBeLessThan(300);
  });

  test("many different keys in one object", () => {
    const keys = Array.from({ length: 70_000 }, (_, index) => `"k${index}": 0`).join(",");
    const bytes = Buffer.from(
      `{"type":"custom","id":"x","parentId":null,"timestamp":"2026-01-01T00:00:00Z","customType":"c","data":{${keys}}}`,
    );
    expect(parseEntry(bytes).ok).toBe(true);
  });
});

test("a header is read by its own schema", () => {
  const header = { type: "session", version: 1, id: "s", timestamp: "2026-01-01T00:00:00.000Z" } as const;
  expect(parseHeader(line(encodeRecord(header)))).toEqual({ ok: true, value: header });
  expect(parseHeader(line(encodeRecord(note(1))))).toMatchObject({ code: "header-missing", class: "corrupt" });
});
