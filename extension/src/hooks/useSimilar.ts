import { useEffect, useRef } from "react";
import { usePromise } from "@raycast/utils";
import { type Library } from "@persyk/store";
import { showProblem } from "../lib/mend";
import { problemOf } from "../lib/problems";
import { type Row } from "../lib/rows";
import { newestRows, similarRows } from "../lib/similar";

interface TitleLoad {
  library: Library;
  controller: AbortController;
  rows: Promise<Row[]>;
}

/** Rows whose title is like the text, once the literal search has found few. They never take the place of a hit. */
export function useSimilar(library: Library, text: string, options: { execute: boolean; hits: readonly Row[] }): Row[] {
  const load = useRef<TitleLoad | null>(null);
  useEffect(
    () => () => {
      load.current?.controller.abort();
      load.current = null;
    },
    [library],
  );
  const { data } = usePromise(
    async (needle: string) => ({ needle, rows: similarRows(needle, await titles(load, library)) }),
    [text],
    {
      execute: options.execute && text !== "",
      onError: (error) => void showProblem(problemOf(error)),
    },
  );
  if (data === undefined || data.needle !== text || !options.execute) return [];
  const shown = new Set(options.hits.map((row) => row.key));
  return data.rows.filter((row) => !shown.has(row.key));
}

/** The titles are read once for all that is typed: the next letter ends its comparison, never the reading. */
async function titles(load: { current: TitleLoad | null }, library: Library): Promise<Row[]> {
  if (load.current?.library !== library) {
    const controller = new AbortController();
    load.current = { library, controller, rows: newestRows(library, controller.signal) };
  }
  const begun = load.current;
  try {
    return await begun.rows;
  } catch (error) {
    if (load.current === begun) load.current = null;
    throw error;
  }
}
