/** Effective history: the first of three layers, before context and target conversion (Branches and context). */
import { type CustomMessageEntry, type Entry, type MessageEntry } from "../format/schema";
import { type EntryIndex } from "../log/entry-index";

/** An entry that takes part in the conversation. */
export type HistoryItem = MessageEntry | CustomMessageEntry;

/** The positions of what survives on the branch that ends at `leaf`, in order. -1 is the empty ancestry. */
export function historyPositions(entries: EntryIndex, leaf: number): Int32Array {
  const path = entries.pathTo(leaf);
  const removed = new Set<number>();
  let count = 0;
  for (const position of path) {
    const target = entries.removalTargetOf(position);
    if (target !== undefined) removed.add(target);
  }
  for (const position of path) {
    const type = entries.typeOf(position);
    if ((type !== "message" && type !== "custom_message") || removed.has(position)) continue;
    path[count] = position;
    count += 1;
  }
  return path.subarray(0, count);
}

export function isHistoryItem(entry: Entry): entry is HistoryItem {
  return entry.type === "message" || entry.type === "custom_message";
}
