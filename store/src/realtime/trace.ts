/**
 * Recorded provider traffic as JSON lines, for replays in virtual time. One object a line: `at` (virtual milliseconds),
 * `conn`, and one of `recv`, `recv_raw`, `send`, `transport`, `local`. Observed traces leave out `at` and `conn` and
 * write `close` for the end of the connection.
 */
import { StoreError } from "../errors";
import { isObject, type JsonObject } from "../format/schema";
import { numberOf, nameOf, objectOf, own, stringOf } from "./fields";
import { type TransportEvent } from "./engine";

export type TraceStep =
  /** The frame as it came over the wire. */
  | { kind: "receive"; frame: string }
  /** What the client is expected to have sent by now. */
  | { kind: "send"; event: JsonObject }
  | { kind: "transport"; event: TransportEvent }
  | { kind: "local"; action: string; connectionId: string | undefined; itemId: string | undefined };

export interface TraceLine {
  /** 1-based. */
  line: number;
  atMs: number;
  connectionId: string;
  step: TraceStep;
}

const STEP_MS = 10;

/** Reads a whole trace. A line that is none is a `usage` error with its number. */
export function parseTrace(text: string): TraceLine[] {
  const lines: TraceLine[] = [];
  let atMs = 0;
  text.split("\n").forEach((source, index) => {
    if (source.trim() === "") return;
    const line = index + 1;
    const record = parseLine(source, line);
    atMs = Math.max(atMs, numberOf(record, "at") ?? (lines.length === 0 ? 0 : atMs + STEP_MS));
    const step = parseStep(record);
    if (step === undefined) throw new StoreError("usage", { line, message: "The line is no step of a trace." });
    lines.push({ line, atMs, connectionId: nameOf(record, "conn") ?? "c1", step });
  });
  return lines;
}

function parseLine(source: string, line: number): JsonObject {
  try {
    const record: unknown = JSON.parse(source);
    if (isObject(record)) return record;
  } catch (error) {
    throw new StoreError("usage", { line, message: "The line is not JSON.", cause: error });
  }
  throw new StoreError("usage", { line, message: "The line is not a JSON object." });
}

function parseStep(record: JsonObject): TraceStep | undefined {
  const received = own(record, "recv");
  if (received !== undefined) return { kind: "receive", frame: JSON.stringify(received) };
  const raw = own(record, "recv_raw");
  if (raw !== undefined) return { kind: "receive", frame: typeof raw === "string" ? raw : JSON.stringify(raw) };
  const send = objectOf(record, "send");
  if (send !== undefined) return { kind: "send", event: send };
  const transport = objectOf(record, "transport");
  if (transport !== undefined) return parseTransport(transport, stringOf(transport, "type"));
  const close = objectOf(record, "close");
  if (close !== undefined) return parseTransport(close, "close");
  const local = own(record, "local");
  if (typeof local === "string") {
    return { kind: "local", action: local, connectionId: nameOf(record, "conn"), itemId: nameOf(record, "item") };
  }
  if (!isObject(local)) return undefined;
  return {
    kind: "local",
    action: stringOf(local, "type") ?? "",
    connectionId: nameOf(local, "conn") ?? nameOf(record, "conn"),
    itemId: nameOf(local, "item") ?? nameOf(local, "item_id"),
  };
}

function parseTransport(source: JsonObject, type: string | undefined): TraceStep | undefined {
  if (type !== "open" && type !== "close" && type !== "error") return undefined;
  const code = numberOf(source, "code");
  const reason = stringOf(source, "reason");
  return {
    kind: "transport",
    event: { type, ...(code === undefined ? {} : { code }), ...(reason === undefined ? {} : { reason }) },
  };
}
