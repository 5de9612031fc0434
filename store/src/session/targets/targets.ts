import { type ContextMessage } from "../context";
import { type ChatMessage, toChatMessages } from "./chat";
import { type Converted } from "./conversion";
import { type RealtimeItem, toRealtimeItems } from "./openai-realtime";

/** The target APIs that a context can be converted to, by name. */
export const contextTargets = {
  chat: toChatMessages,
  "openai-realtime": toRealtimeItems,
} as const satisfies Record<string, (context: readonly ContextMessage[]) => Converted<ChatMessage | RealtimeItem>>;

export type ContextTarget = keyof typeof contextTargets;

export function isContextTarget(name: string): name is ContextTarget {
  return Object.hasOwn(contextTargets, name);
}
