import { isStoreError, type Library, type LibraryDiagnostic, type SearchHit, type SessionSummary } from "@persyk/store";
import { sessionTitle } from "./format";
import { withSession } from "./store";
import { unendedSoundMs } from "./unended-sound";

export const filters = [
  { value: "all", title: "All Sessions" },
  { value: "voice", title: "Voice" },
  { value: "archived", title: "Archived" },
  { value: "interrupted", title: "Interrupted" },
  { value: "agent", title: "Agent Sessions" },
] as const;
export type Filter = (typeof filters)[number]["value"];

export function isFilter(value: string): value is Filter {
  return filters.some((filter) => filter.value === value);
}

/** One session in the list. */
export interface Row {
  /** Stable across pages and searches: the location. */
  key: string;
  location: string;
  id: string | null;
  title: string;
  createdAt: string | null;
  archived: boolean;
  interrupted: boolean;
  verdict: SessionSummary["verdict"];
  messages: number;
  recordings: number;
  /** Of all recordings, also those that have not ended. */
  durationMs: number;
  hit: Pick<SearchHit, "excerpt" | "matches" | "leaf" | "identity" | "entryId"> | null;
}

export interface RowPage {
  rows: Row[];
  /** What is wrong with folders, not with one of the rows. */
  diagnostics: LibraryDiagnostic[];
  cursor: string | null;
}

export interface RowQuery {
  text: string;
  filter: Exclude<Filter, "agent">;
  cursor: string | null;
  limit: number;
  signal?: AbortSignal | undefined;
}

/** One page of the list: the newest sessions, or the sessions that hold the text. A page may be short, never wrong. */
export async function loadRows(library: Library, query: RowQuery): Promise<RowPage> {
  const { text, filter, limit } = query;
  const rows: Row[] = [];
  const diagnostics: LibraryDiagnostic[] = [];
  let { cursor } = query;
  do {
    const page = await (text === "" ? listed(library, query, cursor) : found(library, query, cursor));
    rows.push(...page.rows.filter((row) => passes(row, filter)));
    // The roots are looked at again for each page; what is wrong with them is said once.
    if (query.cursor === null && diagnostics.length === 0) diagnostics.push(...page.diagnostics);
    cursor = page.cursor;
  } while (rows.length < limit && cursor !== null);
  return { rows, diagnostics: diagnostics.filter(({ code }) => rootCodes.has(code)), cursor };
}

const rootCodes: ReadonlySet<string> = new Set(["root-missing", "root-unreadable", "duplicate-id"]);

function passes(row: Row, filter: RowQuery["filter"]): boolean {
  switch (filter) {
    case "all":
      return true;
    case "voice":
      return row.recordings > 0;
    case "archived":
      return row.archived;
    case "interrupted":
      return row.interrupted || row.verdict !== "valid";
  }
}

async function listed(library: Library, { limit, signal }: RowQuery, cursor: string | null): Promise<RowPage> {
  const page = await library.list({ limit, cursor, ...(signal === undefined ? {} : { signal }) });
  const rows: Row[] = [];
  for (const summary of page.sessions) {
    signal?.throwIfAborted();
    rows.push(await rowOf(library, summary));
  }
  return { rows, diagnostics: page.diagnostics, cursor: page.cursor };
}

async function rowOf(library: Library, summary: SessionSummary): Promise<Row> {
  const { label, ...rest } = summary;
  const row: Row = { ...rest, key: summary.location, title: sessionTitle(label, summary.createdAt), hit: null };
  if (!row.interrupted) return row;
  try {
    const unendedMs = await withSession(library, row.location, unendedSoundMs);
    return { ...row, durationMs: row.durationMs + unendedMs };
  } catch (error) {
    // The session went away, or changed, since it was listed: what was listed is still what was found.
    if (!isStoreError(error)) throw error;
    return row;
  }
}

async function found(library: Library, query: RowQuery, cursor: string | null): Promise<RowPage> {
  const { text, limit, signal } = query;
  const page = await library.search(text, { limit, cursor, ...(signal === undefined ? {} : { signal }) });
  const rows: Row[] = [];
  for (const hit of page.hits) {
    signal?.throwIfAborted();
    rows.push(await rowOfHit(library, hit));
  }
  return { rows, diagnostics: page.diagnostics, cursor: page.cursor };
}

async function rowOfHit(library: Library, hit: SearchHit): Promise<Row> {
  const { excerpt, matches, leaf, identity, entryId } = hit;
  const row: Row = {
    key: hit.location,
    location: hit.location,
    id: hit.id,
    title: sessionTitle(hit.label, hit.createdAt),
    createdAt: hit.createdAt,
    archived: false,
    interrupted: false,
    verdict: "valid",
    messages: 0,
    recordings: 0,
    durationMs: 0,
    hit: { excerpt, matches, leaf, identity, entryId },
  };
  try {
    return await withSession(library, hit.location, async (session) => {
      const recordings = await session.recordings();
      return {
        ...row,
        archived: (await session.info()).archived,
        interrupted: recordings.some((recording) => recording.state !== "finished"),
        verdict: session.verdict,
        messages: (await session.history()).length,
        recordings: recordings.length,
        durationMs:
          recordings.reduce((sum, recording) => sum + (recording.durationMs ?? 0), 0) + (await unendedSoundMs(session)),
      };
    });
  } catch (error) {
    // The session went away between the search and now: the hit is still what was found.
    if (!isStoreError(error)) throw error;
    return { ...row, verdict: "unreadable" };
  }
}
