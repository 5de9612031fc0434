import { isDeepStrictEqual } from "node:util";
import { type Entry } from "../format/schema";

/**
 * Whether a committed entry is what a retry asks for. Members that the caller left to the store are not compared: it
 * would fill them anew each time.
 */
export function isSameContent(
  committed: Entry,
  wanted: Entry,
  filledIn: ReadonlySet<"parentId" | "timestamp">,
): boolean {
  const asked = {
    ...wanted,
    ...(filledIn.has("parentId") ? { parentId: committed.parentId } : {}),
    ...(filledIn.has("timestamp") ? { timestamp: committed.timestamp } : {}),
  };
  return isDeepStrictEqual(plain(committed), plain(asked));
}

/** The JSON value as a reader gets it: without undefined members, whatever class or realm the objects come from. */
function plain(entry: Entry): unknown {
  const parsed: unknown = JSON.parse(JSON.stringify(entry));
  return parsed;
}
