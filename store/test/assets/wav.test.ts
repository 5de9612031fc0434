import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import * as z from "zod";
import { inspectWav, recoverWav, type WavReport } from "../../src/assets/wav";
import { wavHeader } from "../../src/assets/wav-format";

const FIXTURES = join(__dirname, "../../../fixtures/wav");
const manifest = z
  .object({
    cases: z.array(
      z.object({
        file: z.string(),
        level: z.enum(["must", "may"]),
        outcome: z.enum(["intact", "repaired", "rejected"]),
        alsoAcceptable: z.array(z.string()),
        rejectReason: z.string().optional(),
        bytesUnchanged: z.boolean(),
        format: z.record(z.string(), z.unknown()).optional(),
        expect: z
          .object({
            frames: z.number(),
            dataBytes: z.number(),
            dataOffset: z.number(),
            durationMs: z.number(),
            durationToleranceMs: z.number(),
            pcmSha256: z.string(),
            droppedTrailingBytes: z.number(),
          })
          .optional(),
      }),
    ),
  })
  .parse(JSON.parse(fs.readFileSync(join(FIXTURES, "manifest.json"), "utf8")));

/** Nobody records into the files of the property tests; asking the system each time would only cost time. */
const free = { captureLock: { tryAcquire: async () => ({ release: async () => undefined }) } };

let folder: string;
beforeAll(() => {
  folder = fs.mkdtempSync(join(tmpdir(), "persyk-wav-"));
});
afterAll(() => fs.rmSync(folder, { recursive: true }));

function copyOf(bytes: Buffer, name = "case.wav"): string {
  const path = join(folder, name);
  fs.writeFileSync(path, bytes);
  return path;
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Every chunk with its bounds checked, as a strict reader walks them. */
function strictChunks(bytes: Buffer): { name: string; offset: number; size: number }[] {
  expect(bytes.toString("latin1", 0, 4)).toBe("RIFF");
  expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8);
  const chunks: { name: string; offset: number; size: number }[] = [];
  let at = 12;
  while (at < bytes.length) {
    const size = bytes.readUInt32LE(at + 4);
    chunks.push({ name: bytes.toString("latin1", at, at + 4), offset: at + 8, size });
    expect(at + 8 + size).toBeLessThanOrEqual(bytes.length);
    at += 8 + size + (size % 2 === 1 && at + 8 + size < bytes.length ? 1 : 0);
  }
  return chunks;
}

function withoutSizes(
  bytes: Buffer,
  report: WavReport & { outcome: "repaired" },
  factOffset: number | undefined,
): Buffer {
  const before = Buffer.from(bytes.subarray(0, report.dataOffset));
  before.fill(0, 4, 8).fill(0, report.dataOffset - 4);
  if (factOffset !== undefined) before.fill(0, factOffset, factOffset + 4);
  return before;
}

describe("every WAV fixture", () => {
  for (const fixture of manifest.cases) {
    test(`${fixture.file} is ${fixture.outcome}`, async () => {
      const original = fs.readFileSync(join(FIXTURES, fixture.file));
      const path = copyOf(original);
      const before = fs.statSync(path, { bigint: true });

      const inspected = await inspectWav(path);
      expect(fs.readFileSync(path).equals(original)).toBe(true);
      const report = await recoverWav(path);
      expect(inspected).toEqual(report);
      const after = fs.readFileSync(path);

      expect([fixture.outcome, ...fixture.alsoAcceptable]).toContain(report.outcome);
      if (report.outcome !== "repaired") {
        expect(after.equals(original)).toBe(true);
        expect(fs.statSync(path, { bigint: true }).mtimeNs).toBe(before.mtimeNs);
      }
      if (report.outcome === "rejected") {
        if (fixture.outcome === "rejected") expect(report.reason).toBe(fixture.rejectReason);
        return;
      }
      const wanted = fixture.expect;
      if (wanted === undefined) throw new Error("the manifest expects no content");
      expect(report).toMatchObject({
        frames: wanted.frames,
        dataBytes: wanted.dataBytes,
        dataOffset: wanted.dataOffset,
        droppedTrailingBytes: wanted.droppedTrailingBytes,
        format: fixture.format,
      });
      expect(Math.abs(report.durationMs - wanted.durationMs)).toBeLessThanOrEqual(wanted.durationToleranceMs);
      const samples = after.subarray(report.dataOffset, report.dataOffset + report.dataBytes);
      expect(sha256(samples)).toBe(wanted.pcmSha256);

      if (report.outcome === "repaired") {
        const chunks = fixture.file.startsWith("21-") ? [] : strictChunks(after);
        const fact = chunks.find((chunk) => chunk.name === "fact");
        if (fact !== undefined) expect(after.readUInt32LE(fact.offset)).toBe(wanted.frames);
        expect(withoutSizes(after, { ...report, outcome: "repaired" }, fact?.offset)).toEqual(
          withoutSizes(original, { ...report, outcome: "repaired" }, fact?.offset),
        );
        expect(await recoverWav(path)).toEqual({ ...report, outcome: "intact", droppedTrailingBytes: 0 });
        expect(fs.readFileSync(path).equals(after)).toBe(true);
      }
    });
  }
});

describe("files of the same kinds", () => {
  const reasonOf = async (bytes: Buffer): Promise<string> => {
    const report = await recoverWav(copyOf(bytes));
    return report.outcome === "rejected" ? report.reason : report.outcome;
  };
  const chunk = (name: string, body: Buffer, declared = body.length): Buffer => {
    const head = Buffer.alloc(8);
    head.write(name, 0, "latin1");
    head.writeUInt32LE(declared, 4);
    return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
  };
  const fmt = wavHeader(0).subarray(20, 36);
  const riff = (...chunks: Buffer[]): Buffer => Buffer.concat([Buffer.from("RIFF\0\0\0\0WAVE", "latin1"), ...chunks]);

  test.each([
    ["nothing", Buffer.alloc(0), "empty-file"],
    ["part of the word RIFF", Buffer.from("RI"), "truncated-header"],
    ["a header cut before WAVE", Buffer.from("RIFF\x10\0\0\0WA", "latin1"), "truncated-header"],
    ["a header cut in fmt", wavHeader(0).subarray(0, 30), "truncated-header"],
    ["a header cut in the data chunk's own header", wavHeader(0).subarray(0, 42), "truncated-header"],
    ["text", Buffer.from("hello"), "not-riff-wave"],
    ["an AVI file", Buffer.from("RIFF\x10\0\0\0AVI LIST", "latin1"), "not-riff-wave"],
    ["a big-endian RIFX file", Buffer.from("RIFX\0\0\0\x10WAVEfmt ", "latin1"), "unsupported-container"],
    ["an RF64 file", Buffer.from("RF64\xff\xff\xff\xffWAVEds64", "latin1"), "unsupported-container"],
    ["data before fmt", riff(chunk("data", Buffer.alloc(8)), chunk("fmt ", fmt)), "missing-fmt"],
    ["no chunks", riff(chunk("LIST", Buffer.alloc(6))), "missing-fmt"],
    ["no data", riff(chunk("fmt ", fmt), chunk("LIST", Buffer.alloc(6))), "no-data-chunk"],
    ["a short fmt", riff(chunk("fmt ", fmt.subarray(0, 14)), chunk("data", Buffer.alloc(8))), "invalid-fmt"],
    ["a header alone", wavHeader(0), "intact"],
  ])("%s", async (_what, bytes, expected) => {
    expect(await reasonOf(bytes)).toBe(expected);
  });

  test("fields of fmt that contradict each other are refused", async () => {
    for (const [offset, value] of [
      [2, 0],
      [4, 0],
      [12, 0],
      [12, 4],
      [14, 0],
      [14, 12],
    ] as const) {
      const body = Buffer.from(fmt);
      if (offset === 4) body.writeUInt32LE(value, offset);
      else body.writeUInt16LE(value, offset);
      expect(await reasonOf(riff(chunk("fmt ", body), chunk("data", Buffer.alloc(8), 0)))).toBe("invalid-fmt");
    }
  });

  test("whatever the samples and the declared sizes are, every whole frame is kept and nothing else changes", async () => {
    const stale = fc.oneof(fc.constant(0), fc.constant(0xffffffff), fc.constant(0x7ffff000), fc.nat(5_000));
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 3_000 }),
        stale,
        stale,
        fc.uint8Array({ maxLength: 40 }),
        async (samples, riffSize, dataSize, list) => {
          const bytes = riff(chunk("fmt ", fmt), chunk("LIST", Buffer.from(list)), chunk("data", Buffer.from(samples)));
          const cut = bytes.subarray(0, bytes.length - (samples.length % 2));
          const dataOffset = cut.length - samples.length;
          cut.writeUInt32LE(riffSize, 4);
          cut.writeUInt32LE(dataSize, dataOffset - 4);
          const path = copyOf(cut);
          const report = await recoverWav(path, free);
          const after = fs.readFileSync(path);
          if (report.outcome === "rejected") throw new Error(report.reason);
          if (report.outcome === "intact") expect(riffSize + 8).toBe(cut.length);
          else expect(report.frames).toBe(Math.floor(samples.length / 2));
          const kept = after.subarray(report.dataOffset, report.dataOffset + report.dataBytes);
          expect(kept.equals(Buffer.from(samples).subarray(0, report.dataBytes))).toBe(true);
          expect((await recoverWav(path, free)).outcome).toBe("intact");
        },
      ),
      { numRuns: 150 },
    );
  });

  test("bytes from anywhere are never changed unless they are repaired, and never crash the scan", async () => {
    const seeds = manifest.cases.map((fixture) => fs.readFileSync(join(FIXTURES, fixture.file)).subarray(0, 400));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...seeds),
        fc.array(fc.tuple(fc.nat(399), fc.nat(255)), { maxLength: 6 }),
        fc.nat(400),
        async (seed, changes, length) => {
          const bytes = Buffer.from(seed.subarray(0, length));
          for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
          const path = copyOf(bytes);
          const report = await recoverWav(path, free);
          if (report.outcome === "repaired") expect((await recoverWav(path, free)).outcome).toBe("intact");
          else expect(fs.readFileSync(path).equals(bytes)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("a symbolic link, a folder and a file with two names are refused and left alone", async () => {
    const bytes = Buffer.concat([wavHeader(0), Buffer.alloc(100, 1)]);
    const path = copyOf(bytes, "real.wav");
    fs.symlinkSync(path, join(folder, "link.wav"));
    await expect(recoverWav(join(folder, "link.wav"))).rejects.toMatchObject({ code: "unsafe-path" });
    await expect(inspectWav(folder)).rejects.toMatchObject({ code: "unsafe-path" });
    fs.linkSync(path, join(folder, "second.wav"));
    await expect(recoverWav(path)).rejects.toMatchObject({ code: "unsafe-path" });
    expect(fs.readFileSync(path).equals(bytes)).toBe(true);
  });
});
