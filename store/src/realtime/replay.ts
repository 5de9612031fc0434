/** Replays recorded traffic through the ordering engine in virtual time; the document that `persyk realtime replay` prints. */
import { isObject, type JsonObject } from "../format/schema";
import { type EngineAction } from "./actions";
import { RealtimeEngine } from "./engine";
import { nameOf, objectOf } from "./fields";
import { parseJson } from "./json-text";
import { type StopReason } from "./node";
import { type TraceLine } from "./trace";

export interface ReplayDocument {
  messages: { conn: string; item: string; role: "user" | "assistant"; text: string; stopReason?: StopReason }[];
  gaps: { conn: string; item?: string; response?: string; reason: string }[];
  skipped: { conn: string; item: string; reason: string }[];
  removed: { conn: string; item: string }[];
  /** Commits and responses that nothing answered: gaps without an id. */
  unanswered: { conn: string; reason: string }[];
  provisional_at_stop: { conn: string; item: string; role: string; state: string }[];
  /** Frames kept as evidence. */
  received: number;
  /** Client events by type. */
  sends: Record<string, number>;
  outcome: "complete" | "incomplete";
  /** A bound of the order was passed, so the recording had to finish. */
  finishing: boolean;
  /** Why the capture had to stop before it was asked to. */
  capture_stopped: string[];
  /** One a line of the trace: how many messages are public after it. */
  checkpoints: { after_line: number; published: number }[];
}

const DELETE = "conversation.item.delete";

/** Replays a trace and then lets the time run until everything has settled. */
export function replayTrace(trace: readonly TraceLine[]): ReplayDocument {
  const steps = replaySteps(trace);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same line by line: yields how many lines were replayed, so that others can have their turn in between. */
export function* replaySteps(trace: readonly TraceLine[]): Generator<number, ReplayDocument, undefined> {
  const replay = new Replay(trace.findLast((line) => line.step.kind === "send")?.line ?? 0);
  let done = 0;
  for (const line of trace) {
    replay.step(line);
    done += 1;
    yield done;
  }
  replay.finish();
  return replay.document;
}

class Replay {
  readonly document: ReplayDocument = {
    messages: [],
    gaps: [],
    skipped: [],
    removed: [],
    unanswered: [],
    provisional_at_stop: [],
    received: 0,
    sends: { [DELETE]: 0 },
    outcome: "complete",
    finishing: false,
    capture_stopped: [],
    checkpoints: [],
  };
  readonly #engine = new RealtimeEngine();
  /** Event ids in the trace stand for those that were really sent. */
  readonly #eventIds = new Map<string, string>();
  /** Removal events of the engine that the trace has not shown yet. */
  readonly #unseenDeletes: { connectionId: string; itemId: string; eventId: string }[] = [];
  /** After this line the client sends nothing more, so a drain may end as soon as nothing is open. */
  readonly #lastSend: number;
  readonly #seen = new Set<string>();
  #eventCount = 0;
  #removalsToFail = 0;
  #atMs = 0;
  #line = 0;

  constructor(lastSend: number) {
    this.#lastSend = lastSend;
  }

  step(line: TraceLine): void {
    this.#runUntil(line.atMs);
    const { connectionId, step } = line;
    this.#line = line.line;
    if (step.kind !== "local") this.#seen.add(connectionId);
    switch (step.kind) {
      case "receive": {
        this.document.received += 1;
        const frame = parseJson(step.frame);
        // Anything else is evidence only.
        if (isObject(frame)) this.#engine.receive(connectionId, this.#withRealEventId(frame), this.#atMs);
        break;
      }
      case "send":
        this.#send(connectionId, step.event);
        break;
      case "transport":
        this.#engine.open(connectionId);
        this.#engine.transport(connectionId, step.event, this.#atMs);
        break;
      case "local":
        this.#local(step.action, step.connectionId, step.itemId);
        break;
    }
    if (line.line === this.#lastSend) this.#engine.allSent(this.#atMs);
    this.#perform();
    this.document.checkpoints.push({ after_line: line.line, published: this.document.messages.length });
  }

  finish(): void {
    this.#engine.allSent(this.#atMs);
    for (let next = this.#engine.nextDeadlineMs; next !== undefined; next = this.#engine.nextDeadlineMs) {
      this.#runUntil(Math.max(next, this.#atMs));
    }
    this.document.outcome = this.#engine.outcome;
  }

  #runUntil(atMs: number): void {
    let next = this.#engine.nextDeadlineMs;
    while (next !== undefined && next <= atMs) {
      this.#atMs = Math.max(this.#atMs, next);
      this.#engine.advance(this.#atMs);
      this.#perform();
      next = this.#engine.nextDeadlineMs;
    }
    this.#atMs = Math.max(this.#atMs, atMs);
  }

  #local(action: string, connectionId: string | undefined, itemId: string | undefined): void {
    const connections = connectionId === undefined ? this.#connections : [connectionId];
    switch (action) {
      case "stop":
        this.document.provisional_at_stop = this.#engine.provisional.map((turn) => ({
          conn: turn.connectionId,
          item: turn.itemId,
          role: turn.role,
          state: turn.state,
        }));
        this.#engine.stop(this.#atMs, { hasMoreToSend: this.#line < this.#lastSend });
        break;
      case "drain_deadline":
        this.#engine.endDrain(this.#atMs);
        break;
      case "remove_request":
        for (const id of connections) if (itemId !== undefined) this.#requestRemoval(id, itemId);
        break;
      case "delete_timeout":
        for (const id of connections) this.#engine.removalTimedOut(id, this.#atMs);
        break;
      case "persist_fail_next":
        this.#removalsToFail += 1;
        break;
      case "retry_intents":
        this.#engine.retryRemovals();
        break;
      case "tick":
        this.#engine.advance(this.#atMs);
        break;
    }
  }

  #send(connectionId: string, event: JsonObject): void {
    if (event.type !== DELETE) {
      this.#count(nameOf(event, "type") ?? "unknown");
      this.#engine.observeSend(connectionId, event, false, this.#atMs);
      return;
    }
    // The engine sends removals itself, so the line only shows under which id the trace knows the event.
    const itemId = nameOf(event, "item_id");
    const unseen = () =>
      this.#unseenDeletes.findIndex((sent) => sent.connectionId === connectionId && sent.itemId === itemId);
    if (unseen() === -1 && itemId !== undefined) {
      this.#requestRemoval(connectionId, itemId);
      this.#perform();
    }
    const index = unseen();
    const placeholder = nameOf(event, "event_id");
    const sent = index === -1 ? undefined : this.#unseenDeletes.splice(index, 1)[0];
    if (sent !== undefined && placeholder !== undefined) this.#eventIds.set(placeholder, sent.eventId);
  }

  #requestRemoval(connectionId: string, itemId: string): void {
    this.#eventCount += 1;
    this.#engine.requestRemoval(connectionId, itemId, `event_removal_${this.#eventCount}`, this.#atMs);
  }

  get #connections(): string[] {
    return [...this.#seen];
  }

  #withRealEventId(frame: JsonObject): JsonObject {
    const error = objectOf(frame, "error");
    const eventId = this.#eventIds.get(nameOf(error, "event_id") ?? "");
    return eventId === undefined ? frame : { ...frame, error: { ...error, event_id: eventId } };
  }

  #perform(): void {
    for (let actions = this.#engine.takeActions(); actions.length > 0; actions = this.#engine.takeActions()) {
      for (const action of actions) this.#act(action);
    }
  }

  #act(action: EngineAction): void {
    const { document } = this;
    switch (action.type) {
      case "publish": {
        const { connectionId, itemId, role, text, stopReason } = action.turn;
        document.messages.push({
          conn: connectionId,
          item: itemId,
          role,
          text,
          ...(stopReason === undefined ? {} : { stopReason }),
        });
        break;
      }
      case "gap": {
        const { connectionId, itemId, responseId, reason } = action.gap;
        if (itemId === undefined && responseId === undefined) {
          document.unanswered.push({ conn: connectionId, reason });
          break;
        }
        document.gaps.push({
          conn: connectionId,
          ...(itemId === undefined ? {} : { item: itemId }),
          ...(responseId === undefined ? {} : { response: responseId }),
          reason,
        });
        break;
      }
      case "skip": {
        const { connectionId, itemId, reason } = action.skipped;
        document.skipped.push({ conn: connectionId, item: itemId, reason });
        break;
      }
      case "request-removal":
        this.#count(DELETE);
        this.#unseenDeletes.push(action);
        break;
      case "remove":
        if (this.#removalsToFail > 0) {
          this.#removalsToFail -= 1;
          break;
        }
        document.removed.push({ conn: action.connectionId, item: action.itemId });
        this.#engine.removalSaved(action.connectionId, action.itemId);
        break;
      case "stop-capture":
        document.capture_stopped.push(action.reason);
        if (action.reason === "order-limit") document.finishing = true;
        break;
      case "removal-ended":
      case "close":
      case "drained":
        break;
    }
  }

  #count(type: string): void {
    this.document.sends[type] = (this.document.sends[type] ?? 0) + 1;
  }
}
