import { type RecorderClock } from "../../src/realtime/recorder-types";

/** Time that only moves when the test says so. */
export class VirtualClock implements RecorderClock {
  #nowMs: number;
  #timers: { atMs: number; fn: () => void }[] = [];

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  setTimer(ms: number, fn: () => void): () => void {
    const timer = { atMs: this.#nowMs + ms, fn };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  get pending(): number {
    return this.#timers.length;
  }

  advanceTo(atMs: number): void {
    for (;;) {
      const [due] = this.#timers.filter((timer) => timer.atMs <= atMs).sort((a, b) => a.atMs - b.atMs);
      if (due === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      this.#nowMs = Math.max(this.#nowMs, due.atMs);
      due.fn();
    }
    this.#nowMs = Math.max(this.#nowMs, atMs);
  }
}
