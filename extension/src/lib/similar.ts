import Fuse from "fuse.js";
import { type Library } from "@persyk/store";
import { loadRows, type Row } from "./rows";

/** Titles are compared only when the literal search found fewer sessions than this. */
export const FEW_HITS = 5;
/** The newest sessions whose titles are compared: reading every title of a large library is not worth a guess. */
const NEWEST = 500;
const PAGE = 50;
const MAX_SIMILAR = 10;
/** 0 is a perfect match, 1 matches anything. */
const THRESHOLD = 0.4;

/** The rows with a title like the text, best first. */
export function similarRows(text: string, rows: readonly Row[]): Row[] {
  const fuse = new Fuse(rows, {
    keys: ["title"],
    threshold: THRESHOLD,
    ignoreLocation: true,
    ignoreDiacritics: true,
  });
  return fuse.search(text, { limit: MAX_SIMILAR }).map(({ item }) => item);
}

/** The rows of the newest sessions. */
export async function newestRows(library: Library, signal: AbortSignal): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | null = null;
  do {
    const page = await loadRows(library, { text: "", filter: "all", cursor, limit: PAGE, signal });
    rows.push(...page.rows);
    cursor = page.cursor;
  } while (cursor !== null && rows.length < NEWEST);
  return rows;
}
