import { textOf, type Library, type Session } from "@persyk/store";
import { withSession } from "./store";

/** One end of the tree of entries. */
export interface Branch {
  leaf: string;
  timestamp: string;
  /** The last words on it. */
  text: string;
  messages: number;
  current: boolean;
}

const PAGE = 256;
/** More ends than this are not told apart by reading them. */
export const MAX_BRANCHES = 50;

/** The ends of a session's tree with a history of their own, newest first. */
export function loadBranches(library: Library, location: string, signal?: AbortSignal): Promise<Branch[]> {
  return withSession(library, location, async (session) => {
    const branches: Branch[] = [];
    const seen = new Set<string>();
    for (const { id, timestamp } of (await leaves(session)).slice(0, MAX_BRANCHES)) {
      signal?.throwIfAborted();
      const history = await session.history(id);
      const current = id === session.leaf;
      // Metadata and evidence make ends too; what matters is a history that no newer end has.
      const last = history.at(-1);
      const key = last?.id ?? "";
      if (!current && (last === undefined || seen.has(key))) continue;
      seen.add(key);
      branches.push({
        leaf: id,
        timestamp,
        text: last === undefined ? "" : textOf(last),
        messages: history.length,
        current,
      });
    }
    return branches;
  });
}

async function leaves(session: Session): Promise<{ id: string; timestamp: string }[]> {
  const ends = new Map<string, string>();
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<Session["entries"]>> = await session.entries({
      limit: PAGE,
      ...(after === null ? {} : { after }),
    });
    for (const { id, parentId, timestamp } of page.entries) {
      if (parentId !== null) ends.delete(parentId);
      ends.set(id, timestamp);
    }
    after = page.next;
  } while (after !== null);
  return [...ends].map(([id, timestamp]) => ({ id, timestamp })).reverse();
}
