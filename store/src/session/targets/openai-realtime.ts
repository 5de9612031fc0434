/**
 * Target: conversation items of the OpenAI Realtime API, for `conversation.item.create`. They restore what was said to a
 * new connection; they are no replay of earlier events. Audio and images stay behind: their text is what is restored.
 */
import { type ContextMessage } from "../context";
import {
  type Converted,
  isIncomplete,
  matchToolCalls,
  type Omission,
  omissionsOf,
  splitContent,
  toolCallsOf,
} from "./conversion";

export type RealtimeItem =
  | { type: "message"; role: "user"; content: { type: "input_text"; text: string }[] }
  | { type: "message"; role: "assistant"; content: { type: "output_text"; text: string }[] }
  /** `arguments` is JSON text. */
  | { type: "function_call"; call_id: string; name: string; arguments: string }
  | { type: "function_call_output"; call_id: string; output: string };

/** Converts a generic context. Orphan results, unanswered calls and what is not text are left out. */
export function toRealtimeItems(context: readonly ContextMessage[]): Converted<RealtimeItem> {
  const { resultOf, answering, omitted: unmatched } = matchToolCalls(context);
  const items: RealtimeItem[] = [];
  const omitted: Omission[] = [...unmatched];
  for (const message of context) {
    const { entryId } = message;
    if (message.role === "toolResult" && !answering.has(message)) continue;
    const { texts, unsupported } = splitContent(message.content);
    omitted.push(...omissionsOf(entryId, unsupported));
    const before = items.length;
    switch (message.role) {
      case "user":
      case "custom":
        if (texts.length > 0) items.push({ type: "message", role: "user", content: texts.map(inputText) });
        break;
      case "assistant":
        if (texts.length > 0) items.push({ type: "message", role: "assistant", content: texts.map(outputText) });
        for (const call of toolCallsOf(message)) {
          if (isIncomplete(message) || !resultOf.has(call)) {
            omitted.push({ entryId, reason: "unanswered-tool-call" });
            continue;
          }
          const { id, name } = call;
          items.push({ type: "function_call", call_id: id, name, arguments: JSON.stringify(call.arguments) });
        }
        break;
      case "toolResult":
        items.push({ type: "function_call_output", call_id: message.toolCallId, output: texts.join("\n") });
        break;
    }
    if (items.length === before) omitted.push({ entryId, reason: "empty-message" });
  }
  return { items, omitted };
}

function inputText(text: string): { type: "input_text"; text: string } {
  return { type: "input_text", text };
}

function outputText(text: string): { type: "output_text"; text: string } {
  return { type: "output_text", text };
}
