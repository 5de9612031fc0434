/**
 * The records of the session format, version 1 (Session file format, Version 1 contract).
 *
 * The schemas are the authoritative form in code and the types are derived from them. They check and never transform:
 * a reader gets the parsed value itself, so unknown members of messages, blocks, usage and payloads survive unchanged,
 * an own key `__proto__` included.
 */
import * as z from "zod";
import { isId } from "./ids";
import { type JsonObject, type JsonValue } from "./json-value";
import { MAX_CUSTOM_TYPE_LENGTH, names } from "./names";
import { isIsoTime } from "./time";

export type { JsonObject, JsonValue } from "./json-value";

const text = z.string();
const nonEmptyText = z.string().min(1);
const id = z.string().refine(isId);
const isoTime = z.string().refine(isIsoTime);
/** Milliseconds, and other counts: a safe integer of 0 or more. */
const count = z.int().nonnegative();
const nonNegative = z.number().nonnegative();
const json = z.custom<JsonValue>((value) => value !== undefined);
const jsonObject = z.custom<JsonObject>(isObject);
/** RFC 6901. */
const jsonPointer = z.string().regex(/^(?:\/(?:[^~/]|~[01])*)*$/);
const mimeType = z.string().regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;.*)?$/s);

/** A list that stops at its first malformed item: a hostile record has hundreds of thousands of them. */
function listOf<Item extends z.ZodType>(item: Item) {
  return z.custom<z.infer<Item>[]>(Array.isArray).superRefine((list, context) => {
    for (let index = 0; index < list.length; index += 1) {
      const result = item.safeParse(list[index]);
      if (result.success) continue;
      const path = result.error.issues[0]?.path ?? [];
      context.addIssue({ code: "custom", path: [index, ...path] });
      return;
    }
  });
}

/** Both ends of a millisecond range or neither, and not an empty one. */
function isRange(value: { startMs?: number; endMs?: number }): boolean {
  const { [names.startMs]: startMs, [names.endMs]: endMs } = value;
  if (startMs === undefined || endMs === undefined) return startMs === endMs;
  return endMs > startMs;
}

const range = { [names.startMs]: count.exactOptional(), [names.endMs]: count.exactOptional() } as const;

// Assets

const availableAsset = z.looseObject({
  [names.status]: z.literal(names.available),
  /** One component below the session's `assets` folder. */
  path: z.string().regex(/^assets\/[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/),
  mimeType,
  /** Offsets in the whole file, a WAV header included; the end is exclusive. */
  [names.byteRange]: z
    .looseObject({ [names.start]: count, [names.end]: count })
    .refine((bytes) => bytes[names.start] < bytes[names.end])
    .exactOptional(),
  /** Of the referenced bytes, such as `pcm_s16le`. */
  encoding: nonEmptyText.exactOptional(),
  /** Of the referenced bytes: the range if there is one, else the file. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .exactOptional(),
});

const missingAsset = z.looseObject({
  [names.status]: z.literal(names.missing),
  reason: nonEmptyText,
  /** What was known of it; descriptive only, never opened. */
  [names.source]: jsonObject.exactOptional(),
  /** Nothing may open a missing asset by mistake. */
  path: z.never().exactOptional(),
});

export const assetReferenceSchema = z.discriminatedUnion(names.status, [availableAsset, missingAsset]);

const mediaReference = z.looseObject({ path: jsonPointer, [names.asset]: assetReferenceSchema });

export const gapSchema = z.looseObject({ reason: text, ...range }).refine(isRange);

// Blocks

const textBlock = z.looseObject({ type: z.literal("text"), text, textSignature: text.exactOptional() });

const thinkingBlock = z.looseObject({
  type: z.literal("thinking"),
  thinking: text,
  thinkingSignature: text.exactOptional(),
  redacted: z.boolean().exactOptional(),
});

const toolCallBlock = z.looseObject({
  type: z.literal("toolCall"),
  id: nonEmptyText,
  name: nonEmptyText,
  arguments: jsonObject,
  thoughtSignature: text.exactOptional(),
  namespace: text.exactOptional(),
  argumentsError: text.exactOptional(),
});

const imageBlock = z.looseObject({ type: z.literal("image"), [names.asset]: assetReferenceSchema });

const audioBlock = z
  .looseObject({
    type: z.literal("audio"),
    [names.asset]: assetReferenceSchema,
    recordingId: id.exactOptional(),
    ...range,
  })
  .refine(isRange);

const knownBlock = z.discriminatedUnion("type", [textBlock, thinkingBlock, toolCallBlock, imageBlock, audioBlock]);

const KNOWN_BLOCK_TYPES: ReadonlySet<string> = new Set(["text", "thinking", "toolCall", "image", "audio"]);

/** A block of a type that this version does not know: kept whole and in place. */
const unknownBlock = z.looseObject({ type: nonEmptyText.refine((type) => !KNOWN_BLOCK_TYPES.has(type)) });

export const blockSchema = z.union([knownBlock, unknownBlock]);

const content = listOf(blockSchema);

// Messages

const cost = z.looseObject({
  input: nonNegative.exactOptional(),
  output: nonNegative.exactOptional(),
  cacheRead: nonNegative.exactOptional(),
  cacheWrite: nonNegative.exactOptional(),
  total: nonNegative.exactOptional(),
});

export const usageSchema = z.looseObject({
  input: nonNegative.exactOptional(),
  output: nonNegative.exactOptional(),
  cacheRead: nonNegative.exactOptional(),
  cacheWrite: nonNegative.exactOptional(),
  cacheWrite1h: nonNegative.exactOptional(),
  reasoning: nonNegative.exactOptional(),
  totalTokens: nonNegative.exactOptional(),
  cost: cost.exactOptional(),
});

const ofAnyRole = {
  content,
  /** Milliseconds since the Unix epoch. */
  timestamp: count,
  api: nonEmptyText.exactOptional(),
  provider: nonEmptyText.exactOptional(),
  model: nonEmptyText.exactOptional(),
  usage: usageSchema.exactOptional(),
} as const;

const userMessage = z.looseObject({ role: z.literal("user"), ...ofAnyRole });

const assistantMessage = z.looseObject({
  role: z.literal("assistant"),
  ...ofAnyRole,
  stopReason: z.enum(["stop", "length", "toolUse", "error", "aborted"]).exactOptional(),
  errorMessage: text.exactOptional(),
  responseId: text.exactOptional(),
  responseModel: text.exactOptional(),
  rawStopReason: text.exactOptional(),
  providerThinkingLevel: text.exactOptional(),
});

const toolResultMessage = z.looseObject({
  role: z.literal("toolResult"),
  ...ofAnyRole,
  toolCallId: nonEmptyText,
  toolName: nonEmptyText,
  isError: z.boolean(),
  details: json.exactOptional(),
});

export const messageSchema = z.discriminatedUnion("role", [userMessage, assistantMessage, toolResultMessage]);

// Records

export const headerSchema = z.strictObject({
  type: z.literal("session"),
  version: z.literal(1),
  id,
  timestamp: isoTime,
});

const envelope = { id, parentId: id.nullable(), timestamp: isoTime } as const;
const customType = z.string().min(1).max(MAX_CUSTOM_TYPE_LENGTH);

const messageEntry = z.strictObject({ type: z.literal("message"), ...envelope, message: messageSchema });

const customEntry = z.strictObject({ type: z.literal("custom"), ...envelope, customType, data: json });

const customMessageEntry = z.strictObject({
  type: z.literal("custom_message"),
  ...envelope,
  customType,
  content: z.union([text, content]),
  display: z.boolean(),
  details: json.exactOptional(),
});

const sessionInfoEntry = z.strictObject({
  type: z.literal("session_info"),
  ...envelope,
  name: text.exactOptional(),
  archived: z.boolean().exactOptional(),
});

const labelEntry = z.strictObject({ type: z.literal("label"), ...envelope, targetId: id, label: text.nullable() });

const modelChangeEntry = z.strictObject({
  type: z.literal("model_change"),
  ...envelope,
  provider: nonEmptyText,
  modelId: nonEmptyText,
  api: nonEmptyText.exactOptional(),
});

const apiConnectionEntry = z.strictObject({
  type: z.literal("api_connection"),
  ...envelope,
  connectionId: id,
  provider: nonEmptyText,
  endpoint: nonEmptyText,
  requestedModel: nonEmptyText,
  api: nonEmptyText,
  originId: id,
});

const realtimeEventEntry = z
  .strictObject({
    type: z.literal("realtime_event"),
    ...envelope,
    connectionId: id,
    direction: z.enum([names.outgoing, names.incoming]),
    observation: z.enum(["send_attempt", "send_failed", "received"]),
    observedAt: isoTime,
    sequence: count,
    payload: jsonObject,
    remoteEventId: nonEmptyText.exactOptional(),
    [names.redactions]: listOf(jsonPointer).exactOptional(),
    [names.media]: listOf(mediaReference).exactOptional(),
  })
  .refine((event) => (event.observation === "received") === (event.direction === names.incoming), {
    path: ["observation"],
  });

const recordingStartedEntry = z.strictObject({
  type: z.literal("recording.started"),
  ...envelope,
  recordingId: id,
  /** What is being recorded into is there. */
  [names.asset]: availableAsset,
});

const recordingFinishedEntry = z.strictObject({
  type: z.literal("recording.finished"),
  ...envelope,
  recordingId: id,
  durationMs: count,
  outcome: z.enum(["complete", "incomplete"]),
  gaps: listOf(gapSchema).exactOptional(),
});

const recordingInterruptedEntry = z.strictObject({
  type: z.literal("recording.interrupted"),
  ...envelope,
  recordingId: id,
  reason: nonEmptyText,
  durationMs: count.exactOptional(),
});

const messageRemovedEntry = z.strictObject({ type: z.literal("message.removed"), ...envelope, targetId: id });

export const entrySchemas = {
  message: messageEntry,
  custom: customEntry,
  custom_message: customMessageEntry,
  session_info: sessionInfoEntry,
  label: labelEntry,
  model_change: modelChangeEntry,
  api_connection: apiConnectionEntry,
  realtime_event: realtimeEventEntry,
  "recording.started": recordingStartedEntry,
  "recording.finished": recordingFinishedEntry,
  "recording.interrupted": recordingInterruptedEntry,
  "message.removed": messageRemovedEntry,
} as const;

export type EntryType = keyof typeof entrySchemas;

/** The types in a fixed order; an index stores the position. */
export const entryTypes: readonly EntryType[] = [
  "message",
  "custom",
  "custom_message",
  "session_info",
  "label",
  "model_change",
  "api_connection",
  "realtime_event",
  "recording.started",
  "recording.finished",
  "recording.interrupted",
  "message.removed",
];

export type SessionHeader = z.infer<typeof headerSchema>;

export type AvailableAsset = z.infer<typeof availableAsset>;
export type MissingAsset = z.infer<typeof missingAsset>;
export type AssetReference = z.infer<typeof assetReferenceSchema>;
export type MediaReference = z.infer<typeof mediaReference>;
export type Gap = z.infer<typeof gapSchema>;
export type Usage = z.infer<typeof usageSchema>;

export type TextBlock = z.infer<typeof textBlock>;
export type ThinkingBlock = z.infer<typeof thinkingBlock>;
export type ToolCallBlock = z.infer<typeof toolCallBlock>;
export type ImageBlock = z.infer<typeof imageBlock>;
export type AudioBlock = z.infer<typeof audioBlock>;
export type KnownBlock = z.infer<typeof knownBlock>;
export type UnknownBlock = z.infer<typeof unknownBlock>;
export type Block = KnownBlock | UnknownBlock;

export type UserMessage = z.infer<typeof userMessage>;
export type AssistantMessage = z.infer<typeof assistantMessage>;
export type ToolResultMessage = z.infer<typeof toolResultMessage>;
export type Message = z.infer<typeof messageSchema>;

export type MessageEntry = z.infer<typeof messageEntry>;
export type CustomEntry = z.infer<typeof customEntry>;
export type CustomMessageEntry = z.infer<typeof customMessageEntry>;
export type SessionInfoEntry = z.infer<typeof sessionInfoEntry>;
export type LabelEntry = z.infer<typeof labelEntry>;
export type ModelChangeEntry = z.infer<typeof modelChangeEntry>;
export type ApiConnectionEntry = z.infer<typeof apiConnectionEntry>;
export type RealtimeEventEntry = z.infer<typeof realtimeEventEntry>;
export type RecordingStartedEntry = z.infer<typeof recordingStartedEntry>;
export type RecordingFinishedEntry = z.infer<typeof recordingFinishedEntry>;
export type RecordingInterruptedEntry = z.infer<typeof recordingInterruptedEntry>;
export type MessageRemovedEntry = z.infer<typeof messageRemovedEntry>;

/** Any record after the header. */
export type Entry =
  | MessageEntry
  | CustomEntry
  | CustomMessageEntry
  | SessionInfoEntry
  | LabelEntry
  | ModelChangeEntry
  | ApiConnectionEntry
  | RealtimeEventEntry
  | RecordingStartedEntry
  | RecordingFinishedEntry
  | RecordingInterruptedEntry
  | MessageRemovedEntry;

type Draft<E> = E extends Entry
  ? Omit<E, "id" | "parentId" | "timestamp"> & { id?: string; parentId?: string | null; timestamp?: string }
  : never;

/** An entry to be appended: the store fills in what is left out. */
export type EntryInput = Draft<Entry>;

/** Whether a block is one of the five known types. */
export function isKnownBlock(block: Block): block is KnownBlock {
  return KNOWN_BLOCK_TYPES.has(block.type);
}

export function isTextBlock(block: Block): block is TextBlock {
  return block.type === "text";
}

export function isAudioBlock(block: Block): block is AudioBlock {
  return block.type === "audio";
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
