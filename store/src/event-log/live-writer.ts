/** Event-log backend, Write path: the writer of a session that is going on. */
import { admit, assertContinues, snapshotBatch } from "./batch";
import { type ResolvedOptions } from "./options";
import { type SessionLog } from "./session-log";
import { type LogEvent } from "./types";
import { EventValidator } from "./validator";
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
  /** Checks what can be checked of an event by itself: one that could never be written must not hold up the rest. */
  readonly #validator: EventValidator;
  #nextSeq: number | undefined;

  constructor(log: SessionLog, options: ResolvedOptions, onClose: () => void) {
    this.id = log.id;
    this.#log = log;
    this.#onClose = onClose;
    this.#ignorableTypes = options.ignorableTypes;
    this.#validator = new EventValidator({ sessionId: log.id, extraTypes: options.extraTypes, isSuffix: true });
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

  /**
   * Takes a copy of one event, which must follow the one before it. Throws `event-log-event-invalid`,
   * `event-log-seq-mismatch`, or `event-log-backlog-full` when too many wait; the event is then not taken.
   */
  enqueue(event: LogEvent): void {
    const batch = snapshotBatch(this.id, [event], this.#ignorableTypes);
    if (this.#nextSeq !== undefined) assertContinues(this.id, batch, this.#nextSeq);
    this.#validator.begin();
    try {
      admit(this.id, batch, this.#validator);
      for (const copy of batch) this.#window.enqueue(copy);
    } catch (error) {
      this.#validator.rollback();
      throw error;
    }
    this.#validator.commit();
    this.#nextSeq = event.seq + 1;
  }

  /**
   * Gives up the events that are not durable yet, and hands them back: the way out when they can never be written,
   * because somebody else has continued the log, say.
   */
  discard(): LogEvent[] {
    this.#nextSeq = undefined;
    return this.#window.discard();
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
