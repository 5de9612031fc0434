import { type JsonObject } from "../format/schema";
import { type GapReason, type SkipReason, type StopReason } from "./node";

/** A turn or an answer that is final and next in order. */
export interface PublishedTurn {
  connectionId: string;
  itemId: string;
  role: "user" | "assistant";
  /** Exactly as the provider gave it, but for lone surrogates. */
  text: string;
  stopReason?: StopReason;
  rawStopReason?: string;
  responseId?: string;
  usage?: JsonObject;
  /** The transcription model of the effective configuration. */
  model?: string;
  /** Milliseconds of audio since the connection began. */
  audioStartMs?: number;
  audioEndMs?: number;
  /** Which of the client's commits made the item, counted from 0. */
  commitOrdinal?: number;
}

/** Something that was said or asked for and has no text. */
export interface OrderGap {
  connectionId: string;
  itemId?: string;
  responseId?: string;
  reason: GapReason;
  role?: "user" | "assistant";
  audioStartMs?: number;
  audioEndMs?: number;
  commitOrdinal?: number;
}

export interface Skipped {
  connectionId: string;
  itemId: string;
  reason: SkipReason;
}

export type CaptureStopReason = "transport-lost" | "removal-timeout" | "order-limit";

/** What the engine asks of its surroundings, in the order in which it has to happen. */
export type EngineAction =
  | { type: "publish"; turn: PublishedTurn }
  /** `isOfLoss`: the turn was open when its connection was lost, and may be heard again on a later one. */
  | { type: "gap"; gap: OrderGap; isOfLoss?: true }
  | { type: "skip"; skipped: Skipped }
  /** Keep the removal's intent durably, then send the event. */
  | { type: "request-removal"; connectionId: string; itemId: string; eventId: string; event: JsonObject }
  /** Append `message.removed`, then report it with `removalSaved` or `removalNotSaved`. */
  | { type: "remove"; connectionId: string; itemId: string }
  | { type: "removal-ended"; connectionId: string; itemId: string; outcome: "rejected" | "uncertain" }
  /** The capture has to stop, visibly. Stopping the recording is up to the caller. */
  | { type: "stop-capture"; connectionId?: string; reason: CaptureStopReason }
  /** Terminate the connection's socket. */
  | { type: "close"; connectionId: string }
  /** Nothing is open any more after `stop`: everything is published or named as a gap. */
  | { type: "drained" };

/** Text that is not saved yet: for display only; it cannot be copied or removed. */
export interface ProvisionalTurn {
  connectionId: string;
  itemId: string;
  role: "user" | "assistant";
  text: string;
  state: "unresolved" | "completed_blocked";
}
