/** Event-log backend, Write path: the writer of a session that is going on. */
import { snapshotBatch } from "./batch";
import { type ResolvedOptions } from "./options";
import { type SessionLog } from "./session-log";
import { type LogEvent } from "./types";
import { WriteWindow } from "./write-window";

/**
 * Takes events as they happen and makes them durable in batches. Events that are stored already are left out, so that a
 * resumed session may give its whole history.
 */
export class LiveWriter {
  readonly id: string;
  readonly #log: SessionLog;
  readonly #window: WriteWindow;
  readonly #ignorableTypes: ReadonlySet<string> | undefined;
  readonly #onClose: () => void;

  constructor(log: SessionLog, options: ResolvedOptions, onClose: () => void) {
    this.id = log.id;
    this.#log = log;
    this.#onClose = onClose;
    this.#ignorableTypes = options.ignorableTypes;
    this.#window = new WriteWindow({
      maxDelayMs: options.writeBatchMaxDelayMs,
      maxPendingEvents: options.maxPendingEvents,
      timers: options.timers,
      write: (batch) => log.appendNew(batch),
      onFailure: (error) => options.onBackgroundFailure(log.id, error),
    });
  }

  /** Events that are not durable yet. */
  get pendingEvents(): number {
    return this.#window.pendingEvents;
  }

  /** Takes a copy of one event. Throws `event-log-event-invalid`, or `event-log-backlog-full` when too many wait. */
  enqueue(event: LogEvent): void {
    for (const copy of snapshotBatch(this.id, [event], this.#ignorableTypes)) this.#window.enqueue(copy);
  }

  /** Makes every event given so far durable. Rejects when that fails; the events are kept, in order. */
  flush(): Promise<void> {
    return this.#window.flush();
  }

  /** Flushes and gives the session back. When the flush fails the writer stays open with its events. */
  async close(): Promise<void> {
    await this.flush();
    this.#onClose();
    await this.#log.release();
  }
}
