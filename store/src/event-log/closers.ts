/**
 * Event-log backend, Closers: the events that end a turn which was interrupted. They are a function of the log, so every
 * reader makes the same ones.
 */
import { corrupt } from "./errors";
import { messageOf } from "./shape";
import { isRecord, type JsonRecord, type JsonValue, type LogEvent } from "./types";

/* The two texts are part of the format: a model reads them after a recovery. */
const OUTCOME_UNKNOWN_TEXT =
  "The tool call was interrupted after it was recorded, but no result was durably recorded. Its outcome is unknown. Decide whether to retry from the tool semantics: retry only if the operation is read-only or idempotent; if it may have side effects, first verify external state or ask the user. Do not retry blindly.";
const NOT_STARTED_TEXT =
  "The tool call was interrupted before the Harness recorded it as started. Retry it if it is still needed.";

interface PendingCall {
  readonly step: unknown;
  /** Sequence number of the `tool/call`, once it is recorded as started. */
  startedAt: number | undefined;
}

const NO_TURN = Symbol("no turn");

/** Follows the turns of a log, event by event. */
export class TurnTracker {
  #turn: unknown = NO_TURN;
  #step: unknown = NO_TURN;
  readonly #pending = new Map<string, PendingCall>();
  #last: { seq: number; time: number } | undefined;

  /** The newest event; undefined for a log without any. */
  get last(): { readonly seq: number; readonly time: number } | undefined {
    return this.#last;
  }

  get isTurnOpen(): boolean {
    return this.#turn !== NO_TURN && this.#last !== undefined;
  }

  /** Takes note of the next event. Throws `event-log-corrupt` when its data cannot be what its type says. */
  observe(event: JsonRecord & { readonly seq: number }): void {
    switch (event["type"]) {
      case "assistant/chunk":
        break;
      case "turn/start":
        this.#turn = numbered(fieldOf(event, "turn"));
        this.#step = NO_TURN;
        this.#pending.clear();
        break;
      case "turn/end":
        this.#turn = NO_TURN;
        this.#step = NO_TURN;
        this.#pending.clear();
        break;
      case "step/start":
        this.#step = numbered(fieldOf(event, "step"));
        break;
      case "step/end":
        this.#step = NO_TURN;
        this.#pending.clear();
        break;
      case "assistant/message":
        this.#openCalls(event);
        break;
      case "tool/call": {
        const call = this.#pending.get(String(fieldOf(event, "callId")));
        if (call !== undefined) call.startedAt = event.seq;
        break;
      }
      case "tool/result": {
        const source = messageOf(event)?.["source"];
        if (isRecord(source)) this.#pending.delete(String(source["callId"]));
        break;
      }
      default:
        break;
    }
    this.note(event.seq, event["time"]);
  }

  /** Takes note of an event that opens and closes nothing. */
  note(seq: number, time: unknown): void {
    this.#last = { seq, time: typeof time === "number" ? time : 0 };
  }

  #openCalls(event: JsonRecord): void {
    const content: unknown = messageOf(event)?.["content"];
    if (!Array.isArray(content)) return;
    for (const block of content as unknown[]) {
      if (block === null || block === undefined) throw corrupt(`${describe(event)} has an empty content block`);
      if (!isRecord(block) || block["type"] !== "tool-call") continue;
      this.#pending.set(String(block["id"]), { step: fieldOf(event, "step"), startedAt: undefined });
    }
  }

  /** The events that end the open turn, continuing the log; none when no turn is open. */
  closers(): LogEvent[] {
    const last = this.#last;
    if (last === undefined || this.#turn === NO_TURN) return [];
    const turn = this.#turn;
    const time = last.time;
    const events: LogEvent[] = [];
    let seq = last.seq + 1;
    for (const [callId, call] of this.#pending) {
      events.push(interruptedResult(seq, time, turn, callId, call));
      seq += 1;
    }
    if (this.#step !== NO_TURN) {
      events.push({ type: "step/end", seq, time, data: jsonOf({ turn, step: this.#step }) });
      seq += 1;
    }
    events.push({ type: "turn/end", seq, time, data: jsonOf({ turn, reason: { kind: "interrupted" } }) });
    return events;
  }

  /** A copy that goes its own way. */
  clone(): TurnTracker {
    const copy = new TurnTracker();
    copy.#turn = this.#turn;
    copy.#step = this.#step;
    copy.#last = this.#last;
    for (const [id, call] of this.#pending) copy.#pending.set(id, { ...call });
    return copy;
  }
}

function describe(event: JsonRecord): string {
  return `session event "${String(event["type"])}" at seq ${String(event["seq"])}`;
}

/** A turn or step whose number is null counts as none. */
function numbered(value: unknown): unknown {
  return value === null ? NO_TURN : value;
}

function fieldOf(event: JsonRecord, name: string): unknown {
  const { data } = event;
  if (data === null || data === undefined) throw corrupt(`${describe(event)} has no data`);
  return isRecord(data) ? data[name] : undefined;
}

/** Members that came out of JSON, put together anew; absent ones stay absent. */
function jsonOf(value: unknown): JsonValue {
  const text: JsonValue = JSON.parse(JSON.stringify(value));
  return text;
}

function interruptedResult(seq: number, time: number, turn: unknown, callId: string, call: PendingCall): LogEvent {
  const started = call.startedAt !== undefined;
  const message = {
    id: `interrupted-tool-result-${callId}-${seq}`,
    role: "user",
    source: { kind: "tool", callId },
    content: [
      {
        type: "tool-result",
        toolCallId: callId,
        isError: true,
        content: [{ type: "text", text: started ? OUTCOME_UNKNOWN_TEXT : NOT_STARTED_TEXT }],
      },
    ],
  };
  const error = started
    ? { name: "ToolOutcomeUnknownError", code: "TOOL_OUTCOME_UNKNOWN" }
    : { name: "ToolNotStartedError", code: "TOOL_NOT_STARTED" };
  return {
    type: "tool/result",
    seq,
    time,
    data: jsonOf({ turn, step: call.step, message, error }),
    surfaceOp: "append",
    ...(call.startedAt === undefined ? {} : { sourceEventSeqs: [call.startedAt] }),
  };
}
