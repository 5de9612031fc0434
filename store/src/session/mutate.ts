/** The metadata of a session and the removal of messages, as entries (Session file format, Version 1 contract). */
import { StoreError } from "../errors";
import { type Entry, type EntryInput } from "../format/schema";

/** Whoever can append: a session, or one of its continuations. */
export interface Appender {
  append(entries: EntryInput[], options?: { parentId?: string | null }): Promise<{ committed: Entry[] }>;
}

async function appendOne(target: Appender, input: EntryInput, parentId?: string | null): Promise<Entry> {
  const { committed } = await target.append([input], parentId === undefined ? {} : { parentId });
  const [entry] = committed;
  if (entry === undefined) throw new StoreError("outcome-unknown");
  return entry;
}

/** Names the session; an empty name takes the name away. The parent is the default leaf as it is under the lock. */
export function renameSession(target: Appender, name: string): Promise<Entry> {
  return appendOne(target, { type: "session_info", name });
}

export function setArchived(target: Appender, archived: boolean): Promise<Entry> {
  return appendOne(target, { type: "session_info", archived });
}

/** Labels an entry, or with null takes its label away. */
export function setLabel(target: Appender, targetId: string, label: string | null): Promise<Entry> {
  return appendOne(target, { type: "label", targetId, label });
}

/**
 * Excludes a message from the branch that ends at `leaf`; the default leaf when left out. `already-removed` when it is
 * excluded there already. What was said stays in the log and on other branches.
 */
export function removeMessage(target: Appender, targetId: string, leaf?: string | null): Promise<Entry> {
  return appendOne(target, { type: "message.removed", targetId }, leaf);
}
