/**
 * Generic context: the history without what never reaches a model (Branches and context). Custom messages become part
 * of the conversation; details and members that this version does not know stay behind. Pure.
 */
import {
  type AssistantMessage,
  type Block,
  type CustomMessageEntry,
  isKnownBlock,
  type KnownBlock,
  type Message,
  type Usage,
} from "../format/schema";
import { type HistoryItem } from "./history";

interface Provenance {
  api?: string;
  provider?: string;
  model?: string;
  usage?: Usage;
}

interface FromEntry {
  entryId: string;
  content: Block[];
  /** Milliseconds since the Unix epoch. */
  timestamp: number;
}

export interface UserContext extends FromEntry, Provenance {
  role: "user";
}

export interface AssistantContext extends FromEntry, Provenance {
  role: "assistant";
  stopReason?: NonNullable<AssistantMessage["stopReason"]>;
  errorMessage?: string;
  responseId?: string;
  responseModel?: string;
  rawStopReason?: string;
  providerThinkingLevel?: string;
}

export interface ToolResultContext extends FromEntry, Provenance {
  role: "toolResult";
  toolCallId: string;
  toolName: string;
  isError: boolean;
}

export interface CustomContext extends FromEntry {
  role: "custom";
  customType: string;
}

export type ContextMessage = UserContext | AssistantContext | ToolResultContext | CustomContext;

/** Converts the history of a branch; one message for each item, in order. */
export function toContext(history: readonly HistoryItem[]): ContextMessage[] {
  return history.map((item) => (item.type === "message" ? fromMessage(item.id, item.message) : fromCustom(item)));
}

function fromCustom(item: CustomMessageEntry): CustomContext {
  const { id: entryId, customType, timestamp } = item;
  const content: Block[] = typeof item.content === "string" ? [{ type: "text", text: item.content }] : item.content;
  return { entryId, role: "custom", customType, content: knownContent(content), timestamp: Date.parse(timestamp) };
}

const PROVENANCE = ["api", "provider", "model"] as const;
const RESPONSE = [
  "stopReason",
  "errorMessage",
  "responseId",
  "responseModel",
  "rawStopReason",
  "providerThinkingLevel",
] as const;
const COST = ["input", "output", "cacheRead", "cacheWrite", "total"] as const;
const USAGE = ["input", "output", "cacheRead", "cacheWrite", "cacheWrite1h", "reasoning", "totalTokens"] as const;

function fromMessage(entryId: string, message: Message): ContextMessage {
  const { timestamp } = message;
  const content = knownContent(message.content);
  switch (message.role) {
    case "user": {
      const user: UserContext = { entryId, role: "user", content, timestamp };
      copyProvenance(message, user);
      return user;
    }
    case "assistant": {
      const assistant: AssistantContext = { entryId, role: "assistant", content, timestamp };
      copyProvenance(message, assistant);
      copyMembers(message, assistant, RESPONSE);
      return assistant;
    }
    case "toolResult": {
      const { toolCallId, toolName, isError } = message;
      const result: ToolResultContext = {
        entryId,
        role: "toolResult",
        content,
        timestamp,
        toolCallId,
        toolName,
        isError,
      };
      copyProvenance(message, result);
      return result;
    }
  }
}

function copyProvenance(from: Message, to: Provenance): void {
  copyMembers(from, to, PROVENANCE);
  if (from.usage === undefined) return;
  const { cost } = from.usage;
  const usage: Usage = {};
  copyMembers(from.usage, usage, USAGE);
  if (cost !== undefined) {
    usage.cost = {};
    copyMembers(cost, usage.cost, COST);
  }
  to.usage = usage;
}

/** Copies the members that are there. */
function copyMembers<Key extends string>(
  from: { readonly [key in Key]?: unknown },
  to: { [key in Key]?: unknown },
  keys: readonly Key[],
): void {
  for (const key of keys) {
    const value = from[key];
    if (value !== undefined) to[key] = value;
  }
}

const MEMBERS: { readonly [Type in KnownBlock["type"]]: readonly string[] } = {
  text: ["type", "text", "textSignature"],
  thinking: ["type", "thinking", "thinkingSignature", "redacted"],
  toolCall: ["type", "id", "name", "arguments", "thoughtSignature", "namespace", "argumentsError"],
  image: ["type", "asset"],
  audio: ["type", "asset", "recordingId", "startMs", "endMs"],
};

/** The blocks without members that this version does not know; unknown blocks as they are, for a target to judge. */
function knownContent(content: Block[]): Block[] {
  return content.every(hasKnownMembersOnly) ? content : content.map(knownMembers);
}

function hasKnownMembersOnly(block: Block): boolean {
  if (!isKnownBlock(block)) return true;
  const members = MEMBERS[block.type];
  for (const key in block) if (!members.includes(key)) return false;
  return true;
}

function knownMembers(block: Block): Block {
  if (!isKnownBlock(block) || hasKnownMembersOnly(block)) return block;
  const members = MEMBERS[block.type];
  return Object.fromEntries(Object.entries(block).filter(([key]) => members.includes(key))) as KnownBlock;
}
