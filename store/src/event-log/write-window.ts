/**
 * Event-log backend, Write path: events of a live session are collected for one fixed window and written as one batch.
 * The first pending event starts the window, later ones join without extending it, and a failed batch stays in front.
 */
import { StoreError } from "../errors";
import { type LogEvent } from "./types";

/** Timers, injected so that tests run in virtual time. */
export interface WindowTimers {
  /** Calls back after so many milliseconds; the result cancels. */
  setTimer(delayMs: number, callback: () => void): () => void;
}

export const systemTimers: WindowTimers = {
  setTimer(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

interface WriteWindowOptions {
  readonly maxDelayMs: number;
  /** Events that may wait before `enqueue` refuses more: a disk that does not answer must not fill the memory. */
  readonly maxPendingEvents: number;
  readonly timers: WindowTimers;
  /** Makes one batch durable. */
  write(batch: readonly LogEvent[]): Promise<void>;
  /** A write that nobody awaits has failed; its events are kept. */
  onFailure(error: unknown): void;
}

export class WriteWindow {
  readonly #options: WriteWindowOptions;
  #pending: LogEvent[] = [];
  #writing = 0;
  #cancelTimer: (() => void) | undefined;
  #active: Promise<void> | undefined;
  #barrier: Promise<void> | undefined;
  /** The window ran out while a write was active, so the next batch follows at once. */
  #isOverdue = false;
  /** A background write failed: nothing more is tried until a new event or a flush. */
  #isPaused = false;

  constructor(options: WriteWindowOptions) {
    this.#options = options;
  }

  /** Events that are not durable yet. */
  get pendingEvents(): number {
    return this.#pending.length + this.#writing;
  }

  /** Takes one event. Throws `event-log-backlog-full` when too many wait. */
  enqueue(event: LogEvent): void {
    if (this.pendingEvents >= this.#options.maxPendingEvents) throw new StoreError("event-log-backlog-full");
    const wasEmpty = this.#pending.length === 0;
    this.#pending.push(event);
    if (this.#barrier !== undefined) return;
    if (this.#isPaused || wasEmpty) {
      this.#isPaused = false;
      this.#isOverdue = false;
      this.#startWindow();
    }
  }

  /** Writes everything that is pending now, without waiting for the window. Callers at the same time share it. */
  flush(): Promise<void> {
    if (this.#barrier === undefined) {
      this.#endWindow();
      this.#isOverdue = false;
      this.#isPaused = false;
      this.#barrier = this.#drain().finally(() => {
        this.#barrier = undefined;
      });
    }
    return this.#barrier;
  }

  /** Gives up what is not being written yet, and hands it back. */
  discard(): LogEvent[] {
    this.cancel();
    return this.#pending.splice(0);
  }

  /** Stops the window without writing. */
  cancel(): void {
    this.#endWindow();
    this.#isOverdue = false;
  }

  #startWindow(): void {
    this.#endWindow();
    this.#cancelTimer = this.#options.timers.setTimer(this.#options.maxDelayMs, () => this.#onWindowEnd());
  }

  #endWindow(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #onWindowEnd(): void {
    this.#cancelTimer = undefined;
    if (this.#active === undefined) this.#writeInBackground();
    else this.#isOverdue = true;
  }

  #writeInBackground(): void {
    void this.#write().then(
      () => {
        if (this.#barrier !== undefined || this.#pending.length === 0 || !this.#isOverdue) return;
        this.#isOverdue = false;
        this.#writeInBackground();
      },
      (error: unknown) => this.#options.onFailure(error),
    );
  }

  async #drain(): Promise<void> {
    if (this.#active !== undefined) await Promise.allSettled([this.#active]);
    this.#isPaused = false;
    while (this.#pending.length > 0) await this.#write();
  }

  #write(): Promise<void> {
    const batch = this.#pending;
    this.#pending = [];
    this.#writing = batch.length;
    this.#endWindow();
    this.#isOverdue = false;
    const active = this.#writeBatch(batch);
    this.#active = active;
    return active;
  }

  async #writeBatch(batch: LogEvent[]): Promise<void> {
    try {
      await this.#options.write(batch);
    } catch (error) {
      this.#pending = batch.concat(this.#pending);
      this.#endWindow();
      this.#isOverdue = false;
      this.#isPaused = true;
      throw error;
    } finally {
      this.#writing = 0;
      this.#active = undefined;
    }
  }
}
