/**
 * What the conversions to target APIs share: the third layer, after history and generic context (Session file format,
 * Branches and context). Content that a target cannot take is left out here and named, never deleted from history.
 */
import { isKnownBlock, isTextBlock, type Block, type ToolCallBlock } from "../../format/schema";
import { type AssistantContext, type ContextMessage, type ToolResultContext } from "../context";

/** Why something of the context is not in the converted form. */
export type OmissionReason =
  /** A tool result whose call is not in the context before it. */
  | "orphan-tool-result"
  /** A second result of the same call. */
  | "repeated-tool-result"
  /** A tool call that the context holds no result of, or one of a response that was cut short. */
  | "unanswered-tool-call"
  /** A block of this type has no place in the target. */
  | `unsupported-${string}`
  /** Nothing of the message was left. */
  | "empty-message";

export interface Omission {
  entryId: string;
  reason: OmissionReason;
}

export interface Converted<Item> {
  items: Item[];
  omitted: Omission[];
}

/** The tool calls of a context and their results, matched in order. */
export interface ToolExchanges {
  /** The result of each answered call. */
  readonly resultOf: ReadonlyMap<ToolCallBlock, ToolResultContext>;
  /** The results that answer a call. */
  readonly answering: ReadonlySet<ToolResultContext>;
  readonly omitted: readonly Omission[];
}

/** A response that failed or was cut short: its text was said, its calls were not to be carried out. */
export function isIncomplete(message: AssistantContext): boolean {
  return message.stopReason === "error" || message.stopReason === "aborted";
}

export function toolCallsOf(message: AssistantContext): ToolCallBlock[] {
  return message.content.filter((block): block is ToolCallBlock => isKnownBlock(block) && block.type === "toolCall");
}

/** Matches each result with the latest earlier call of its id that has none yet. */
export function matchToolCalls(context: readonly ContextMessage[]): ToolExchanges {
  const open = new Map<string, ToolCallBlock>();
  const answered = new Set<string>();
  const resultOf = new Map<ToolCallBlock, ToolResultContext>();
  const answering = new Set<ToolResultContext>();
  const omitted: Omission[] = [];
  for (const message of context) {
    if (message.role === "assistant" && !isIncomplete(message)) {
      for (const call of toolCallsOf(message)) open.set(call.id, call);
    } else if (message.role === "toolResult") {
      const call = open.get(message.toolCallId);
      if (call === undefined) {
        const reason = answered.has(message.toolCallId) ? "repeated-tool-result" : "orphan-tool-result";
        omitted.push({ entryId: message.entryId, reason });
        continue;
      }
      open.delete(message.toolCallId);
      answered.add(message.toolCallId);
      resultOf.set(call, message);
      answering.add(message);
    }
  }
  return { resultOf, answering, omitted };
}

/** The texts of a message's blocks, and the types of those that a text-only target leaves out. */
export function splitContent(content: readonly Block[]): { texts: string[]; unsupported: string[] } {
  const texts: string[] = [];
  const unsupported: string[] = [];
  for (const block of content) {
    if (isTextBlock(block)) {
      if (block.text !== "") texts.push(block.text);
    } else if (block.type !== "toolCall" || !isKnownBlock(block)) unsupported.push(block.type);
  }
  return { texts, unsupported };
}

/** One omission for each type of block that is left out of an entry. Thinking is never repeated to a model as text. */
export function omissionsOf(entryId: string, unsupported: readonly string[]): Omission[] {
  return [...new Set(unsupported)].map((type) => ({ entryId, reason: `unsupported-${type}` as const }));
}
