import path from "node:path";
import { realpath, lstat } from "node:fs/promises";
import { StoreError } from "../errors";
import { isId } from "../format/ids";
import { createSession } from "../session/create";
import { type StoreContext, defaultStoreContext } from "../session/store-context";
import { deleteSession } from "../session/delete";
import { LOG_NAME } from "../session/log-name";
import { type OpenSessionOptions, openSession, type Session } from "../session/session";
import { decodeCursor, encodeCursor, isAfter } from "./cursor";
import {
  discoverCandidates,
  errnoOf,
  HeaderMemory,
  examine,
  identityOf,
  newestFirst,
  reportDuplicates,
  Slicer,
  type DiscoveredSession,
  type Discovery,
} from "./discover";
import { QuickReader } from "./quick-read";
import { defaultWriteRoot, type LibraryRoots, type RootSetting } from "./roots";
import { summarize } from "./summary";
import { findLast, type LastTranscript } from "./last";
import { makeFolder } from "./make-folder";
import { searchSessions } from "./search/search";
import { WarmMemory } from "./search/warm";
import { type LibraryDiagnostic, type ListPage, type SearchHit, type SearchPage, type SessionSummary } from "./types";

export interface LibraryOptions {
  /** `sessions.directory`: an absolute path, or a setting that says whether it was chosen; the default root when absent. */
  writeRoot?: RootSetting | string;
  /** `sessions.additionalDirectories`: further absolute discovery roots. */
  additional?: readonly string[];
  /** Clock, ids, locks and files; the real ones when absent. */
  ctx?: StoreContext;
}

export interface PageOptions {
  /** At most so many results; 50 when absent. */
  limit?: number;
  /** The cursor of an earlier page. */
  cursor?: string | null;
  signal?: AbortSignal;
}

export interface ListOptions extends PageOptions {
  /** Sessions of the page read so far, of all of the page. */
  onProgress?: (done: number, total: number) => void;
}

export interface SearchStreamOptions {
  /** The cursor of an earlier page. */
  cursor?: string | null;
  signal?: AbortSignal;
  /** Called for everything that is wrong beside the hits. */
  onDiagnostic?: (diagnostic: LibraryDiagnostic) => void;
  /** Sessions looked at so far, of all. */
  onProgress?: (done: number, total: number) => void;
  /** Only sessions for which this is true are searched. */
  filter?: (session: DiscoveredSession) => boolean;
}

export interface SearchOptions extends Omit<SearchStreamOptions, "onDiagnostic"> {
  /** At most so many hits; 50 when absent. */
  limit?: number;
}

const DEFAULT_LIMIT = 50;

/**
 * All sessions of some roots (Session file format, Roots and search). It keeps no catalog: every answer comes from the
 * files as they are.
 */
export class Library {
  readonly roots: LibraryRoots;
  readonly #ctx: StoreContext;
  readonly #memory = new WarmMemory();
  readonly #headers = new HeaderMemory();

  constructor(options: LibraryOptions = {}) {
    const { writeRoot = defaultWriteRoot(), additional = [] } = options;
    const chosen = typeof writeRoot === "string" ? { path: writeRoot, explicit: true } : writeRoot;
    for (const folder of [chosen.path, ...additional]) {
      if (!path.isAbsolute(folder)) throw new StoreError("usage", { message: "Session roots are absolute paths." });
    }
    this.roots = { writeRoot: chosen, additional: [...additional] };
    this.#ctx = options.ctx ?? defaultStoreContext();
  }

  /** The write root when none is set: `Documents/persyk/sessions`, or `Documents/persyk-dev/sessions` in development. */
  static defaultRoot(options: { home?: string; development?: boolean } = {}): RootSetting {
    return defaultWriteRoot(options);
  }

  /** Creates a session in the write root, which is made when it is missing. */
  async create(options: { id?: string; signal?: AbortSignal } = {}): Promise<Session> {
    options.signal?.throwIfAborted();
    await makeFolder(this.roots.writeRoot.path);
    return createSession(this.roots.writeRoot.path, this.#ctx, options);
  }

  /** Opens a session by its location or by its id, when one location only holds it. Never writes. */
  async open(idOrLocation: string, options: OpenSessionOptions = {}): Promise<Session> {
    return openSession(await this.locate(idOrLocation, options), this.#ctx, options);
  }

  /** The canonical location of a session given by its location or by its id. */
  async locate(idOrLocation: string, options: { signal?: AbortSignal } = {}): Promise<string> {
    if (path.isAbsolute(idOrLocation)) return locationOf(idOrLocation);
    if (!isId(idOrLocation)) {
      throw new StoreError("usage", { message: "That is neither the location nor the id of a session." });
    }
    const { sessions } = await this.discover(options.signal);
    const same = sessions.filter((session) => session.id === idOrLocation);
    const [only] = same;
    if (only === undefined) throw new StoreError("not-found", { sessionId: idOrLocation });
    if (same.length > 1) throw new StoreError("ambiguous", { sessionId: idOrLocation });
    return only.location;
  }

  /** One page of all sessions, newest first, with what is wrong beside them. */
  async list(options: ListOptions = {}): Promise<ListPage> {
    const { limit = DEFAULT_LIMIT, cursor = null, signal, onProgress } = options;
    const { sessions, diagnostics } = await this.discover(signal);
    const position = cursor === null ? null : decodeCursor(cursor);
    const rest = position === null ? sessions : sessions.filter((session) => isAfter(session, position));
    const page = rest.slice(0, limit);
    const summaries: SessionSummary[] = [];
    const quick = new QuickReader();
    const slicer = new Slicer(signal);
    for (const found of page) {
      if (slicer.due) {
        onProgress?.(summaries.length, page.length);
        await slicer.turn();
      }
      summaries.push(await summarize(found, this.#ctx, quick, diagnostics, signal));
    }
    const last = page.at(-1);
    return {
      sessions: summaries,
      diagnostics,
      cursor: last === undefined || page.length === rest.length ? null : encodeCursor(last),
    };
  }

  /**
   * Hits as they are found, newest session first: a case-insensitive literal substring of the display label, of entry
   * labels, or of surviving canonical or custom-message text of the default branch (docs/search.md). Ends early when the
   * consumer stops. Memory does not grow with the number of sessions or hits.
   *
   * @example
   * for await (const hit of library.searchStream("budget")) console.log(hit.createdAt, hit.excerpt);
   */
  async *searchStream(text: string, options: SearchStreamOptions = {}): AsyncGenerator<SearchHit, void, undefined> {
    const { cursor = null, signal, onDiagnostic = () => undefined, onProgress, filter } = options;
    const after = cursor === null ? null : decodeCursor(cursor);
    const { sessions, diagnostics } = await this.discover(signal);
    diagnostics.forEach(onDiagnostic);
    yield* searchSessions({
      sessions: filter === undefined ? sessions : sessions.filter(filter),
      needle: text,
      ctx: this.#ctx,
      memory: this.#memory,
      after,
      report: onDiagnostic,
      ...(onProgress === undefined ? {} : { onProgress }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /**
   * One page of hits, newest session first. The cursor is null when all sessions were searched; otherwise the next page
   * goes on after the last hit, and may be empty.
   */
  async search(text: string, options: SearchOptions = {}): Promise<SearchPage> {
    const { limit = DEFAULT_LIMIT, ...rest } = options;
    const hits: SearchHit[] = [];
    const diagnostics: LibraryDiagnostic[] = [];
    let cursor: string | null = null;
    const onDiagnostic = (diagnostic: LibraryDiagnostic): void => void diagnostics.push(diagnostic);
    for await (const hit of this.searchStream(text, { ...rest, onDiagnostic })) {
      hits.push(hit);
      if (hits.length === limit) {
        cursor = encodeCursor({ createdMs: Date.parse(hit.createdAt), location: hit.location });
        break;
      }
    }
    return { hits, diagnostics, cursor };
  }

  /**
   * Opens what a hit pinned: the same file, and its leaf still in it, whatever was appended since. Another file in its
   * place is refused.
   */
  async openHit(hit: Pick<SearchHit, "location" | "identity" | "leaf">): Promise<Session> {
    const { location, identity, leaf } = hit;
    const candidate = examine(location, []);
    if (candidate === null) throw new StoreError("location-gone", { location });
    if (identityOf(candidate.revision) !== identity) throw new StoreError("handle-revoked", { location });
    const session = await openSession(location, this.#ctx);
    try {
      if (leaf !== null) await session.entry(leaf);
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** The newest transcript: of the session whose last surviving canonical message is the newest. The caller closes it. */
  async last(
    options: { signal?: AbortSignal; onDiagnostic?: (diagnostic: LibraryDiagnostic) => void } = {},
  ): Promise<LastTranscript | null> {
    const { signal, onDiagnostic = () => undefined } = options;
    const { sessions, diagnostics } = await discoverCandidates(this.roots, signal);
    diagnostics.forEach(onDiagnostic);
    return findLast(sessions, this.#ctx, onDiagnostic, signal);
  }

  /** Deletes a whole session; it has to be confirmed. */
  async delete(idOrLocation: string, options: { confirmed: true; signal?: AbortSignal }): Promise<void> {
    await deleteSession(await this.locate(idOrLocation, options), this.#ctx, options);
  }

  /** Every session of the roots with its header, newest first. */
  async discover(signal?: AbortSignal): Promise<Discovery<DiscoveredSession>> {
    const { sessions: candidates, diagnostics } = await discoverCandidates(this.roots, signal);
    const slicer = new Slicer(signal);
    const sessions: DiscoveredSession[] = [];
    for (const candidate of candidates) {
      if (slicer.due) await slicer.turn();
      sessions.push(this.#headers.read(candidate, diagnostics));
    }
    sessions.sort(newestFirst);
    reportDuplicates(sessions, diagnostics);
    return { sessions, diagnostics };
  }
}

/** The session folder that a path means: the folder itself, or the one of a named log. */
async function locationOf(given: string): Promise<string> {
  const folder = path.basename(given) === LOG_NAME ? path.dirname(given) : given;
  try {
    const canonical = await realpath(folder);
    await lstat(path.join(canonical, LOG_NAME));
    return canonical;
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") throw new StoreError("not-found", { location: given, cause: error });
    throw new StoreError(code === "EACCES" || code === "EPERM" ? "access-denied" : "io-error", {
      location: given,
      cause: error,
    });
  }
}
