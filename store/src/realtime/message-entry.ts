/** Published turns as canonical messages (Session file format, Version 1 contract). */
import { type AvailableAsset, type EntryInput, type JsonObject, type Message, type Usage } from "../format/schema";
import { type PublishedTurn } from "./actions";
import { type AudioRange } from "./audio-clock";
import { numberOf, objectOf } from "./fields";

export interface MessageOrigin {
  provider: string;
  requestedModel: string;
  api: string;
}

export interface MessageAudio {
  asset: AvailableAsset;
  recordingId: string;
  range: AudioRange;
}

export function messageEntry(
  turn: PublishedTurn,
  origin: MessageOrigin | undefined,
  audio: MessageAudio | undefined,
  nowMs: number,
): EntryInput {
  const common = {
    content: [
      { type: "text" as const, text: turn.text },
      ...(audio === undefined
        ? []
        : [{ type: "audio" as const, asset: audio.asset, recordingId: audio.recordingId, ...audio.range }]),
    ],
    timestamp: nowMs,
    ...(origin === undefined
      ? {}
      : { api: origin.api, provider: origin.provider, model: turn.model ?? origin.requestedModel }),
    ...(turn.usage === undefined ? {} : { usage: usageOf(turn.usage) }),
    // Which item of which connection it is, so that a reader can tell what is not materialized.
    realtime: { connectionId: turn.connectionId, itemId: turn.itemId },
  };
  const message: Message =
    turn.role === "user"
      ? { role: "user", ...common }
      : {
          role: "assistant",
          ...common,
          ...(turn.stopReason === undefined ? {} : { stopReason: turn.stopReason }),
          ...(turn.rawStopReason === undefined ? {} : { rawStopReason: turn.rawStopReason }),
          ...(turn.responseId === undefined ? {} : { responseId: turn.responseId }),
        };
  return { type: "message", message };
}

/** The provider's usage in the format's names. */
function usageOf(usage: JsonObject): Usage {
  const input = numberOf(usage, "input_tokens");
  const output = numberOf(usage, "output_tokens");
  const totalTokens = numberOf(usage, "total_tokens");
  const cacheRead = numberOf(objectOf(usage, "input_token_details"), "cached_tokens");
  const seconds = numberOf(usage, "seconds");
  return Object.fromEntries(
    Object.entries({ input, output, totalTokens, cacheRead, seconds }).filter(
      (member): member is [string, number] => member[1] !== undefined && member[1] >= 0,
    ),
  );
}
