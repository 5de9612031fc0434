import { isStoreError, StoreError, toErrorDocument } from "../../errors";
import { type StoreContext } from "../../session/store-context";
import { isAfter, type Position } from "../cursor";
import { errnoOf, Slicer, type DiscoveredSession } from "../discover";
import { type LibraryDiagnostic, type SearchHit } from "../types";
import { fold, hasLoneSurrogate } from "./fold";
import { createPrefilter } from "./prefilter";
import { ByteScanner } from "./scan-bytes";
import { searchSession } from "./search-session";

const MAX_NEEDLE_UNITS = 4096;

export interface SearchRun {
  /** Newest first. */
  sessions: readonly DiscoveredSession[];
  needle: string;
  ctx: StoreContext;
  /** Only sessions after this position. */
  after: Position | null;
  report: (diagnostic: LibraryDiagnostic) => void;
  /** Sessions looked at so far, of all. */
  onProgress?: (done: number, total: number) => void;
  signal?: AbortSignal;
}

/** Hits newest session first, each as soon as it is known. One session is held in memory at a time. */
export async function* searchSessions(run: SearchRun): AsyncGenerator<SearchHit, void, undefined> {
  const { sessions, ctx, after, report, onProgress, signal } = run;
  const foldedNeedle = foldNeedle(run.needle);
  if (foldedNeedle === null) return;
  const scanner = new ByteScanner(createPrefilter(foldedNeedle));
  const slicer = new Slicer(signal);
  let done = 0;
  for (const session of sessions) {
    done += 1;
    if (after !== null && !isAfter(session, after)) continue;
    if (slicer.due) {
      onProgress?.(done, sessions.length);
      await slicer.turn();
    }
    const hit = await searchOne(session, foldedNeedle, scanner, slicer, ctx, report, signal);
    if (hit !== null) yield hit;
  }
  onProgress?.(done, sessions.length);
}

/** The folded needle; null when nothing can match it, because session text has no lone surrogates. */
function foldNeedle(needle: string): string | null {
  if (needle === "") throw new StoreError("usage", { message: "There is nothing to search for." });
  if (needle.length > MAX_NEEDLE_UNITS) {
    throw new StoreError("usage", { message: `The text to search for is longer than ${MAX_NEEDLE_UNITS} characters.` });
  }
  return hasLoneSurrogate(needle) ? null : fold(needle);
}

async function searchOne(
  session: DiscoveredSession,
  foldedNeedle: string,
  scanner: ByteScanner,
  slicer: Slicer,
  ctx: StoreContext,
  report: (diagnostic: LibraryDiagnostic) => void,
  signal: AbortSignal | undefined,
): Promise<SearchHit | null> {
  try {
    if (!(await scanner.mayHold(session.logPath, slicer))) return null;
    return await searchSession(session, foldedNeedle, ctx, report, signal);
  } catch (error) {
    signal?.throwIfAborted();
    // One bad session never hides another.
    const { code, message } = isStoreError(error)
      ? toErrorDocument(error)
      : { code: "session-unreadable", message: `The session's log cannot be read (${errnoOf(error)}).` };
    report({ code, message, location: session.location, ...(session.id === null ? {} : { sessionId: session.id }) });
    return null;
  }
}
