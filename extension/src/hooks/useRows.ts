import { useRef, useState } from "react";
import { usePromise } from "@raycast/utils";
import { type Library, type LibraryDiagnostic } from "@persyk/store";
import { loadRows, type Filter, type Row } from "../lib/rows";

export const PAGE_SIZE = 30;

export interface Rows {
  rows: Row[];
  /** What is wrong with the folders themselves. */
  diagnostics: LibraryDiagnostic[];
  isLoading: boolean;
  error: Error | undefined;
  pagination: { pageSize: number; hasMore: boolean; onLoadMore: () => void } | undefined;
  revalidate: () => void;
}

/**
 * The pages of the list. A new search text cancels the search before it, and the old rows stay until the new ones are
 * there, so that typing never empties the list.
 */
export function useRows(library: Library, text: string, filter: Filter): Rows {
  const abortable = useRef<AbortController | null>(null);
  const [diagnostics, setDiagnostics] = useState<LibraryDiagnostic[]>([]);
  const { data, isLoading, error, pagination, revalidate } = usePromise(
    (needle: string, kept: Filter) => async (page: { page: number; cursor?: string }) => {
      if (kept === "agent") return { data: [], hasMore: false };
      const loaded = await loadRows(library, {
        text: needle,
        filter: kept,
        cursor: page.page === 0 ? null : (page.cursor ?? null),
        limit: PAGE_SIZE,
        signal: abortable.current?.signal,
      });
      if (page.page === 0) setDiagnostics(loaded.diagnostics);
      return {
        data: loaded.rows,
        hasMore: loaded.cursor !== null,
        ...(loaded.cursor === null ? {} : { cursor: loaded.cursor }),
      };
    },
    [text, filter],
    // The list shows the failure itself, with what mends it.
    { abortable, onError: () => undefined },
  );
  return { rows: data ?? [], diagnostics, isLoading, error, pagination, revalidate: () => void revalidate() };
}
