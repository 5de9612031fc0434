/** Following a log that grows: the events as they become durable. */
import { watch, type FSWatcher } from "node:fs";
import { dirname } from "node:path";
import { isStoreError } from "../errors";
import { errnoName } from "../platform/errno";
import { type LogEvent } from "./types";

export interface FollowOptions {
  /** First event that is wanted; 0 unless given. */
  readonly fromSeq?: number;
  /** How long to wait between looks when the system does not tell of changes, in milliseconds; 500 unless given. */
  readonly pollMs?: number;
  /** Ends the iteration with its own reason. */
  readonly signal?: AbortSignal;
}

/** What following needs: the revision of a log, and its events from a number on. */
interface FollowSource {
  readonly path: string;
  revision(): Promise<string | undefined>;
  readFrom(fromSeq: number): Promise<readonly LogEvent[]>;
}

/**
 * Yields every event once, in order, and waits for more. A read costs what is new. An event of a write that is taken
 * back right after (its writer was told that it failed) can have been seen; what replaces it is not shown again.
 */
export async function* follow(source: FollowSource, options: FollowOptions = {}): AsyncGenerator<LogEvent, void> {
  const { signal, pollMs = 500 } = options;
  let next = options.fromSeq ?? 0;
  let seen: string | undefined;
  const alarm = new Alarm(dirname(source.path), signal);
  try {
    for (;;) {
      signal?.throwIfAborted();
      const revision = await source.revision();
      if (revision !== undefined && revision !== seen) {
        for (const event of await readAvailable(source, next)) {
          yield event;
          next = event.seq + 1;
        }
        seen = revision;
        continue;
      }
      await alarm.wait(pollMs);
    }
  } finally {
    alarm.close();
  }
}

/** A log that vanishes or is being replaced between two looks has nothing new at the moment. */
async function readAvailable(source: FollowSource, fromSeq: number): Promise<readonly LogEvent[]> {
  try {
    return await source.readFrom(fromSeq);
  } catch (error) {
    if (isStoreError(error, "location-gone") || isStoreError(error, "event-log-changed")) return [];
    throw error;
  }
}

/** Wakes a waiter when something in a folder changes, when time is up, or when it is told to stop. */
class Alarm {
  readonly #signal: AbortSignal | undefined;
  #watcher: FSWatcher | undefined;
  #ring: (() => void) | undefined;
  #rang = false;

  constructor(directory: string, signal: AbortSignal | undefined) {
    this.#signal = signal;
    try {
      this.#watcher = watch(directory, { persistent: false }, () => this.#wake());
      // A watcher that stops working leaves the polling, which was always the promise.
      this.#watcher.on("error", () => this.#watcher?.close());
    } catch (error) {
      if (errnoName(error) === undefined) throw error;
    }
    signal?.addEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => this.#wake();

  #wake(): void {
    this.#rang = true;
    this.#ring?.();
  }

  async wait(maxMs: number): Promise<void> {
    if (!this.#rang) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, maxMs);
        this.#ring = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#ring = undefined;
    this.#rang = false;
    this.#signal?.throwIfAborted();
  }

  close(): void {
    this.#watcher?.close();
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}
