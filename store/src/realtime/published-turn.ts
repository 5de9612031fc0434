/** What leaves the order of a connection, as the caller gets it. */
import { type OrderGap, type PublishedTurn } from "./actions";
import { type GapReason, type Node, type NodeState } from "./node";

export function publishedTurn(
  connectionId: string,
  node: Node,
  state: Extract<NodeState, { phase: "ok" }>,
  transcriptionModel: string | undefined,
): PublishedTurn {
  const role = node.kind === "user" ? "user" : "assistant";
  return {
    connectionId,
    itemId: node.id,
    role,
    text: state.text,
    ...(state.stopReason === undefined ? {} : { stopReason: state.stopReason }),
    ...(state.rawStopReason === undefined ? {} : { rawStopReason: state.rawStopReason }),
    ...(state.usage === undefined ? {} : { usage: state.usage }),
    ...(role === "assistant" && node.responseId !== undefined ? { responseId: node.responseId } : {}),
    ...(role === "user" && transcriptionModel !== undefined ? { model: transcriptionModel } : {}),
    ...audioOf(node),
  };
}

export function orderGap(connectionId: string, node: Node, reason: GapReason): OrderGap {
  if (node.kind === "response") return { connectionId, responseId: node.id, reason, role: "assistant" };
  const role = node.kind === "user" ? "user" : "assistant";
  return { connectionId, itemId: node.id, reason, role, ...audioOf(node) };
}

function audioOf(node: Node): Pick<PublishedTurn, "audioStartMs" | "audioEndMs" | "commitOrdinal"> {
  return {
    ...(node.audioStartMs === undefined ? {} : { audioStartMs: node.audioStartMs }),
    ...(node.audioEndMs === undefined ? {} : { audioEndMs: node.audioEndMs }),
    ...(node.commitOrdinal === undefined ? {} : { commitOrdinal: node.commitOrdinal }),
  };
}
