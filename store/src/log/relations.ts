/** The rules that bind an entry to the earlier entries of its log (Session file format, Version 1 contract). */
import { type StoreErrorCode } from "../errors";
import { type IndexedEntry } from "../format/plain-record";
import { type Entry, type EntryType } from "../format/schema";
import { type LogFacts } from "./facts";
import { lifecycleFinding } from "./lifecycle";

/** What is asked of the earlier entries: of an index, or of an index with a batch behind it. */
export interface Ancestry {
  has(id: string): boolean;
  positionOf(id: string): number;
  typeOf(position: number): EntryType;
  isOnPath(ancestor: number, position: number): boolean;
  removersOf(position: number): readonly number[];
}

/** A broken relation that blocks reading. */
export interface RelationDefect {
  code: "parent-not-found" | "duplicate-id" | "removal-invalid";
  message: string;
}

/** Why an entry may not be appended. */
export interface AppendProblem {
  code: StoreErrorCode;
  message: string;
}

const REMOVABLE: readonly EntryType[] = ["message", "custom_message"];

/** What blocks a log in which `entry` comes next, or undefined. */
export function relationDefect(index: Ancestry, entry: IndexedEntry): RelationDefect | undefined {
  if (index.has(entry.id)) return { code: "duplicate-id", message: "An earlier entry has the same id." };
  if (entry.parentId !== null && !index.has(entry.parentId)) {
    return { code: "parent-not-found", message: "The parent is not an earlier entry." };
  }
  if (entry.type === "message.removed" && !isRemovable(index, entry.targetId, entry.parentId)) {
    return {
      code: "removal-invalid",
      message: "The removed entry is not an ancestor that is a message or custom message.",
    };
  }
  return undefined;
}

/** What a reader reports without blocking, or undefined. */
export function relationWarning(
  index: Ancestry,
  facts: LogFacts,
  entry: IndexedEntry,
): { code: string; message: string } | undefined {
  if (entry.type === "label" && !index.has(entry.targetId)) {
    return { code: "label-target-missing", message: "The labelled entry is not an earlier entry." };
  }
  return lifecycleFinding(facts, entry);
}

/** Why a writer must not append `entry` next; stricter than reading. A known id is the caller's business. */
export function appendProblem(index: Ancestry, facts: LogFacts, entry: Entry): AppendProblem | undefined {
  const defect = relationDefect(index, entry);
  if (defect !== undefined) {
    const code = defect.code === "parent-not-found" ? "parent-not-found" : "record-invalid";
    return { code: defect.code === "duplicate-id" ? "conflict" : code, message: defect.message };
  }
  if (entry.type === "message.removed" && isRemoved(index, entry.targetId, entry.parentId)) {
    return { code: "already-removed", message: "The message is removed on this branch already." };
  }
  if (entry.type === "api_connection" && hasUserInfo(entry.endpoint)) {
    return { code: "record-invalid", message: "The endpoint holds user information." };
  }
  const warning = relationWarning(index, facts, entry);
  return warning === undefined ? undefined : { code: "record-invalid", message: warning.message };
}

/** Whether a target is a message that a removal below `parentId` can remove. */
function isRemovable(index: Ancestry, targetId: string, parentId: string | null): boolean {
  const target = index.positionOf(targetId);
  if (target === -1 || parentId === null) return false;
  return REMOVABLE.includes(index.typeOf(target)) && index.isOnPath(target, index.positionOf(parentId));
}

/** Whether a target is removed on the branch that ends at `leafId`. */
export function isRemoved(index: Ancestry, targetId: string, leafId: string | null): boolean {
  const target = index.positionOf(targetId);
  if (target === -1 || leafId === null) return false;
  const leaf = index.positionOf(leafId);
  return index.removersOf(target).some((removal) => index.isOnPath(removal, leaf));
}

/** The part of an address before its path may name a user, and a secret with it. */
function hasUserInfo(endpoint: string): boolean {
  const authority = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/([^/?#]*)/.exec(endpoint)?.[1] ?? "";
  return authority.includes("@");
}
