import { StoreError } from "../errors";
import { type Entry } from "../format/schema";
import { type EntryIndex } from "../log/entry-index";

export interface PageOptions {
  /** Only entries after this one. */
  after?: string;
  /** Only entries before this one. */
  before?: string;
  /** At most so many entries, 1 to 1000; 200 by default. */
  limit?: number;
  /** At most so many bytes of records, but at least one record; 4 MiB by default. */
  maxBytes?: number;
  /** `backward` begins at the end and gives the newest first. */
  direction?: "forward" | "backward";
}

export interface Page {
  entries: Entry[];
  /** The last entry of the page, for `after` (or `before` when going backward) of the next one; null at the end. */
  next: string | null;
}

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 1000;
const DEFAULT_MAX_BYTES = 4 * 1_048_576;

/** The positions of one page, in the order asked for, and whether more follow. */
export function pagePositions(entries: EntryIndex, options: PageOptions): { positions: number[]; more: boolean } {
  const limit = options.limit ?? DEFAULT_LIMIT;
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new StoreError("usage", { message: `A page has 1 to ${MAX_LIMIT} entries.` });
  }
  if (!(maxBytes > 0)) throw new StoreError("usage", { message: "A page has room for more than 0 bytes." });
  const first = options.after === undefined ? 0 : known(entries, options.after) + 1;
  const end = options.before === undefined ? entries.count : known(entries, options.before);
  const backward = options.direction === "backward";
  const step = backward ? -1 : 1;
  const positions: number[] = [];
  let bytes = 0;
  let at = backward ? end - 1 : first;
  for (; at >= first && at < end && positions.length < limit; at += step) {
    bytes += entries.lengthOf(at) + 1;
    if (bytes > maxBytes && positions.length > 0) break;
    positions.push(at);
  }
  return { positions, more: at >= first && at < end };
}

function known(entries: EntryIndex, id: string): number {
  const position = entries.positionOf(id);
  if (position === -1) throw new StoreError("entry-not-found");
  return position;
}
