/**
 * Provider events in one vocabulary. Reads the names of the GA interface and the beta ones that compatible servers still
 * emit; whatever it does not know, or what lacks its id, is `other`: evidence without an effect on the order.
 */
import { isObject, type JsonObject } from "../format/schema";
import { nameOf, numberOf, objectOf, objectsOf, own, scalarText, stringOf } from "./fields";

export interface ItemPart {
  type: string | undefined;
  text: string | undefined;
}

export interface ProviderItem {
  id: string;
  type: string | undefined;
  role: string | undefined;
  parts: ItemPart[];
}

export interface ProviderResponse {
  id: string | undefined;
  /** False only when the provider says so explicitly. */
  inConversation: boolean;
  status: string | undefined;
  reason: string | undefined;
  output: ProviderItem[];
  usage: JsonObject | undefined;
}

export type ProviderEvent =
  | { kind: "session-updated"; transcription: "enabled" | "disabled" | "unstated"; model: string | undefined }
  | { kind: "speech-started"; itemId: string; audioStartMs: number | undefined; audioEndMs: number | undefined }
  | { kind: "speech-stopped"; itemId: string; audioEndMs: number | undefined }
  | { kind: "committed"; itemId: string | undefined; previousItemId: string | undefined }
  | { kind: "cleared" }
  | { kind: "item"; item: ProviderItem; previousItemId: string | undefined; done: boolean }
  | { kind: "item-deleted"; itemId: string | undefined }
  | { kind: "transcription-delta"; itemId: string; contentIndex: number; delta: string }
  | { kind: "transcription-interim"; itemId: string; text: string }
  | { kind: "transcription-completed"; itemId: string; transcript: string; usage: JsonObject | undefined }
  | { kind: "transcription-failed"; itemId: string }
  | { kind: "response-created"; response: ProviderResponse }
  | { kind: "output-item"; responseId: string | undefined; item: ProviderItem; done: boolean }
  | { kind: "output-delta"; responseId: string | undefined; itemId: string; contentIndex: number; delta: string }
  | { kind: "output-text"; responseId: string | undefined; itemId: string; contentIndex: number; text: string }
  | { kind: "response-done"; response: ProviderResponse }
  | { kind: "error"; code: string | undefined; message: string; eventId: string | undefined }
  | { kind: "other" };

const OTHER: ProviderEvent = { kind: "other" };
const TRANSCRIPTION = "conversation.item.input_audio_transcription.";

/** Reads one frame. Never throws, whatever the frame holds. */
export function readProviderEvent(frame: JsonObject): ProviderEvent {
  const type = stringOf(frame, "type") ?? "";
  if (type.startsWith(TRANSCRIPTION)) return readTranscription(frame, type.slice(TRANSCRIPTION.length));
  if (type.startsWith("response.")) return readResponseEvent(frame, type.slice("response.".length));
  const itemId = wordOf(frame, "item_id");
  switch (type) {
    case "session.updated":
    case "transcription_session.updated":
      return readSession(objectOf(frame, "session"));
    case "input_audio_buffer.speech_started":
    case "input_audio_buffer.timeout_triggered":
      if (itemId === undefined) return OTHER;
      return {
        kind: "speech-started",
        itemId,
        audioStartMs: msOf(frame, "audio_start_ms"),
        audioEndMs: msOf(frame, "audio_end_ms"),
      };
    case "input_audio_buffer.speech_stopped":
      return itemId === undefined ? OTHER : { kind: "speech-stopped", itemId, audioEndMs: msOf(frame, "audio_end_ms") };
    case "input_audio_buffer.committed":
      return { kind: "committed", itemId, previousItemId: previousOf(frame) };
    case "input_audio_buffer.cleared":
      return { kind: "cleared" };
    case "conversation.item.added":
    case "conversation.item.created":
    case "conversation.item.done": {
      const item = readItem(objectOf(frame, "item"));
      if (item === undefined) return OTHER;
      return { kind: "item", item, previousItemId: previousOf(frame), done: type.endsWith(".done") };
    }
    case "conversation.item.deleted":
      return { kind: "item-deleted", itemId };
    case "error":
      return readError(frame);
    default:
      return OTHER;
  }
}

function readTranscription(frame: JsonObject, event: string): ProviderEvent {
  const itemId = wordOf(frame, "item_id");
  if (itemId === undefined) return OTHER;
  switch (event) {
    case "delta":
      return {
        kind: "transcription-delta",
        itemId,
        contentIndex: numberOf(frame, "content_index") ?? 0,
        delta: stringOf(frame, "delta") ?? "",
      };
    case "text":
      return {
        kind: "transcription-interim",
        itemId,
        text: (stringOf(frame, "text") ?? "") + (stringOf(frame, "stash") ?? ""),
      };
    case "completed": {
      const transcript = stringOf(frame, "transcript") ?? "";
      // Some servers repeat a growing `completed`; only the one that is not in progress is final.
      if (stringOf(frame, "status") === "in_progress")
        return { kind: "transcription-interim", itemId, text: transcript };
      return { kind: "transcription-completed", itemId, transcript, usage: objectOf(frame, "usage") };
    }
    case "failed":
      return { kind: "transcription-failed", itemId };
    default:
      return OTHER;
  }
}

function readResponseEvent(frame: JsonObject, event: string): ProviderEvent {
  const responseId = wordOf(frame, "response_id");
  switch (event) {
    case "created":
    case "done": {
      const response = readResponse(objectOf(frame, "response"));
      return { kind: event === "done" ? "response-done" : "response-created", response };
    }
    case "output_item.added":
    case "output_item.done": {
      const item = readItem(objectOf(frame, "item"));
      return item === undefined ? OTHER : { kind: "output-item", responseId, item, done: event.endsWith(".done") };
    }
  }
  const itemId = wordOf(frame, "item_id");
  if (itemId === undefined) return OTHER;
  const place = { responseId, itemId, contentIndex: numberOf(frame, "content_index") ?? 0 };
  switch (event) {
    case "output_text.delta":
    case "text.delta":
    case "output_audio_transcript.delta":
    case "audio_transcript.delta":
      return { kind: "output-delta", ...place, delta: stringOf(frame, "delta") ?? "" };
    case "output_text.done":
    case "text.done":
      return { kind: "output-text", ...place, text: stringOf(frame, "text") ?? "" };
    case "output_audio_transcript.done":
    case "audio_transcript.done":
      return { kind: "output-text", ...place, text: stringOf(frame, "transcript") ?? "" };
    case "content_part.done": {
      const text = readPart(objectOf(frame, "part") ?? {}).text;
      return text === undefined ? OTHER : { kind: "output-text", ...place, text };
    }
    default:
      return OTHER;
  }
}

function readSession(session: JsonObject | undefined): ProviderEvent {
  const ga = objectOf(objectOf(session, "audio"), "input");
  const inInput = own(ga, "transcription");
  const setting = inInput === undefined ? own(session, "input_audio_transcription") : inInput;
  const transcription = isObject(setting) ? "enabled" : setting === null ? "disabled" : "unstated";
  return {
    kind: "session-updated",
    transcription,
    model: isObject(setting) ? wordOf(setting, "model") : undefined,
  };
}

function readItem(item: JsonObject | undefined): ProviderItem | undefined {
  const id = wordOf(item, "id");
  if (id === undefined) return undefined;
  return {
    id,
    type: stringOf(item, "type"),
    role: stringOf(item, "role"),
    parts: objectsOf(item, "content").map(readPart),
  };
}

function readPart(part: JsonObject): ItemPart {
  const type = stringOf(part, "type");
  const isText = type === "output_text" || type === "text";
  const isAudio = type === "output_audio" || type === "audio";
  const text = isText ? stringOf(part, "text") : isAudio ? stringOf(part, "transcript") : undefined;
  return { type, text };
}

function readResponse(response: JsonObject | undefined): ProviderResponse {
  const details = objectOf(response, "status_details");
  return {
    id: wordOf(response, "id"),
    inConversation: own(response, "conversation_id") !== null,
    status: wordOf(response, "status"),
    reason: wordOf(details, "reason"),
    output: objectsOf(response, "output").flatMap((item) => readItem(item) ?? []),
    usage: objectOf(response, "usage"),
  };
}

function readError(frame: JsonObject): ProviderEvent {
  const error = objectOf(frame, "error");
  return {
    kind: "error",
    code: wordOf(error, "code"),
    message: stringOf(error, "message") ?? stringOf(frame, "error") ?? "",
    eventId: wordOf(error, "event_id"),
  };
}

/** `null`, an empty string and `root` say that there is no predecessor. */
function previousOf(frame: JsonObject): string | undefined {
  const previous = wordOf(frame, "previous_item_id");
  return previous === "root" ? undefined : previous;
}

/** Longer ids and codes are cut: they go into messages and gaps, which must fit a record. */
const MAX_WORD_LENGTH = 512;

/** An id, a code or a name, fit for a record. */
function wordOf(object: JsonObject | undefined, key: string): string | undefined {
  const word = nameOf(object, key);
  return word === undefined ? undefined : scalarText(word.slice(0, MAX_WORD_LENGTH));
}

function msOf(frame: JsonObject, key: string): number | undefined {
  const value = numberOf(frame, key);
  return value === undefined || value < 0 ? undefined : Math.round(value);
}
