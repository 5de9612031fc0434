import { useRef } from "react";
import { usePromise } from "@raycast/utils";
import {
  listAgentSessions,
  searchAgentSessions,
  type AgentSession,
  type AgentSessionHit,
  type LogProblem,
} from "@persyk/store";

/** More than this is not shown at once: a narrower search finds the rest. */
const MAX_SHOWN = 200;

export interface AgentRow {
  session: AgentSession;
  match: Omit<AgentSessionHit, "session"> | null;
}

export interface AgentSessions {
  rows: AgentRow[];
  problems: readonly LogProblem[];
  isLoading: boolean;
  error: Error | undefined;
}

/** The agents' sessions of the given roots, the last active first; with text, those that hold it. */
export function useAgentSessions(roots: readonly string[], text: string, execute: boolean): AgentSessions {
  const abortable = useRef<AbortController | null>(null);
  const { data, isLoading, error } = usePromise(
    async (folders: readonly string[], needle: string): Promise<Pick<AgentSessions, "rows" | "problems">> => {
      const signal = abortable.current?.signal;
      const options = signal === undefined ? {} : { signal };
      if (needle === "") {
        const { sessions, problems } = await listAgentSessions(folders, options);
        return { rows: sessions.slice(0, MAX_SHOWN).map((session) => ({ session, match: null })), problems };
      }
      const { hits, problems } = await searchAgentSessions(folders, needle, { ...options, limit: MAX_SHOWN });
      return { rows: hits.map(({ session, ...match }) => ({ session, match })), problems };
    },
    [roots, text],
    { abortable, execute, onError: () => undefined },
  );
  return { rows: data?.rows ?? [], problems: data?.problems ?? [], isLoading, error };
}
