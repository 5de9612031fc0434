/** Target: a plain list of chat messages, as chat-completion APIs take it. Text only. */
import { type AssistantContext, type ContextMessage, type ToolResultContext } from "../context";
import {
  type Converted,
  isIncomplete,
  matchToolCalls,
  type Omission,
  omissionsOf,
  splitContent,
  type ToolExchanges,
  toolCallsOf,
} from "./conversion";

export interface ChatToolCall {
  id: string;
  type: "function";
  /** `arguments` is JSON text. */
  function: { name: string; arguments: string };
}

export type ChatMessage =
  | { role: "user"; content: string }
  | { role: "assistant"; content: string; tool_calls?: ChatToolCall[] }
  | { role: "tool"; tool_call_id: string; content: string };

/**
 * Converts a generic context. Results follow the message with their calls at once, which these APIs demand; orphan
 * results, unanswered calls and what is not text are left out.
 */
export function toChatMessages(context: readonly ContextMessage[]): Converted<ChatMessage> {
  const exchanges = matchToolCalls(context);
  const items: ChatMessage[] = [];
  const omitted: Omission[] = [...exchanges.omitted];
  for (const message of context) {
    if (message.role === "toolResult") continue;
    const { texts, unsupported } = splitContent(message.content);
    omitted.push(...omissionsOf(message.entryId, unsupported));
    if (message.role === "assistant") {
      convertAssistant(message, texts.join("\n"), exchanges, items, omitted);
    } else if (texts.length > 0) items.push({ role: "user", content: texts.join("\n") });
    else omitted.push({ entryId: message.entryId, reason: "empty-message" });
  }
  return { items, omitted };
}

function convertAssistant(
  message: AssistantContext,
  content: string,
  { resultOf }: ToolExchanges,
  items: ChatMessage[],
  omitted: Omission[],
): void {
  const { entryId } = message;
  const calls: ChatToolCall[] = [];
  const results: ChatMessage[] = [];
  for (const call of toolCallsOf(message)) {
    const result = isIncomplete(message) ? undefined : resultOf.get(call);
    if (result === undefined) {
      omitted.push({ entryId, reason: "unanswered-tool-call" });
      continue;
    }
    calls.push({
      id: call.id,
      type: "function",
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    });
    results.push(toolMessage(result, omitted));
  }
  if (calls.length > 0) items.push({ role: "assistant", content, tool_calls: calls }, ...results);
  else if (content !== "") items.push({ role: "assistant", content });
  else omitted.push({ entryId, reason: "empty-message" });
}

function toolMessage(result: ToolResultContext, omitted: Omission[]): ChatMessage {
  const { texts, unsupported } = splitContent(result.content);
  omitted.push(...omissionsOf(result.entryId, unsupported));
  return { role: "tool", tool_call_id: result.toolCallId, content: texts.join("\n") };
}
