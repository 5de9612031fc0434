import { Resampler } from "./resampler";

const SAMPLE_BYTES = 2;

/** 16-bit little-endian samples; what lies outside their range is cut to it. `scale` is what 1 becomes. */
export function encodePcm16(values: ArrayLike<number>, scale = 1): Buffer {
  const bytes = Buffer.alloc(values.length * SAMPLE_BYTES);
  for (let at = 0; at < values.length; at += 1) {
    const value = Math.round((values[at] ?? 0) * scale);
    bytes.writeInt16LE(Math.max(-32_768, Math.min(32_767, value)), at * SAMPLE_BYTES);
  }
  return bytes;
}

function decodePcm16(bytes: Buffer): Float64Array {
  const values = new Float64Array(Math.floor(bytes.length / SAMPLE_BYTES));
  for (let at = 0; at < values.length; at += 1) values[at] = bytes.readInt16LE(at * SAMPLE_BYTES);
  return values;
}

/** Changes the rate of mono PCM16 piece by piece; the pieces may be cut between any two samples. */
export class Pcm16Resampler {
  readonly #resampler: Resampler;

  /** Rates in Hz. */
  constructor(fromRate: number, toRate: number) {
    this.#resampler = new Resampler(fromRate, toRate);
  }

  push(samples: Buffer): Buffer {
    return encodePcm16(this.#resampler.push(decodePcm16(samples)));
  }

  /** The samples that were waiting for later input. */
  drain(): Buffer {
    return encodePcm16(this.#resampler.drain());
  }
}
