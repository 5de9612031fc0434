/** Event-log backend, Events: what one event must look like for itself. */
import { corrupt } from "./errors";
import { asObject, isRecord, type JsonRecord, type LogEvent } from "./types";

const ENVELOPE_KEYS = new Set(["type", "seq", "time", "data", "surfaceOp", "sourceEventSeqs", "ignorable"]);
const ADAPTER_DEFAULT_KEYS = ["reasoningEffort", "maxTokens"];

/** The types that carry a message and must say how they join the surface. */
export const SURFACE_TYPES: ReadonlySet<unknown> = new Set(["user/message", "assistant/message", "tool/result"]);

/** True when the seven envelope fields are what they must be. */
export function isLogEvent(event: JsonRecord): event is JsonRecord & LogEvent {
  for (const key in event) if (!ENVELOPE_KEYS.has(key)) return false;
  const { type, seq, time, data, ignorable } = event;
  return (
    typeof type === "string" &&
    typeof seq === "number" &&
    Number.isSafeInteger(seq) &&
    seq >= 0 &&
    typeof time === "number" &&
    Number.isSafeInteger(time) &&
    data !== undefined &&
    (ignorable === undefined || ignorable === true)
  );
}

function isNonEmptyString(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function hasProviderModel(value: unknown): value is JsonRecord {
  return isRecord(value) && isNonEmptyString(value["provider"]) && isNonEmptyString(value["model"]);
}

/** The message of a message event, wherever its type keeps it; undefined for other events. */
export function messageOf(event: JsonRecord): JsonRecord | undefined {
  const data = isRecord(event["data"]) ? event["data"] : undefined;
  if (event["type"] === "user/message") return data;
  if (event["type"] !== "assistant/message" && event["type"] !== "tool/result") return undefined;
  const message = data?.["message"];
  return isRecord(message) ? message : undefined;
}

/** Refuses a message event whose message is not one. Events of other types pass. */
export function assertMessageShape(event: JsonRecord): void {
  const { type, seq } = event;
  if (!SURFACE_TYPES.has(type)) return;
  const refuse = (problem: string): never => {
    throw corrupt(`${String(type)} at seq ${String(seq)} ${problem}`);
  };
  const message = messageOf(event);
  if (message === undefined || !isNonEmptyString(message["id"])) return refuse("lacks an identified message");
  const role = type === "assistant/message" ? "assistant" : "user";
  if (message["role"] !== role) refuse(`message must have role "${role}"`);
  const source = message["source"];
  if (!isRecord(source) || !isNonEmptyString(source["kind"])) return refuse("message has invalid source");
  const content: unknown = message["content"];
  if (!Array.isArray(content)) return refuse("message has invalid content");
  if (type === "assistant/message") {
    if (source["kind"] !== "model" || !hasProviderModel(source)) refuse("message must have model source");
    return;
  }
  if (type !== "tool/result") return;
  if (source["kind"] !== "tool" || !isNonEmptyString(source["callId"])) refuse("message must have tool source");
  const block: unknown = content[0];
  const isResult = isRecord(block) && block["type"] === "tool-result" && Array.isArray(block["content"]);
  if (content.length !== 1 || !isResult) return refuse("message must contain one tool-result block");
  if (block["toolCallId"] !== source["callId"]) refuse("message has mismatched tool call ids");
}

/** Refuses a request header that names no provider and model, or that marks defaults it does not have. */
export function assertRequestHeader(event: JsonRecord): void {
  if (event["type"] !== "request/header") return;
  const refuse = (problem: string): never => {
    throw corrupt(`request/header at seq ${String(event["seq"])} ${problem}`);
  };
  const data = isRecord(event["data"]) ? event["data"] : undefined;
  const header = asObject(data?.["header"]);
  const config = header?.["config"];
  if (!hasProviderModel(config)) return refuse("lacks provider/model");
  const { reasoningEffort } = config;
  if (reasoningEffort !== undefined && !isNonEmptyString(reasoningEffort)) refuse("has an invalid reasoningEffort");
  const defaults = header?.["adapterDefaults"];
  if (defaults === undefined) return;
  const marks = asObject(defaults);
  const sound =
    marks !== undefined &&
    Object.entries(marks).every(
      ([key, mark]) => ADAPTER_DEFAULT_KEYS.includes(key) && mark === true && config[key] !== undefined,
    );
  if (!sound) refuse("has invalid adapterDefaults");
}
