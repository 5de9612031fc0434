/** How a turn or an answer ends (Session file format: a failure is a gap, never made-up text). */
import { type JsonObject } from "../format/schema";
import { type ProviderItem, type ProviderResponse } from "./events";
import { scalarText } from "./fields";
import { MAX_MESSAGE_TEXT_BYTES } from "./limits";
import { type NodeState } from "./node";

export function completedTranscription(transcript: string, usage: JsonObject | undefined): NodeState {
  if (!/\S/u.test(transcript)) return { phase: "skip", reason: "empty_transcript" };
  return withText(transcript, usage === undefined ? {} : { usage });
}

/** The end of one message item of a response. `text` is undefined when no final text was given. */
export function endedAnswer(response: ProviderResponse, text: string | undefined): NodeState {
  const hasText = text !== undefined && text !== "";
  const provenance = {
    ...(response.status === undefined ? {} : { rawStopReason: rawStopReason(response) }),
    ...(response.usage === undefined ? {} : { usage: response.usage }),
  };
  switch (response.status) {
    case "failed":
      return { phase: "gap", reason: "response_failed" };
    case "cancelled":
      return hasText
        ? withText(text, { stopReason: "aborted", ...provenance })
        : { phase: "skip", reason: "cancelled_empty" };
    case "incomplete": {
      if (!hasText) return { phase: "gap", reason: "response_incomplete" };
      const stopReason = response.reason === "content_filter" ? "error" : "length";
      return withText(text, { stopReason, ...provenance });
    }
    default:
      return hasText
        ? withText(text, { stopReason: "stop", ...provenance })
        : { phase: "skip", reason: "empty_response" };
  }
}

function rawStopReason(response: ProviderResponse): string {
  return response.reason === undefined ? (response.status ?? "") : `${response.status}: ${response.reason}`;
}

/** The texts of a message item's parts, joined; undefined when no part has one. */
export function itemText(item: ProviderItem): string | undefined {
  const texts = item.parts.flatMap((part) => part.text ?? []);
  const joined = texts.join("");
  return joined === "" ? undefined : joined;
}

function withText(text: string, rest: Omit<Extract<NodeState, { phase: "ok" }>, "phase" | "text">): NodeState {
  const scalar = scalarText(text);
  if (jsonBytes(scalar) > MAX_MESSAGE_TEXT_BYTES) return { phase: "gap", reason: "text_too_large" };
  return { phase: "ok", text: scalar, ...rest };
}

function jsonBytes(text: string): number {
  // Every UTF-16 unit takes at least one byte, so only long texts need the exact count.
  return text.length * 6 <= MAX_MESSAGE_TEXT_BYTES ? text.length : Buffer.byteLength(JSON.stringify(text));
}
