/** Event-log backend, Durability ("Contiguous-seq"): what a caller gives to append, copied and checked at the call. */
import { StoreError } from "../errors";
import { NotLosslessJson, snapshotJson } from "./json-value";
import { type StoredEvent } from "./legacy";
import { isRecord, type JsonRecord, type LogEvent } from "./types";
import { type EventValidator } from "./validator";
import { isRowTag, KNOWN_EVENT_TYPES } from "./vocabulary";

/** Detached copies of the events. Throws `event-log-event-invalid` naming the event and the place in it. */
export function snapshotBatch(
  id: string,
  events: readonly LogEvent[],
  ignorableTypes: ReadonlySet<string> | undefined,
): LogEvent[] {
  return Array.from(events, (event, index) => {
    const record = snapshotEvent(id, event, index);
    const { type } = record;
    if (isRowTag(type)) {
      throw invalid(id, index, record, `carries the tag of a packed row, so it could never be read back`);
    }
    const marked =
      typeof type === "string" && ignorableTypes?.has(type) === true && !KNOWN_EVENT_TYPES.has(type)
        ? { ...record, ignorable: true }
        : record;
    if (!isEventLike(marked)) throw invalid(id, index, record, "has no sequence number, time or data");
    return marked;
  });
}

function snapshotEvent(id: string, event: unknown, index: number): JsonRecord {
  try {
    const copy = snapshotJson(withoutUndefined(event));
    if (isRecord(copy) && !Array.isArray(copy)) return copy;
    throw new NotLosslessJson("", "is no object");
  } catch (error) {
    if (!(error instanceof NotLosslessJson)) throw error;
    throw invalid(id, index, event, `is not losslessly JSON-serializable: ${error.message}`, error);
  }
}

/** An optional envelope field that is present and undefined is as absent as one that is not there. */
function withoutUndefined(event: unknown): unknown {
  if (!isRecord(event) || Array.isArray(event)) return event;
  const optional = ["surfaceOp", "sourceEventSeqs", "ignorable"];
  if (!optional.some((key) => Object.hasOwn(event, key) && event[key] === undefined)) return event;
  return Object.fromEntries(
    Object.entries(event).filter(([key, value]) => value !== undefined || !optional.includes(key)),
  );
}

function isEventLike(record: JsonRecord): record is JsonRecord & LogEvent {
  return (
    typeof record["type"] === "string" &&
    typeof record["seq"] === "number" &&
    typeof record["time"] === "number" &&
    record["data"] !== undefined
  );
}

/** Throws `event-log-seq-mismatch` unless the batch continues the log. */
export function assertContinues(id: string, events: readonly LogEvent[], nextSeq: number): void {
  events.forEach((event, index) => {
    if (event.seq === nextSeq + index) return;
    throw new StoreError("event-log-seq-mismatch", {
      sessionId: id,
      message: `append seq mismatch for "${id}": expected ${nextSeq + index} at index ${index}, got ${event.seq}`,
    });
  });
}

/** Runs a batch through the validation that reading uses. On failure nothing has changed. */
export function admit(id: string, events: readonly LogEvent[], validator: EventValidator): void {
  events.forEach((event, index) => {
    const record: StoredEvent = { ...event };
    try {
      validator.admit(record);
      if (event.type === "turn/start" && !isTurnNumber(event.data)) {
        throw new RangeError("opens a turn whose number is not positive, so that it could never be ended");
      }
    } catch (error) {
      throw invalid(id, index, event, error instanceof Error ? error.message : "is not valid", error);
    }
  });
}

function isTurnNumber(data: unknown): boolean {
  const turn = isRecord(data) ? data["turn"] : undefined;
  return typeof turn === "number" && Number.isSafeInteger(turn) && turn >= 1;
}

function invalid(id: string, index: number, event: unknown, problem: string, cause?: unknown): StoreError {
  const type = isRecord(event) ? event["type"] : undefined;
  const named = typeof type === "string" ? ` "${type}"` : "";
  return new StoreError("event-log-event-invalid", {
    sessionId: id,
    message: `event${named} at index ${index} of the batch for "${id}" ${problem}`,
    cause,
  });
}
