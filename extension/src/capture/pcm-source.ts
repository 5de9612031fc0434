/**
 * Turns a PCM or float WAV of any rate and channel count into the capture format, 24 kHz mono PCM16, piece by piece, so
 * that a long file never sits in memory. A file that already has that format passes through byte for byte.
 */
import { open, type FileHandle } from "node:fs/promises";
import { encodePcm16 } from "./pcm16";
import { SAMPLE_RATE } from "./protocol";
import { Resampler } from "./resampler";

interface Layout {
  encoding: "int" | "float";
  bits: number;
  channels: number;
  rate: number;
  dataOffset: number;
  dataBytes: number;
}

export class UnreadableWav extends Error {
  override readonly name = "UnreadableWav";
}

const PIECE_FRAMES = 4_800;
/** What a sample of 1 is in 16 bits. */
const FULL_SCALE = 32_768;

export class PcmSource {
  #position = 0;
  #pending: Buffer = Buffer.alloc(0);
  #drained = false;
  readonly #resampler: Resampler | undefined;

  private constructor(
    private readonly handle: FileHandle,
    private readonly layout: Layout,
  ) {
    this.#resampler = layout.rate === SAMPLE_RATE ? undefined : new Resampler(layout.rate, SAMPLE_RATE);
  }

  static async open(path: string): Promise<PcmSource> {
    const handle = await open(path, "r");
    try {
      return new PcmSource(handle, await readLayout(handle));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Length of the source in milliseconds. */
  get durationMs(): number {
    const { bits, channels, rate, dataBytes } = this.layout;
    return (Math.floor(dataBytes / ((bits / 8) * channels)) / rate) * 1_000;
  }

  /** The next `bytes` of PCM16, fewer at the end, none after it. `bytes` is even. */
  async next(bytes: number): Promise<Buffer> {
    while (this.#pending.length < bytes && !this.#drained) {
      const piece = await this.#convert();
      this.#pending = this.#pending.length === 0 ? piece : Buffer.concat([this.#pending, piece]);
    }
    const result = this.#pending.subarray(0, bytes);
    this.#pending = this.#pending.subarray(result.length);
    return result;
  }

  close(): Promise<void> {
    return this.handle.close();
  }

  async #convert(): Promise<Buffer> {
    const { encoding, bits, channels, dataOffset, dataBytes } = this.layout;
    const frameBytes = (bits / 8) * channels;
    const wanted = Math.min(PIECE_FRAMES * frameBytes, dataBytes - this.#position);
    const raw = Buffer.alloc(Math.max(0, wanted));
    const { bytesRead } = await this.handle.read(raw, 0, raw.length, dataOffset + this.#position);
    const whole = bytesRead - (bytesRead % frameBytes);
    this.#position += whole;
    const atEnd = whole === 0 || this.#position + frameBytes > dataBytes;
    if (atEnd) this.#drained = true;
    const bytes = raw.subarray(0, whole);
    if (this.#resampler === undefined && encoding === "int" && bits === 16 && channels === 1) return bytes;
    const mono = toMono(bytes, this.layout);
    if (this.#resampler === undefined) return encodePcm16(mono, FULL_SCALE);
    const resampled = this.#resampler.push(mono);
    return encodePcm16(atEnd ? [...resampled, ...this.#resampler.drain()] : resampled, FULL_SCALE);
  }
}

async function readLayout(handle: FileHandle): Promise<Layout> {
  const size = (await handle.stat()).size;
  const riff = await readAt(handle, 0, 12);
  if (riff.length < 12 || riff.toString("latin1", 0, 4) !== "RIFF" || riff.toString("latin1", 8, 12) !== "WAVE") {
    throw new UnreadableWav("The file is not a WAV file.");
  }
  let format: Omit<Layout, "dataOffset" | "dataBytes"> | undefined;
  for (let at = 12; at + 8 <= size;) {
    const header = await readAt(handle, at, 8);
    const name = header.toString("latin1", 0, 4);
    const length = header.readUInt32LE(4);
    const body = at + 8;
    if (name === "fmt ") format = readFormat(await readAt(handle, body, Math.min(length, 40)));
    if (name === "data") {
      if (format === undefined) break;
      const behind = size - body;
      // Sizes of an unfinished file are 0 or beyond its end: the samples then reach to the end.
      return { ...format, dataOffset: body, dataBytes: length === 0 || length > behind ? behind : length };
    }
    at = body + length + (length % 2);
  }
  throw new UnreadableWav("The WAV file has no readable samples.");
}

function readFormat(fmt: Buffer): Omit<Layout, "dataOffset" | "dataBytes"> {
  if (fmt.length < 16) throw new UnreadableWav("The WAV file's format is cut off.");
  let tag = fmt.readUInt16LE(0);
  if (tag === 0xfffe && fmt.length >= 26) tag = fmt.readUInt16LE(24);
  const channels = fmt.readUInt16LE(2);
  const rate = fmt.readUInt32LE(4);
  const bits = fmt.readUInt16LE(14);
  const encoding = tag === 1 ? "int" : tag === 3 ? "float" : undefined;
  const supported = encoding === "int" ? [8, 16, 24, 32].includes(bits) : bits === 32 || bits === 64;
  if (encoding === undefined || !supported || channels < 1 || channels > 64 || rate < 4_000 || rate > 768_000) {
    throw new UnreadableWav("The WAV file's encoding is not supported; save it as 16-bit PCM.");
  }
  return { encoding, bits, channels, rate };
}

async function readAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, at);
  return buffer.subarray(0, bytesRead);
}

function toMono(bytes: Buffer, { encoding, bits, channels }: Layout): Float64Array {
  const sampleBytes = bits / 8;
  const frames = bytes.length / (sampleBytes * channels);
  const read = sampleReader(bytes, encoding, bits);
  const mono = new Float64Array(frames);
  for (let frame = 0; frame < frames; frame += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += read((frame * channels + channel) * sampleBytes);
    mono[frame] = sum / channels;
  }
  return mono;
}

/** Reads one sample as a number from -1 to 1. */
function sampleReader(bytes: Buffer, encoding: "int" | "float", bits: number): (at: number) => number {
  if (encoding === "float") return bits === 32 ? (at) => bytes.readFloatLE(at) : (at) => bytes.readDoubleLE(at);
  if (bits === 8) return (at) => (bytes.readUInt8(at) - 128) / 128;
  const scale = 2 ** (bits - 1);
  return (at) => bytes.readIntLE(at, bits / 8) / scale;
}
