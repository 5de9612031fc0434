import { useRef } from "react";
import { usePromise } from "@raycast/utils";
import { type Library } from "@persyk/store";
import { type Row } from "../lib/rows";
import { newestRows, similarRows } from "../lib/similar";

/** Rows whose title is like the text, once the literal search has found few. They never take the place of a hit. */
export function useSimilar(library: Library, text: string, options: { execute: boolean; hits: readonly Row[] }): Row[] {
  const abortable = useRef<AbortController | null>(null);
  const titles = useRef<Promise<Row[]> | null>(null);
  const { data } = usePromise(
    async (needle: string) => {
      const signal = abortable.current?.signal ?? new AbortController().signal;
      titles.current ??= newestRows(library, signal);
      try {
        return { needle, rows: similarRows(needle, await titles.current) };
      } catch (error) {
        titles.current = null;
        throw error;
      }
    },
    [text],
    { abortable, execute: options.execute && text !== "", onError: () => undefined },
  );
  if (data === undefined || data.needle !== text || !options.execute) return [];
  const shown = new Set(options.hits.map((row) => row.key));
  return data.rows.filter((row) => !shown.has(row.key));
}
