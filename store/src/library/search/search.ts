import { isStoreError, StoreError, toErrorDocument } from "../../errors";
import { type StoreContext } from "../../session/store-context";
import { isAfter, type Position } from "../cursor";
import { errnoOf, identityOf, Slicer, type DiscoveredSession } from "../discover";
import { QuickReader } from "../quick-read";
import { type LibraryDiagnostic, type SearchHit } from "../types";
import { fold, hasLoneSurrogate } from "./fold";
import { createPrefilter } from "./prefilter";
import { ByteScanner } from "./scan-bytes";
import { fromQuickLog, withSearchable } from "./search-session";
import { matchSession, type SearchableSession } from "./searchable";
import { type WarmMemory } from "./warm";

const MAX_NEEDLE_UNITS = 4096;

export interface SearchRun {
  /** Newest first. */
  sessions: readonly DiscoveredSession[];
  needle: string;
  ctx: StoreContext;
  memory: WarmMemory;
  /** Only sessions after this position. */
  after: Position | null;
  report: (diagnostic: LibraryDiagnostic) => void;
  /** Sessions looked at so far, of all. */
  onProgress?: (done: number, total: number) => void;
  signal?: AbortSignal;
}

/** Hits newest session first, each as soon as it is known. One session is read at a time. */
export async function* searchSessions(run: SearchRun): AsyncGenerator<SearchHit, void, undefined> {
  const { sessions, after, onProgress, signal } = run;
  const foldedNeedle = foldNeedle(run.needle);
  if (foldedNeedle === null) return;
  const search = new NeedleSearch(foldedNeedle, run);
  let done = 0;
  for (const session of sessions) {
    done += 1;
    if (after !== null && !isAfter(session, after)) continue;
    if (search.slicer.due) {
      onProgress?.(done, sessions.length);
      await search.slicer.turn();
    }
    if (run.memory.lacks(session, foldedNeedle)) continue;
    const hit = await search.one(session);
    if (hit !== null) yield hit;
  }
  signal?.throwIfAborted();
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

class NeedleSearch {
  readonly slicer: Slicer;
  readonly #foldedNeedle: string;
  readonly #scanner: ByteScanner;
  readonly #run: SearchRun;
  readonly #quick = new QuickReader();

  constructor(foldedNeedle: string, run: SearchRun) {
    this.#foldedNeedle = foldedNeedle;
    this.#scanner = new ByteScanner(createPrefilter(foldedNeedle));
    this.#run = run;
    this.slicer = new Slicer(run.signal);
  }

  /** Searches one session. What is wrong with it is reported, and hides no other. */
  async one(session: DiscoveredSession): Promise<SearchHit | null> {
    const { ctx, memory, report, signal } = this.#run;
    try {
      const bytes = session.id === null ? null : this.#quick.bytes(session);
      const match = (text: SearchableSession): Promise<SearchHit | null> =>
        matchSession(text, this.#foldedNeedle, identityOf(session.revision));
      if (!(await this.#mayHold(session, bytes))) {
        memory.rememberMiss(session, this.#foldedNeedle);
        return null;
      }
      const log = bytes === null ? null : this.#quick.parse(bytes);
      const hit =
        log === null
          ? await withSearchable(session, ctx, report, signal, match)
          : await match(fromQuickLog(session.location, log));
      // A log that was not searched is reported again the next time.
      if (hit === null && log !== null) memory.rememberMiss(session, this.#foldedNeedle);
      return hit;
    } catch (error) {
      signal?.throwIfAborted();
      const { code, message } = isStoreError(error)
        ? toErrorDocument(error)
        : { code: "session-unreadable", message: `The session's log cannot be read (${errnoOf(error)}).` };
      report({ code, message, location: session.location, ...(session.id === null ? {} : { sessionId: session.id }) });
      return null;
    }
  }

  /** Looks at the bytes of a log: at those that were read, or else piece by piece. */
  async #mayHold(session: DiscoveredSession, bytes: Buffer | null): Promise<boolean> {
    return bytes === null ? this.#scanner.mayHold(session.logPath, this.slicer) : this.#scanner.holds(bytes);
  }
}
