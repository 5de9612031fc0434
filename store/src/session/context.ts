/**
 * Generic context: the history without what never reaches a model (Branches and context). Custom messages become part
 * of the conversation; details and members that this version does not know stay behind. Pure.
 */
import {
  type AssistantMessage,
  type Block,
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
  return history.map(toContextMessage);
}

function toContextMessage(item: HistoryItem): ContextMessage {
  if (item.type === "message") return fromMessage(item.id, item.message);
  const content: Block[] = typeof item.content === "string" ? [{ type: "text", text: item.content }] : item.content;
  return {
    entryId: item.id,
    role: "custom",
    customType: item.customType,
    content: content.map(knownMembers),
    timestamp: Date.parse(item.timestamp),
  };
}

function fromMessage(entryId: string, message: Message): ContextMessage {
  const base = {
    entryId,
    content: message.content.map(knownMembers),
    timestamp: message.timestamp,
    ...pick(message, ["api", "provider", "model", "usage"]),
  };
  switch (message.role) {
    case "user":
      return { ...base, role: "user" };
    case "assistant":
      return {
        ...base,
        role: "assistant",
        ...pick(message, [
          "stopReason",
          "errorMessage",
          "responseId",
          "responseModel",
          "rawStopReason",
          "providerThinkingLevel",
        ]),
      };
    case "toolResult":
      return { ...base, role: "toolResult", ...pick(message, ["toolCallId", "toolName", "isError"]) };
  }
}

const MEMBERS: { readonly [Type in KnownBlock["type"]]: readonly string[] } = {
  text: ["type", "text", "textSignature"],
  thinking: ["type", "thinking", "thinkingSignature", "redacted"],
  toolCall: ["type", "id", "name", "arguments", "thoughtSignature", "namespace", "argumentsError"],
  image: ["type", "asset"],
  audio: ["type", "asset", "recordingId", "startMs", "endMs"],
};

/** A block of a known type with the members of that type; any other block as it is, for a target to judge. */
function knownMembers(block: Block): Block {
  if (!isKnownBlock(block)) return block;
  const members = MEMBERS[block.type];
  if (Object.keys(block).every((key) => members.includes(key))) return block;
  return Object.fromEntries(Object.entries(block).filter(([key]) => members.includes(key))) as KnownBlock;
}

function pick<T extends object, Key extends keyof T>(from: T, keys: readonly Key[]): Pick<T, Key> {
  const picked: Partial<T> = {};
  for (const key of keys) {
    if (Object.hasOwn(from, key)) picked[key] = from[key];
  }
  return picked as Pick<T, Key>;
}
