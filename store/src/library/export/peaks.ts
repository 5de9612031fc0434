import { type AssetReader } from "../../assets/open-asset";
import { parseWavFormat, type WavFormat } from "../../assets/wav-format";

/** The loudness of a recording over time. */
export interface Waveform {
  /** Even slices of the recording, 0 to 1: the root mean square of the samples of each, which is what is heard. */
  levels: Float32Array;
  durationMs: number;
}

const SLICES = 2048;
const CHUNK_FRAMES = 64 * 1024;
const MAX_CHUNKS = 1024;

/**
 * Reads the waveform of a WAV file in bounded memory; null when the file is not PCM or float audio. Samples that a
 * header of an interrupted capture does not count are read as far as the file goes.
 */
export async function readWaveform(
  reader: AssetReader,
  options: { signal?: AbortSignal; onProgress?: (done: number, total: number) => void } = {},
): Promise<Waveform | null> {
  const layout = await findSamples(reader);
  if (layout === null) return null;
  const { format, start, end } = layout;
  const frames = Math.floor((end - start) / format.blockAlign);
  const columns = Math.max(1, Math.min(SLICES, frames));
  const sums = new Float64Array(columns);
  const counts = new Float64Array(columns);
  const decode = decoderOf(format);
  for (let frame = 0; frame < frames; frame += CHUNK_FRAMES) {
    options.signal?.throwIfAborted();
    const count = Math.min(CHUNK_FRAMES, frames - frame);
    const at = start + frame * format.blockAlign;
    const bytes = await reader.read(at, at + count * format.blockAlign);
    options.onProgress?.(at + bytes.length, reader.size);
    for (let index = 0; index < count; index += 1) {
      const column = Math.floor(((frame + index) * columns) / frames);
      const value = decode(bytes, index * format.blockAlign);
      sums[column] = (sums[column] ?? 0) + value * value;
      counts[column] = (counts[column] ?? 0) + 1;
    }
  }
  const levels = new Float32Array(columns);
  for (let column = 0; column < columns; column += 1) {
    const count = counts[column] ?? 0;
    levels[column] = count === 0 ? 0 : Math.min(1, Math.sqrt((sums[column] ?? 0) / count));
  }
  return { levels, durationMs: (frames * 1000) / format.sampleRate };
}

async function findSamples(reader: AssetReader): Promise<{ format: WavFormat; start: number; end: number } | null> {
  if (reader.size < 12) return null;
  const riff = await reader.read(0, 12);
  if (riff.toString("latin1", 0, 4) !== "RIFF" || riff.toString("latin1", 8, 12) !== "WAVE") return null;
  let format: WavFormat | null = null;
  let offset = 12;
  for (let chunk = 0; chunk < MAX_CHUNKS && offset + 8 <= reader.size; chunk += 1) {
    const head = await reader.read(offset, offset + 8);
    const name = head.toString("latin1", 0, 4);
    const size = head.readUInt32LE(4);
    const body = offset + 8;
    if (name === "data") {
      if (format === null) return null;
      // A capture that never ended declares no size, or one from before its last samples.
      return { format, start: body, end: size === 0 ? reader.size : Math.min(reader.size, body + size) };
    }
    if (name === "fmt ") {
      const parsed = parseWavFormat(await reader.read(body, Math.min(reader.size, body + Math.min(size, 64))));
      if (typeof parsed === "string") return null;
      format = parsed;
    }
    offset = body + size + (size % 2);
  }
  return null;
}

/** Reads the first channel of a frame as -1 to 1. */
function decoderOf(format: WavFormat): (bytes: Buffer, at: number) => number {
  if (format.encoding === "float") {
    return format.bitsPerSample === 64 ? (bytes, at) => bytes.readDoubleLE(at) : (bytes, at) => bytes.readFloatLE(at);
  }
  switch (format.bitsPerSample) {
    case 8:
      return (bytes, at) => (bytes.readUInt8(at) - 128) / 128;
    case 16:
      return (bytes, at) => bytes.readInt16LE(at) / 32_768;
    default: {
      const width = Math.min(6, format.bitsPerSample / 8);
      return (bytes, at) => bytes.readIntLE(at, width) / 2 ** (8 * width - 1);
    }
  }
}
