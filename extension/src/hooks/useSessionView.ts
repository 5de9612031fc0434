import { useRef } from "react";
import { usePromise } from "@raycast/utils";
import { type Library } from "@persyk/store";
import { loadSession, type SessionView } from "../lib/transcript";

export interface LoadedSession {
  view: SessionView | undefined;
  isLoading: boolean;
  error: Error | undefined;
  revalidate: () => void;
}

/** One session, read when it is selected or opened. An empty location reads nothing. */
export function useSessionView(
  library: Library,
  location: string,
  options: { leaf?: string | null | undefined; picture?: boolean } = {},
): LoadedSession {
  const abortable = useRef<AbortController | null>(null);
  const { leaf, picture = false } = options;
  const { data, isLoading, error, revalidate } = usePromise(
    (wanted: string, at: string | null | undefined, drawn: boolean) =>
      loadSession(library, wanted, { leaf: at, picture: drawn, signal: abortable.current?.signal }),
    [location, leaf, picture],
    { abortable, execute: location !== "", onError: () => undefined },
  );
  return { view: data, isLoading, error, revalidate: () => void revalidate() };
}
