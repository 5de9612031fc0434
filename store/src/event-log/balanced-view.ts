/** Event-log backend, Crash recovery: what a read shows once its interrupted turn is ended, and whether that may be written. */
import { StoreError } from "../errors";
import { freezeJson } from "./json-value";
import { type LogRead } from "./read-log";
import { type LogEvent, type LogView } from "./types";

/**
 * Closers repeat the number of the turn that they end, and a turn may have been opened with one that no turn end can
 * have. The view shows them all the same; written, they would make the log unreadable.
 */
export function assertReadable(read: LogRead, closers: readonly LogEvent[]): void {
  const { validator, path } = read;
  validator.begin();
  try {
    for (const closer of closers) validator.admit({ ...closer });
  } catch (error) {
    throw new StoreError("event-log-damaged", {
      location: path,
      message: "The open turn of the log cannot be ended in a way that could be read again.",
      remedy: "Export the session; its log is left as it is.",
      cause: error,
    });
  } finally {
    validator.rollback();
  }
}

export function isReadable(read: LogRead, closers: readonly LogEvent[]): boolean {
  try {
    assertReadable(read, closers);
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.code === "event-log-damaged") return false;
    throw error;
  }
}

/** The balanced and immutable view of a read. */
export function viewOf(read: LogRead, closers: readonly LogEvent[]): LogView {
  const events = read.events;
  for (const closer of closers) events.push(freezeJson(closer));
  return Object.freeze({
    meta: Object.freeze(read.header.header),
    events: Object.freeze(events),
    warnings: Object.freeze([...read.warnings]),
  });
}
