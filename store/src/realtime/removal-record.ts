import { type EntryInput, isObject, type JsonValue } from "../format/schema";
import { nameOf } from "./fields";

/** The `customType` under which the course of a removal is kept. */
export const REMOVAL_TYPE = "persyk.realtime.removal";

/** Kept before the provider is asked, so that a restart knows what was under way. */
export interface RemovalRecord {
  state: "requested" | "rejected" | "uncertain";
  targetId: string;
  connectionId: string;
  itemId: string;
}

export function removalEntry(record: RemovalRecord): EntryInput {
  return { type: "custom", customType: REMOVAL_TYPE, data: { ...record } };
}

export function readRemovalRecord(data: JsonValue): RemovalRecord | undefined {
  if (!isObject(data)) return undefined;
  const state = nameOf(data, "state");
  const targetId = nameOf(data, "targetId");
  const connectionId = nameOf(data, "connectionId");
  const itemId = nameOf(data, "itemId");
  if (state !== "requested" && state !== "rejected" && state !== "uncertain") return undefined;
  if (targetId === undefined || connectionId === undefined || itemId === undefined) return undefined;
  return { state, targetId, connectionId, itemId };
}
