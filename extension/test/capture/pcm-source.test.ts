import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { PcmSource } from "../../src/capture/pcm-source";
import { Resampler } from "../../src/capture/resampler";
import { sampleBytes, samplePath } from "../host/bench";

const folder = mkdtempSync(path.join(os.tmpdir(), "persyk-pcm-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function readAll(file: string, piece = 4_800): Promise<Buffer> {
  const source = await PcmSource.open(file);
  const parts: Buffer[] = [];
  for (let part = await source.next(piece); part.length > 0; part = await source.next(piece))
    parts.push(Buffer.from(part));
  await source.close();
  return Buffer.concat(parts);
}

/** One second of a 1 kHz tone at half scale, as any WAV. */
function tone(format: { tag: 1 | 3; bits: number; channels: number; rate: number }): string {
  const { tag, bits, channels, rate } = format;
  const size = bits / 8;
  const data = Buffer.alloc(rate * channels * size);
  for (let frame = 0; frame < rate; frame += 1) {
    const value = 0.5 * Math.sin((2 * Math.PI * 1_000 * frame) / rate);
    for (let channel = 0; channel < channels; channel += 1) {
      const at = (frame * channels + channel) * size;
      if (tag === 3) data.writeFloatLE(value, at);
      else if (bits === 8) data.writeUInt8(Math.round(value * 127) + 128, at);
      else data.writeIntLE(Math.round(value * (2 ** (bits - 1) - 1)), at, size);
    }
  }
  const header = Buffer.alloc(44);
  header.write("RIFF", 0);
  header.writeUInt32LE(36 + data.length, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(tag, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * channels * size, 28);
  header.writeUInt16LE(channels * size, 32);
  header.writeUInt16LE(bits, 34);
  header.write("data", 36);
  header.writeUInt32LE(data.length, 40);
  const file = path.join(folder, `${tag}-${bits}-${channels}-${rate}.wav`);
  writeFileSync(file, Buffer.concat([header, data]));
  return file;
}

test("a recording in the capture's own format passes through byte for byte", async () => {
  expect((await readAll(samplePath)).equals(sampleBytes)).toBe(true);
  expect((await readAll(samplePath, 998)).equals(sampleBytes)).toBe(true);
});

test.each([
  { tag: 1, bits: 16, channels: 2, rate: 44_100 },
  { tag: 1, bits: 24, channels: 1, rate: 48_000 },
  { tag: 1, bits: 8, channels: 1, rate: 8_000 },
  { tag: 1, bits: 32, channels: 2, rate: 96_000 },
  { tag: 3, bits: 32, channels: 1, rate: 16_000 },
] as const)("$bits bit, $channels channel(s), $rate Hz: the same length and the same tone", async (format) => {
  const samples = await readAll(tone(format));
  expect(samples.length / 2).toBe(24_000);
  let peak = 0;
  let crossings = 0;
  // Away from the edges, where the filter starts and ends.
  for (let at = 2_400; at < 21_600; at += 1) {
    const [before, now] = [samples.readInt16LE(at * 2 - 2), samples.readInt16LE(at * 2)];
    peak = Math.max(peak, Math.abs(now));
    if (before < 0 && now >= 0) crossings += 1;
  }
  expect(crossings).toBeGreaterThanOrEqual(799);
  expect(crossings).toBeLessThanOrEqual(801);
  expect(peak / 32_768).toBeCloseTo(0.5, 1);
});

test("resampling loses no time, however the sound is cut", () => {
  for (const rate of [44_100, 48_000, 16_000, 96_000]) {
    for (const piece of [128, 511, 4_096]) {
      const resampler = new Resampler(rate, 24_000);
      let produced = 0;
      const seconds = 2;
      for (let at = 0; at < rate * seconds; at += piece) {
        produced += resampler.push(new Float64Array(Math.min(piece, rate * seconds - at))).length;
      }
      produced += resampler.drain().length;
      expect([rate, piece, produced]).toEqual([rate, piece, 24_000 * seconds]);
    }
  }
});

test("what is not a WAV is refused in words", async () => {
  const file = path.join(folder, "not.wav");
  writeFileSync(file, "plain text that is long enough to be read as a header of something");
  await expect(readAll(file)).rejects.toThrow("not a WAV");
});
