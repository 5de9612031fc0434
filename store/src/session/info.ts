/** Global name, archive flag and labels of a session, and the text it is shown under (Branches and context). */
import { type Entry } from "../format/schema";
import { type EntryIndex } from "../log/entry-index";
import { excerptOf } from "./excerpt";

/** What `session_info` and `label` entries say together, in file order. */
export interface SessionMetadata {
  /** Absent when none was given, or the last one cleared it. */
  name?: string;
  archived: boolean;
  /** Current label of each labelled entry, on whatever branch, by entry id. */
  labels: Map<string, string>;
}

export interface SessionInfo extends SessionMetadata {
  /** The name, or the beginning of the first text that survives on the selected branch, or empty. */
  label: string;
  /** The labels of the entries on the selected branch. */
  branchLabels: Map<string, string>;
}

/** In graphemes. */
const MAX_DERIVED_LABEL_LENGTH = 80;

/** Folds metadata entries in file order: each field resolves alone, the last entry that has it decides. */
export function foldMetadata(entries: Iterable<Entry>, isEntry: (id: string) => boolean): SessionMetadata {
  let name = "";
  let archived = false;
  const labels = new Map<string, string>();
  for (const entry of entries) {
    if (entry.type === "session_info") {
      name = entry.name ?? name;
      archived = entry.archived ?? archived;
    } else if (entry.type === "label" && isEntry(entry.targetId)) {
      if (entry.label === null || entry.label === "") labels.delete(entry.targetId);
      else labels.set(entry.targetId, entry.label);
    }
  }
  return { ...(name === "" ? {} : { name }), archived, labels };
}

/** The labels of the entries on the branch that ends at the position `leaf`. */
export function labelsOnBranch(
  labels: ReadonlyMap<string, string>,
  entries: EntryIndex,
  leaf: number,
): Map<string, string> {
  return new Map([...labels].filter(([id]) => entries.isOnPath(entries.positionOf(id), leaf)));
}

/** A title made from content: one line, cut between graphemes. */
export function deriveLabel(text: string): string {
  return excerptOf(text, MAX_DERIVED_LABEL_LENGTH);
}
