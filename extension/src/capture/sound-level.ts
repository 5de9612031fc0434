/** What a piece of sound measures, and how long the input has been exactly zero. */
import { BYTES_PER_FRAME, BYTES_PER_MS } from "./protocol";

/** A quiet room is never exactly zero for so long; a missing permission, a closed lid and a muted device are. */
const SILENCE_LIMIT_BYTES = 2_000 * BYTES_PER_MS;
const FULL_SCALE = 32_768;

export interface SoundLevel {
  /** Relative to full scale. */
  peakDb: number;
  rmsDb: number;
  /** Every sample is 0. */
  zero: boolean;
}

export function levelOf(samples: Buffer): SoundLevel {
  let peak = 0;
  let squares = 0;
  for (let at = 0; at + 1 < samples.length; at += BYTES_PER_FRAME) {
    const value = samples.readInt16LE(at) / FULL_SCALE;
    peak = Math.max(peak, Math.abs(value));
    squares += value * value;
  }
  const rms = Math.sqrt(squares / (samples.length / BYTES_PER_FRAME));
  return { peakDb: decibels(peak), rmsDb: decibels(rms), zero: peak === 0 };
}

/** -120 stands for silence, since JSON has no infinity. */
function decibels(value: number): number {
  return value <= 1e-6 ? -120 : Math.round(200 * Math.log10(value)) / 10;
}

/** Tells of a run of zeros, once, before it is longer than two seconds. */
export class SilenceWatch {
  #zeroBytes = 0;
  #isReported = false;

  /** True when the run has lasted so long that one more piece like this would be too much. */
  add(zero: boolean, bytes: number): boolean {
    if (!zero) {
      this.#zeroBytes = 0;
      this.#isReported = false;
      return false;
    }
    this.#zeroBytes += bytes;
    if (this.#isReported || this.#zeroBytes + bytes <= SILENCE_LIMIT_BYTES) return false;
    this.#isReported = true;
    return true;
  }
}
