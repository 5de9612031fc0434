/** One place in the order of a connection: a turn, an answer, or something that only takes a place. */
import { type JsonObject } from "../format/schema";

export type NodeKind = "user" | "assistant" | "transparent" | "response";

export type StopReason = "stop" | "length" | "error" | "aborted";

export type GapReason =
  | "transcription_failed"
  | "transcription_disabled"
  | "response_failed"
  | "response_incomplete"
  | "unfinished"
  | "transport_closed"
  | "session_expired"
  | "removal_timeout"
  | "order_limit"
  | "text_too_large"
  | "response_not_created"
  | "commit_unanswered";

export type SkipReason =
  | "empty_transcript"
  | "empty_response"
  | "cancelled_empty"
  | "deleted_remotely"
  | "absorbed_by_commit"
  | "cleared"
  | "out_of_band"
  | "response_ended"
  | "unknown_predecessor";

/** `reserved` and `open` block what follows; the others are terminal, and the first terminal outcome stays. */
export type NodeState =
  | { phase: "reserved" }
  | { phase: "open" }
  | { phase: "ok"; text: string; stopReason?: StopReason; rawStopReason?: string; usage?: JsonObject }
  | { phase: "pass" }
  | { phase: "skip"; reason: SkipReason }
  | { phase: "gap"; reason: GapReason };

export interface Node {
  /** The provider's item id; the response's id for a `response` node. */
  readonly id: string;
  kind: NodeKind;
  state: NodeState;
  /** The predecessor that decided the place, and how much the event that named it counts. */
  predecessor: string | undefined;
  rank: PredecessorRank;
  /** The provider reserved the id when speech began. */
  ownSpeech: boolean;
  /** The item exists on the provider's side. */
  committed: boolean;
  /** Interim text for display; never published. */
  provisional: string;
  provisionalIndex: number;
  /** UTF-8 bytes of the texts that this node holds. */
  textBytes: number;
  /** Last final text of each content part, until the response ends. */
  partTexts: Map<number, string> | undefined;
  responseId: string | undefined;
  /** Milliseconds of audio since the connection began. */
  audioStartMs: number | undefined;
  audioEndMs: number | undefined;
  /** Which of the client's commits made the item, counted from 0. */
  commitOrdinal: number | undefined;
}

/** Arrival, `committed`, and `conversation.item.*`: the later ones know the place better. */
export type PredecessorRank = 0 | 1 | 2;

/** What remains of a node that is behind the cursor, or was refused: enough to ignore later events of its id. */
export interface Tombstone {
  readonly id: string;
  readonly kind: NodeKind;
  readonly passed: "published" | "closed" | "refused";
}

export function isNode(value: Node | Tombstone | undefined): value is Node {
  return value !== undefined && "state" in value;
}

export function isTerminal(node: Node): boolean {
  return node.state.phase !== "open" && node.state.phase !== "reserved";
}

export function newNode(id: string, kind: NodeKind, state: NodeState): Node {
  return {
    id,
    kind,
    state,
    predecessor: undefined,
    rank: 0,
    ownSpeech: false,
    committed: false,
    provisional: "",
    provisionalIndex: 0,
    textBytes: 0,
    partTexts: undefined,
    responseId: undefined,
    audioStartMs: undefined,
    audioEndMs: undefined,
    commitOrdinal: undefined,
  };
}
