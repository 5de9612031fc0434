import { type Block, type Entry, isTextBlock, type Message } from "../format/schema";

/**
 * The plain text of a message: its text blocks, one below the other. Empty for an entry that is no message. This is
 * what is searched, copied and exported.
 */
export function textOf(item: Entry | Message): string {
  if ("role" in item) return textOfBlocks(item.content);
  if (item.type === "message") return textOfBlocks(item.message.content);
  if (item.type !== "custom_message") return "";
  return typeof item.content === "string" ? item.content : textOfBlocks(item.content);
}

export function textOfBlocks(blocks: readonly Block[]): string {
  return blocks
    .filter(isTextBlock)
    .map((block) => block.text)
    .join("\n");
}
