import { type Gap, type JsonObject } from "../format/schema";
import { type Session } from "../session/session";
import { type CaptureStopReason } from "./actions";

/** Wall-clock time and timers, injected so that recordings run in virtual time under test. */
export interface RecorderClock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls back once after that many milliseconds; returns what cancels it. */
  setTimer(ms: number, fn: () => void): () => void;
}

/** What the recorder needs of its session. */
export type RecorderSession = Pick<Session, "append" | "openAsset" | "writeProtocolAsset" | "has" | "entry">;

export interface RecorderOptions {
  session: RecorderSession;
  /** The entry that the recording continues from; null for an empty conversation. */
  leaf: string | null;
  recordingId: string;
  clock: RecorderClock;
  newId?: () => string;
  /** Sends an event that the recorder originates (removals). The client reports it back through `observeSend`. */
  send(connectionId: string, event: JsonObject): void;
  /** The connection has to be given up: terminate its socket. */
  onCloseConnection?(connectionId: string): void;
  onChange(snapshot: RecorderSnapshot): void;
}

export interface RecorderConnection {
  connectionId: string;
  provider: string;
  /** Kept without user info, query and fragment. */
  endpoint: string;
  requestedModel: string;
  api: string;
  originId: string;
}

export interface SendObservation {
  observation: "send_attempt" | "send_failed";
  /** Where the capture file holds the bytes of an `input_audio_buffer.append`: offsets in the whole file. */
  wav?: { start: number; end: number };
}

export interface SavedTurn {
  entryId: string;
  role: "user" | "assistant";
  text: string;
  itemId: string;
  connectionId: string;
}

/** Not yet saved: for display only, it can neither be copied nor removed. */
export interface ProvisionalText {
  connectionId: string;
  itemId: string;
  role: "user" | "assistant";
  text: string;
}

export interface RecorderSnapshot {
  phase: "idle" | "recording" | "finishing" | "finished" | "halted";
  /** The newest saved turns, oldest first. */
  saved: SavedTurn[];
  provisional: ProvisionalText[];
  gaps: Gap[];
  /** Persistence failed: the capture has to stop. */
  halted?: { code: string; message: string };
  /** The capture has to stop, or a provider is lost and the caller decides. */
  captureStop?: { reason: CaptureStopReason; connectionId?: string };
}

export type RemovalResult =
  | { kind: "removed" }
  /** Nothing was sent or changed. */
  | { kind: "refused"; reason: "not-saved" | "already-removed" }
  /** The provider keeps the message, and so does the session. */
  | { kind: "rejected" }
  /** No answer: the message stays, the connection is closed. */
  | { kind: "uncertain" }
  /** The provider removed it, saving that failed: it is tried again without asking the provider. */
  | { kind: "not-saved"; code: string };

export interface RecordingOutcome {
  outcome: "complete" | "incomplete";
  gaps: Gap[];
}
