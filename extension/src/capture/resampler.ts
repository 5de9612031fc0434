/** Half the width of the filter, in zero crossings of the lower rate. */
const ZERO_CROSSINGS = 16;
const FIRST_CAPACITY = 16_384;

/**
 * A windowed-sinc resampler that keeps its state between pieces: the number of samples that come out depends on how
 * many went in, never on how they were cut. `drain` gives the samples that were waiting for later input.
 */
export class Resampler {
  readonly #cutoff: number;
  /** Input samples that count on either side of an output sample. */
  readonly #reach: number;
  /** One filter for each position that an output sample can have between two input samples; made when first used. */
  readonly #filters = new Map<number, Float64Array>();
  #history = new Float64Array(FIRST_CAPACITY);
  #length = 0;
  /** Index of the first sample of the history in the whole input. */
  #start = 0;
  #produced = 0;

  /** Rates in Hz, whole numbers. */
  constructor(
    private readonly fromRate: number,
    private readonly toRate: number,
  ) {
    this.#cutoff = Math.min(1, toRate / fromRate) * 0.96;
    this.#reach = Math.ceil(ZERO_CROSSINGS / this.#cutoff);
  }

  push(samples: ArrayLike<number>): number[] {
    this.#take(samples);
    const out: number[] = [];
    while (this.#base(this.#produced) + this.#reach < this.#start + this.#length) out.push(this.#next());
    return out;
  }

  drain(): number[] {
    const total = Math.round(((this.#start + this.#length) * this.toRate) / this.fromRate);
    const out: number[] = [];
    while (this.#produced < total) out.push(this.#next());
    return out;
  }

  /** The input sample at or before an output sample. */
  #base(index: number): number {
    return Math.floor((index * this.fromRate) / this.toRate);
  }

  #next(): number {
    const base = this.#base(this.#produced);
    const filter = this.#filter((this.#produced * this.fromRate) % this.toRate);
    this.#produced += 1;
    const first = base - this.#reach + 1 - this.#start;
    let sum = 0;
    for (let tap = 0; tap < filter.length; tap += 1) {
      const at = first + tap;
      if (at >= 0 && at < this.#length) sum += (filter[tap] ?? 0) * (this.#history[at] ?? 0);
    }
    return sum;
  }

  #filter(phase: number): Float64Array {
    const known = this.#filters.get(phase);
    if (known !== undefined) return known;
    const filter = new Float64Array(2 * this.#reach);
    for (let tap = 0; tap < filter.length; tap += 1) {
      filter[tap] = this.#kernel(tap - this.#reach + 1 - phase / this.toRate);
    }
    this.#filters.set(phase, filter);
    return filter;
  }

  #kernel(distance: number): number {
    const x = distance * this.#cutoff;
    const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / (this.#reach + 1));
    const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
    return this.#cutoff * sinc * window;
  }

  #take(samples: ArrayLike<number>): void {
    const keepFrom = Math.max(0, Math.min(this.#length, this.#base(this.#produced) - this.#reach - this.#start));
    if (keepFrom > 0) {
      this.#history.copyWithin(0, keepFrom, this.#length);
      this.#length -= keepFrom;
      this.#start += keepFrom;
    }
    if (this.#length + samples.length > this.#history.length) {
      const larger = new Float64Array((this.#length + samples.length) * 2);
      larger.set(this.#history.subarray(0, this.#length));
      this.#history = larger;
    }
    this.#history.set(samples, this.#length);
    this.#length += samples.length;
  }
}
