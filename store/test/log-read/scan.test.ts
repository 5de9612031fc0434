import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { type Entry } from "../../src/format/schema";
import { type LogIndex, scanLog } from "../../src/log/scan";
import { fixtures, readCases } from "../format/case-files";
import { describeLog, MemoryFile, scanBytes } from "./memory-file";
import { ancestry, sampleLog, toLog } from "./sample-logs";

const RUNS = Number(process.env["PERSYK_ROUNDS"] ?? 100);
const LF = 0x0a;

const fixtureLogs: [string, Buffer][] = readdirSync(fixtures)
  .filter((name) => name.endsWith(".jsonl"))
  .map((name) => [name, readFileSync(join(fixtures, name))]);

/** Ends of the complete lines, and the start of the file. */
function lineStarts(bytes: Buffer): number[] {
  const starts = [0];
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) starts.push(at + 1);
  return starts;
}

describe("index", () => {
  test("knows every entry where it is, with its parent, however the file is read", async () => {
    await fc.assert(
      fc.asyncProperty(sampleLog, fc.integer({ min: 1, max: 4000 }), async ({ entries, records, bytes }, chunk) => {
        const log = await scanBytes(bytes, chunk);
        expect(log).toMatchObject({ verdict: "valid", recoverable: "no", committedBytes: bytes.length });
        expect(log.entries.count).toBe(entries.length);
        let offset = records[0]?.length ?? 0;
        for (const [position, entry] of entries.entries()) {
          expect(log.entries.idOf(position)).toBe(entry.id);
          expect(log.entries.typeOf(position)).toBe(entry.type);
          expect(log.entries.offsetOf(position)).toBe(offset);
          expect(log.entries.lengthOf(position)).toBe((records[position + 1]?.length ?? 0) - 1);
          expect(log.entries.parentOf(position)).toBe(entries.findIndex(({ id }) => id === entry.parentId));
          offset += records[position + 1]?.length ?? 0;
        }
        expect(describeLog(await scanBytes(bytes))).toEqual(describeLog(log));
      }),
      { numRuns: RUNS },
    );
  });

  test("answers questions of ancestry as a walk from parent to parent does", async () => {
    await fc.assert(
      fc.asyncProperty(sampleLog, async ({ entries, bytes }) => {
        const { entries: index } = await scanBytes(bytes);
        for (const [leaf, { id }] of entries.entries()) {
          const path = ancestry(entries, id).map((entry) => entries.indexOf(entry));
          expect([...index.pathTo(leaf)]).toEqual(path);
          for (let other = 0; other < entries.length; other += 1) {
            expect(index.isOnPath(other, leaf)).toBe(path.includes(other));
          }
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("that is extended equals a full scan, at whatever byte the file was seen in between", async () => {
    await fc.assert(
      fc.asyncProperty(sampleLog, fc.array(fc.nat(), { maxLength: 5 }), async ({ bytes, records }, cuts) => {
        const first = records[0]?.length ?? 0;
        const stops = cuts.map((cut) => first + (cut % (bytes.length - first + 1))).sort((a, b) => a - b);
        const file = new MemoryFile(bytes.subarray(0, first));
        const log = await scanLog(file);
        for (const stop of [...stops, bytes.length]) {
          file.replaceContent(bytes.subarray(0, stop));
          await log.extend(file);
        }
        expect(describeLog(log)).toEqual(describeLog(await scanBytes(bytes)));
      }),
      { numRuns: RUNS },
    );
  });

  test("that is extended reads the new bytes only", async () => {
    const entries = Array.from({ length: 2000 }, (_, index): Entry => custom(`e${index}`, "x".repeat(200)));
    const { bytes, records } = toLog(entries);
    const before = bytes.length - (records.at(-1)?.length ?? 0);
    const file = new MemoryFile(bytes.subarray(0, before));
    const log = await scanLog(file);
    file.bytesRead = 0;
    await log.extend(file);
    expect(file.bytesRead).toBe(0);
    file.replaceContent(bytes);
    await log.extend(file);
    expect(log.entries.count).toBe(2000);
    expect(file.bytesRead).toBeLessThan(4000);
  });

  test("notices that the file shrank or has other content", async () => {
    const { bytes, records } = toLog([custom("a", 1), custom("b", 2), custom("c", 3)]);
    const shrunk = new MemoryFile(bytes);
    const log = await scanLog(shrunk);
    shrunk.replaceContent(bytes.subarray(0, bytes.length - 1));
    await expect(log.extend(shrunk)).rejects.toMatchObject({ code: "log-shrank" });
    const other = toLog([custom("a", 1), custom("b", 2), custom("d", 3), custom("e", 4)]).bytes;
    const replaced = new MemoryFile(bytes);
    const second = await scanLog(replaced);
    replaced.replaceContent(other);
    await expect(second.extend(replaced)).rejects.toMatchObject({ code: "log-replaced" });
    expect(records).toHaveLength(4);
  });
});

describe("a file cut at every byte", () => {
  /** By the rule: whole records are valid, a record without its LF can get one, anything else is a fragment. */
  async function expectCut(bytes: Buffer, end: number): Promise<void> {
    const starts = lineStarts(bytes);
    const log = await scanBytes(bytes.subarray(0, end));
    const committed = starts.filter((start) => start <= end).length - 2;
    if (committed < 0) {
      expect(log).toMatchObject({ verdict: "corrupt", recoverable: "no" });
      return;
    }
    const recoverable = starts.includes(end) ? "no" : bytes[end] === LF ? "add-newline" : "truncate-fragment";
    const verdict = recoverable === "no" ? "valid" : "tail-pending";
    const count = log.entries.count;
    expect({ end, verdict: log.verdict, recoverable: log.recoverable, count }).toEqual({
      end,
      verdict,
      recoverable,
      count: committed,
    });
    expect(log.committedBytes).toBe(starts[committed + 1]);
  }

  test("generated sessions", async () => {
    await fc.assert(
      fc.asyncProperty(sampleLog, async ({ bytes }) => {
        for (let end = 0; end <= bytes.length; end += 1) await expectCut(bytes, end);
      }),
      { numRuns: Math.max(3, Math.ceil(RUNS / 30)) },
    );
  });

  test("every valid fixture", async () => {
    const valid = [...fixtureLogs.map(([, bytes]) => bytes), ...caseLogs()];
    let cuts = 0;
    for (const bytes of valid) {
      if ((await scanBytes(bytes)).verdict !== "valid") continue;
      for (let end = 0; end <= bytes.length; end += 1) await expectCut(bytes, end);
      cuts += bytes.length;
    }
    expect(cuts).toBeGreaterThan(9_000);
  });
});

function caseLogs(): Buffer[] {
  return readCases("records.json")
    .map(({ base64 }) => Buffer.from(base64, "base64"))
    .filter((bytes) => bytes.length < 2000);
}

describe("a flip of every byte", () => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

  /** What must hold of a log that differs from `original` in the byte at `at`. */
  async function expectFlip(original: Buffer, before: LogIndex, at: number, mask: number): Promise<void> {
    const bytes = Buffer.from(original);
    bytes[at] = (bytes[at] ?? 0) ^ mask;
    const log = await scanBytes(bytes);
    const lineStart = original.lastIndexOf(LF, at - 1) + 1;
    // What was committed before the damaged line still is, unchanged.
    const intact = Math.min(before.committedBytes, at === 0 ? 0 : lineStart);
    expect(log.committedBytes).toBeGreaterThanOrEqual(intact);
    // Damage inside the committed part of a valid log is never offered for repair: only its last record is.
    if (log.recoverable !== "no" && before.verdict === "valid")
      expect(at).toBeGreaterThanOrEqual(before.committedBytes - 1 - lastLength(original, before));
    if (log.verdict !== "valid") return;
    // A log that is called valid is one: every line by itself is UTF-8 and JSON without a second reading.
    expect(bytes.at(-1)).toBe(LF);
    const lines = decoder.decode(bytes).split("\n").slice(0, -1);
    const ids = lines.slice(1).map((line) => {
      const value = JSON.parse(line) as { id: string; parentId: string | null; type: string };
      expect(value.id).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/);
      return value;
    });
    expect(new Set(ids.map(({ id }) => id)).size).toBe(ids.length);
    for (const [index, { parentId }] of ids.entries()) {
      if (parentId !== null) expect(ids.slice(0, index).map(({ id }) => id)).toContain(parentId);
    }
    expect(log.entries.count).toBe(lines.length - 1);
  }

  function lastLength(bytes: Buffer, log: { committedBytes: number }): number {
    const end = log.committedBytes;
    return end === 0 ? 0 : end - 1 - (bytes.lastIndexOf(LF, end - 2) + 1);
  }

  test("in every fixture", async () => {
    let flips = 0;
    const logs = [...fixtureLogs.map(([, bytes]) => bytes), ...caseLogs().slice(0, 40)];
    for (const bytes of logs) {
      const before = await scanBytes(bytes);
      for (let at = 0; at < bytes.length; at += 1) {
        await expectFlip(bytes, before, at, 1 << ((at + flips) % 8));
        flips += 1;
      }
    }
    expect(flips).toBeGreaterThan(15_000);
  });

  test("every bit of one session", async () => {
    const bytes = readFileSync(join(fixtures, "user-only.jsonl"));
    const before = await scanBytes(bytes);
    for (let at = 0; at < bytes.length; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) await expectFlip(bytes, before, at, 1 << bit);
    }
  });
});

function custom(id: string, data: string | number): Entry {
  return { type: "custom", id, parentId: null, timestamp: "2026-01-01T00:00:00Z", customType: "c", data };
}

describe("hostile files", () => {
  const header = toLog([]).bytes;
  const mebibyte = 1_048_576;

  test("megabytes without a line feed are skipped, and what follows is still judged", async () => {
    const bytes = Buffer.concat([header, Buffer.alloc(9 * mebibyte, "x"), Buffer.from("\n{}\n")]);
    const log = await scanBytes(bytes);
    expect(log).toMatchObject({ verdict: "corrupt", recoverable: "no", committedBytes: header.length });
    expect(log.diagnostics).toMatchObject([
      { code: "record-too-large", line: 2, offset: header.length },
      { code: "field-invalid", line: 3, offset: header.length + 9 * mebibyte + 1 },
    ]);
  });

  test("a record of a mebibyte and one byte is over the limit, with and without its LF", async () => {
    for (const [length, end, code] of [
      [mebibyte, "\n", "invalid-json"],
      [mebibyte + 1, "\n", "record-too-large"],
      [mebibyte, "", "invalid-json"],
      [mebibyte + 1, "", "record-too-large"],
    ] as const) {
      const log = await scanBytes(Buffer.concat([header, Buffer.alloc(length, "x"), Buffer.from(end)]));
      expect(log.diagnostics).toMatchObject([{ code, line: 2, offset: header.length }]);
      expect(log).toMatchObject({ verdict: "corrupt", recoverable: "no" });
    }
  });

  test("a fragment that has no room left for its end is no fragment", async () => {
    const open = Buffer.from(`{"a":"${"x".repeat(mebibyte - 6)}`);
    expect(await scanBytes(Buffer.concat([header, open]))).toMatchObject({ verdict: "corrupt", recoverable: "no" });
    expect(await scanBytes(Buffer.concat([header, open.subarray(0, mebibyte - 1)]))).toMatchObject({
      verdict: "tail-pending",
      recoverable: "truncate-fragment",
    });
  });

  test("megabytes of zeros at the end are named for what they are", async () => {
    for (const length of [1, 4096, 5 * mebibyte]) {
      const log = await scanBytes(Buffer.concat([header, Buffer.alloc(length)]));
      expect(log.diagnostics).toMatchObject([{ code: "zero-filled-tail", line: 2, offset: header.length }]);
      expect(log).toMatchObject({ verdict: "corrupt", recoverable: "no" });
    }
  });

  test("millions of bad lines give a bounded answer", async () => {
    const log = await scanBytes(Buffer.concat([header, Buffer.alloc(8 * mebibyte, "\n")]));
    expect(log.verdict).toBe("corrupt");
    expect(log.diagnostics.length).toBeLessThanOrEqual(101);
  });

  test("many removals far down a long branch", async () => {
    const lines = ['{"type":"session","version":1,"id":"s","timestamp":"2026-01-01T00:00:00Z"}'];
    const envelope = (id: number): string => `"id":"e${id}","parentId":${id === 0 ? "null" : `"e${id - 1}"`}`;
    const time = '"timestamp":"2026-01-01T00:00:00Z"';
    const half = 10_000;
    for (let id = 0; id < half; id += 1) {
      const message = '"message":{"role":"user","timestamp":0,"content":[]}';
      lines.push(`{"type":"message",${envelope(id)},${time},${message}}`);
    }
    for (let id = half; id < 2 * half; id += 1) {
      lines.push(`{"type":"message.removed",${envelope(id)},${time},"targetId":"e${id - half}"}`);
    }
    const log = await scanBytes(Buffer.from(`${lines.join("\n")}\n`));
    expect(log).toMatchObject({ verdict: "valid" });
    expect(log.entries.count).toBe(2 * half);
  });

  test("any bytes at all", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.boolean(), async (noise, behindHeader) => {
        const bytes = Buffer.concat(behindHeader ? [header, noise] : [noise]);
        const log = await scanBytes(bytes, 7);
        expect(describeLog(log)).toEqual(describeLog(await scanBytes(bytes)));
        if (!behindHeader) expect(log.verdict).toBe("corrupt");
      }),
      { numRuns: RUNS * 5 },
    );
  });
});

test("cancelling gives back the very reason", async () => {
  const reason = new Error("not wanted any more");
  const { bytes } = toLog([custom("a", 1)]);
  await expect(scanBytes(bytes, 10, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const controller = new AbortController();
  const scan = scanBytes(bytes, 10, {
    signal: controller.signal,
    onProgress: ({ bytes: done }) => {
      if (done > 20) controller.abort(reason);
    },
  });
  await expect(scan).rejects.toBe(reason);
});

test("progress ends at the size of the file", async () => {
  const { bytes } = toLog([custom("a", "x".repeat(500)), custom("b", 1)]);
  const seen: number[] = [];
  await scanBytes(bytes, 100, { onProgress: (progress) => seen.push(progress.bytes, progress.size - bytes.length) });
  expect(seen.slice(-2)).toEqual([bytes.length, 0]);
});

test("a file that gives fewer bytes than its size is unavailable, not damaged", async () => {
  const { bytes } = toLog([custom("a", 1)]);
  const file = new MemoryFile(bytes);
  const stat = await file.stat();
  file.stat = () => Promise.resolve(Object.assign(stat, { size: BigInt(bytes.length + 10) }));
  await expect(scanLog(file)).rejects.toMatchObject({ code: "unavailable" });
});
