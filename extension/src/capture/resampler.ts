/** Half the width of the filter, in zero crossings of the lower rate. */
const ZERO_CROSSINGS = 16;

/**
 * A windowed-sinc resampler that keeps its state between pieces: the number of samples that come out depends on how
 * many went in, never on how they were cut. `drain` gives the samples that were waiting for later input.
 */
export class Resampler {
  readonly #step: number;
  readonly #cutoff: number;
  readonly #reach: number;
  #history: number[] = [];
  /** Index of the first sample of the history in the whole input. */
  #historyStart = 0;
  #received = 0;
  #produced = 0;

  constructor(
    private readonly fromRate: number,
    private readonly toRate: number,
  ) {
    this.#step = fromRate / toRate;
    this.#cutoff = Math.min(1, toRate / fromRate) * 0.96;
    this.#reach = Math.ceil(ZERO_CROSSINGS / this.#cutoff);
  }

  push(samples: ArrayLike<number>): number[] {
    for (let at = 0; at < samples.length; at += 1) this.#history.push(samples[at] ?? 0);
    this.#received += samples.length;
    const out: number[] = [];
    while (Math.floor(this.#produced * this.#step) + this.#reach < this.#received) out.push(this.#next());
    this.#forget();
    return out;
  }

  drain(): number[] {
    const total = Math.round((this.#received * this.toRate) / this.fromRate);
    const out: number[] = [];
    while (this.#produced < total) out.push(this.#next());
    return out;
  }

  #next(): number {
    const center = this.#produced * this.#step;
    this.#produced += 1;
    const first = Math.ceil(center - this.#reach);
    const last = Math.floor(center + this.#reach);
    let sum = 0;
    for (let at = first; at <= last; at += 1) {
      const sample = this.#history[at - this.#historyStart];
      if (sample === undefined) continue;
      sum += sample * this.#kernel(at - center);
    }
    return sum;
  }

  #kernel(distance: number): number {
    const x = distance * this.#cutoff;
    const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / (this.#reach + 1));
    const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
    return this.#cutoff * sinc * window;
  }

  #forget(): void {
    const keepFrom = Math.floor(this.#produced * this.#step) - this.#reach - 1;
    const drop = keepFrom - this.#historyStart;
    if (drop <= 0) return;
    this.#history.splice(0, drop);
    this.#historyStart += drop;
  }
}
