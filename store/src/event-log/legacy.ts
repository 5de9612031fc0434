/**
 * Event-log backend, Legacy shapes: version 0 changed while it was young. Old shapes are upgraded in memory, the file
 * is never rewritten; what cannot be upgraded is refused.
 */
import { corrupt } from "./errors";
import { asObject, isRecord, type JsonRecord } from "./types";

/** An event as it was parsed, before it is known to be one. */
export type StoredEvent = JsonRecord & { readonly seq: number };

function hasOnly(record: JsonRecord, required: readonly string[], optional: readonly string[] = []): boolean {
  return (
    required.every((key) => Object.hasOwn(record, key)) &&
    Object.keys(record).every((key) => required.includes(key) || optional.includes(key))
  );
}

function isPositive(value: unknown): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 1;
}

function legacyId(sessionId: string, seq: number): string {
  return `legacy-message:${sessionId}:${seq}`;
}

function malformed(sessionId: string, type: string, seq: number): never {
  throw corrupt(`session "${sessionId}" contains malformed pre-react-loop ${type} at seq ${seq}`);
}

/** Refuses the event types and reasons of version 0 that nothing can upgrade. */
export function refuseRetired(event: JsonRecord, sessionId: string): void {
  const { type, seq, data } = event;
  const refuse = (what: string): never => {
    throw corrupt(`session "${sessionId}" contains unsupported legacy ${what} at seq ${String(seq)}`);
  };
  if (type === "request/header-delta" || type === "mode/set") refuse(`${type} event`);
  if (type !== "request/header") return;
  if (data === null || data === undefined) throw corrupt(`request/header at seq ${String(seq)} has no data`);
  if (isRecord(data) && data["reason"] === "fallback") refuse('request/header reason "fallback"');
}

/** What upgrading an event needs to know about the session: ids of earlier messages, for results that replace one. */
interface LegacyContext {
  readonly sessionId: string;
  messageIdAt(seq: number): string | undefined;
}

/** True when an event can only be upgraded with the events before it at hand. */
export function needsPrefix(event: JsonRecord): boolean {
  const data = asObject(event["data"]);
  switch (event["type"]) {
    case "steering/message":
      return true;
    case "user/message":
      return data !== undefined && !Object.hasOwn(data, "id") && Object.hasOwn(data, "content");
    case "assistant/message":
      return data !== undefined && !Object.hasOwn(data, "message") && Object.hasOwn(data, "content");
    case "tool/result":
      return data !== undefined && !Object.hasOwn(data, "message") && Object.hasOwn(data, "callId");
    default:
      return false;
  }
}

/** The event in today's shape; the same object when it has that already. */
export function upgrade(event: StoredEvent, context: LegacyContext): StoredEvent {
  switch (event["type"]) {
    case "turn/start":
      return upgradeTurnStart(event, context.sessionId);
    case "turn/end":
      return upgradeTurnEnd(event, context.sessionId);
    case "steering/message":
      return upgradeMessage(upgradeSteering(event, context.sessionId), context);
    case "user/message":
    case "assistant/message":
    case "tool/result":
      return upgradeMessage(event, context);
    default:
      return event;
  }
}

function upgradeTurnStart(event: StoredEvent, sessionId: string): StoredEvent {
  const data = asObject(event["data"]);
  if (data === undefined || !Object.hasOwn(data, "trigger")) return event;
  const kind = asObject(data["trigger"])?.["kind"];
  const sound =
    isPositive(data["turn"]) && hasOnly(data, ["turn", "trigger"]) && typeof kind === "string" && kind.length > 0;
  if (!sound) malformed(sessionId, "turn/start", event.seq);
  return { ...event, data: { turn: data["turn"] } };
}

const PLAIN_END_KINDS = ["completed", "blocked", "max-tokens", "interrupted"];

function upgradeTurnEnd(event: StoredEvent, sessionId: string): StoredEvent {
  const data = asObject(event["data"]);
  if (data === undefined) return event;
  const reason = asObject(data["reason"]);
  const kind = reason?.["kind"];
  if (!isPositive(data["turn"]) || !hasOnly(data, ["turn", "reason"]) || reason === undefined) {
    return malformed(sessionId, "turn/end", event.seq);
  }
  if (typeof kind !== "string") return malformed(sessionId, "turn/end", event.seq);
  const upgraded = upgradeEndReason(reason, kind);
  if (upgraded === "malformed") return malformed(sessionId, "turn/end", event.seq);
  return upgraded === undefined ? event : { ...event, data: { ...data, reason: upgraded } };
}

/** Undefined when the reason is of today. */
function upgradeEndReason(reason: JsonRecord, kind: string): JsonRecord | "malformed" | undefined {
  const bare = hasOnly(reason, ["kind"]);
  if (PLAIN_END_KINDS.includes(kind)) return bare ? undefined : "malformed";
  if (kind === "aborted") {
    if (Object.hasOwn(reason, "reason")) return undefined;
    return bare ? { kind, reason: { kind: "legacy" } } : "malformed";
  }
  if (kind === "disposed") return bare ? { kind: "aborted", reason: { kind: "disposed" } } : "malformed";
  return kind === "error" ? upgradeErrorReason(reason) : undefined;
}

function upgradeErrorReason(reason: JsonRecord): JsonRecord | "malformed" | undefined {
  if (Object.hasOwn(reason, "error")) return undefined;
  const { step, message, code } = reason;
  if (typeof step !== "number" || !Number.isSafeInteger(step) || step < 0) return "malformed";
  const failure = asObject(reason["failure"]);
  if (failure !== undefined && hasOnly(reason, ["kind", "step", "failure"]) && isFailure(failure)) {
    return { kind: "error", error: failure };
  }
  const keys = code === undefined ? ["kind", "step", "message"] : ["kind", "step", "message", "code"];
  if (!hasOnly(reason, keys) || typeof message !== "string") return "malformed";
  if (code !== undefined && typeof code !== "string") return "malformed";
  return { kind: "error", error: { message, code: code ?? "UNKNOWN" } };
}

function isFailure(failure: JsonRecord): boolean {
  const { message, code, status, providerRetryAfterMs, requestId } = failure;
  return (
    hasOnly(failure, ["message", "code"], ["status", "providerRetryAfterMs", "requestId"]) &&
    typeof message === "string" &&
    typeof code === "string" &&
    (status === undefined || typeof status === "number") &&
    (providerRetryAfterMs === undefined || typeof providerRetryAfterMs === "number") &&
    (requestId === undefined || typeof requestId === "string")
  );
}

function upgradeSteering(event: StoredEvent, sessionId: string): StoredEvent {
  const data = asObject(event["data"]);
  if (data === undefined || !Number.isSafeInteger(data["turn"])) {
    return malformed(sessionId, "steering/message", event.seq);
  }
  const wrapped = asObject(data["message"]);
  if (wrapped !== undefined && hasOnly(data, ["turn", "message"])) {
    return { ...event, type: "user/message", data: wrapped };
  }
  if (!hasOnly(data, ["turn", "content", "source"])) return malformed(sessionId, "steering/message", event.seq);
  const { turn: _turn, ...message } = data;
  return {
    ...event,
    type: "user/message",
    data: { ...message, id: legacyId(sessionId, event.seq), role: "user" },
  };
}

/** Shapes that look like today's and are not are left alone, so that validation refuses them. */
function upgradeMessage(event: StoredEvent, context: LegacyContext): StoredEvent {
  const data = asObject(event["data"]);
  if (data === undefined || Object.hasOwn(data, "message")) return event;
  const has = (key: string): boolean => Object.hasOwn(data, key);
  const id = legacyId(context.sessionId, event.seq);
  if (event["type"] === "user/message") {
    if (has("id") || has("role") || !has("content") || !has("source")) return event;
    return { ...event, data: { ...data, id, role: "user" } };
  }
  if (event["type"] === "assistant/message") {
    if (!has("content") || !has("provenance")) return event;
    const { content, provenance, ...rest } = data;
    const source = { ...asObject(provenance), kind: "model" };
    return { ...event, data: { ...rest, message: { id, role: "assistant", content, source } } };
  }
  if (!has("callId") || !has("content") || !has("isError")) return event;
  const { callId, content, isError, ...rest } = data;
  const target = replacementStart(event);
  const message = {
    id: target === undefined ? id : context.messageIdAt(target),
    role: "user",
    content: [{ type: "tool-result", toolCallId: callId, content, isError }],
    source: { kind: "tool", callId },
  };
  return { ...event, data: { ...rest, message } };
}

function replacementStart(event: JsonRecord): number | undefined {
  const op = asObject(event["surfaceOp"]);
  const start = op?.["start"];
  return op?.["op"] === "replace" && typeof start === "number" ? start : undefined;
}
