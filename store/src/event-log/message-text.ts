/** The words of a message event, for people and for search. */
import { messageOf } from "./shape";
import { asObject, type JsonRecord, type LogEvent } from "./types";

export type MessageRole = "user" | "assistant";

interface MessageText {
  readonly seq: number;
  readonly time: number;
  readonly role: MessageRole;
  readonly text: string;
}

/** The text of a message that a person or a model has said; undefined for other events and for messages without any. */
export function messageTextOf(event: LogEvent): MessageText | undefined {
  if (event.type !== "user/message" && event.type !== "assistant/message") return undefined;
  // A replacement is what a model sees in place of what was said; what was said stays the transcript.
  if (event.surfaceOp !== "append") return undefined;
  const content: unknown = messageOf({ ...event })?.["content"];
  if (!Array.isArray(content)) return undefined;
  const text = (content as unknown[]).flatMap((block) => textOfBlock(asObject(block))).join("\n");
  const role = event.type === "user/message" ? "user" : "assistant";
  return text === "" ? undefined : { seq: event.seq, time: event.time, role, text };
}

function textOfBlock(block: JsonRecord | undefined): string[] {
  const text = block?.["text"];
  return block?.["type"] === "text" && typeof text === "string" && text !== "" ? [text] : [];
}

/** The title that an event gives its session, if it gives one. */
export function titleOf(event: LogEvent): string | undefined {
  if (event.type !== "session/title") return undefined;
  const title = asObject(event.data)?.["title"];
  return typeof title === "string" && title.trim() !== "" ? title.trim() : undefined;
}
