/**
 * Agent sessions for a search view: a read-only look at event-log roots, whatever their encoding. One log is in memory
 * at a time, of it one batch of events; what was found out about a log is kept for as long as the log is the same.
 */
import path from "node:path";
import { isStoreError, StoreError } from "../errors";
import { asStoreError } from "../platform/errno";
import { listLogs, problemOf, type HeaderCache, type LogEntry, type LogProblem } from "./discovery";
import { at } from "./errors";
import { openLog, withLog } from "./log-file";
import { messageTextOf, titleOf, type MessageRole } from "./message-text";
import { logName } from "./paths";
import { DEFAULT_LIMITS } from "./plaintext";
import { scanLog } from "./scan-log";
import { type Compression, type LogEvent } from "./types";

export interface AgentSession {
  readonly id: string;
  /** The session's folder. */
  readonly location: string;
  readonly root: string;
  readonly title: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** Time of the newest event, ISO 8601, UTC. */
  readonly lastActivityAt: string;
  /** User and assistant messages with text. */
  readonly messages: number;
  /** The project directory, where the session has one. */
  readonly cwd: string | null;
}

export interface AgentSessionList {
  /** The session with the newest activity first. */
  readonly sessions: readonly AgentSession[];
  readonly problems: readonly LogProblem[];
}

export interface AgentSessionMatch {
  readonly seq: number;
  readonly role: MessageRole | "title";
  readonly excerpt: string;
  /** Ranges of the excerpt, in UTF-16 units. */
  readonly matches: readonly { readonly start: number; readonly end: number }[];
}

export interface AgentSessionHit extends AgentSessionMatch {
  readonly session: AgentSession;
}

export interface AgentSearchResult {
  readonly hits: readonly AgentSessionHit[];
  readonly problems: readonly LogProblem[];
}

export interface AgentMessage {
  readonly seq: number;
  readonly role: MessageRole;
  readonly text: string;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
}

const UNTITLED = "Untitled session";
const MAX_TITLE_UNITS = 80;
const EXCERPT_BEFORE = 60;
const EXCERPT_AFTER = 140;
/** Logs whose summary is kept; one takes a few hundred bytes. */
const MAX_KEPT = 20_000;

const headers: Record<Compression, HeaderCache> = { zstd: new Map(), none: new Map() };
const summaries = new Map<string, Summary>();

/** What was found out about a log, and what kept it from being read to its end. */
interface Summary {
  readonly revision: string;
  readonly session: AgentSession;
  readonly problem: LogProblem | undefined;
}

interface FoundLog {
  readonly root: string;
  readonly entry: LogEntry;
  readonly compression: Compression;
}

/** Every agent session of the roots, the last active first. A root that is not there is no problem. */
export async function listAgentSessions(
  roots: readonly string[],
  options: { signal?: AbortSignal } = {},
): Promise<AgentSessionList> {
  const problems: LogProblem[] = [];
  const sessions: AgentSession[] = [];
  for (const log of await findAll(roots, problems, options.signal)) {
    const session = await examine(log, problems, options.signal);
    if (session !== undefined) sessions.push(session);
  }
  sessions.sort((a, b) => compareText(b.lastActivityAt, a.lastActivityAt) || compareText(a.id, b.id));
  return { sessions, problems };
}

/**
 * Case-insensitive literal search over titles and messages: one hit a session, its first match, the last active session
 * first. Stops reading at `limit` hits.
 */
export async function searchAgentSessions(
  roots: readonly string[],
  text: string,
  options: { signal?: AbortSignal; limit?: number } = {},
): Promise<AgentSearchResult> {
  const { signal, limit = 50 } = options;
  const { sessions, problems } = await listAgentSessions(roots, signal === undefined ? {} : { signal });
  const hits: AgentSessionHit[] = [];
  const found: LogProblem[] = [...problems];
  const find = finder(text);
  for (const session of text === "" ? [] : sessions) {
    if (hits.length >= limit) break;
    const match = await firstMatch(session, find, found, signal);
    if (match !== undefined) hits.push({ session, ...match });
  }
  return { hits, problems: found };
}

/** The transcript of an agent session, from the folder that a listing gave. Bounded: the newest `limit` messages. */
export async function readAgentSession(
  session: Pick<AgentSession, "root" | "location">,
  options: { signal?: AbortSignal; limit?: number } = {},
): Promise<{ messages: AgentMessage[]; omitted: number }> {
  const { limit = 1000, signal } = options;
  const messages: AgentMessage[] = [];
  let omitted = 0;
  for await (const event of eventsOf(await logIn(session.location), signal)) {
    const message = messageTextOf(event);
    if (message === undefined) continue;
    messages.push({ seq: message.seq, role: message.role, text: message.text, timestamp: isoOf(message.time) });
    if (messages.length <= limit) continue;
    messages.shift();
    omitted += 1;
  }
  return { messages, omitted };
}

async function findAll(
  roots: readonly string[],
  problems: LogProblem[],
  signal: AbortSignal | undefined,
): Promise<FoundLog[]> {
  const logs: FoundLog[] = [];
  const seen = new Set<string>();
  for (const given of roots) {
    const root = path.resolve(given);
    if (seen.has(root)) continue;
    seen.add(root);
    for (const compression of ["zstd", "none"] as const) {
      try {
        const listing = await listLogs({ root, compression }, headers[compression], signal);
        for (const entry of listing.sessions) logs.push({ root, entry, compression });
        for (const problem of listing.problems) if (isOwn(problem, compression)) problems.push(problem);
      } catch (error) {
        signal?.throwIfAborted();
        if (compression === "zstd")
          problems.push(problemOf(asStoreError(error, { location: root }, "list the root"), root));
      }
    }
  }
  return logs;
}

/** Both encodings are looked for in turn, so a log of the other one is no problem, and others are told of once. */
function isOwn(problem: LogProblem, compression: Compression): boolean {
  if (problem.code === "event-log-encoding-mismatch") return false;
  return (
    problem.path.endsWith(logName(compression)) || (compression === "zstd" && !problem.path.endsWith("/session.jsonl"))
  );
}

async function examine(
  { root, entry, compression }: FoundLog,
  problems: LogProblem[],
  signal: AbortSignal | undefined,
): Promise<AgentSession | undefined> {
  const known = summaries.get(entry.path);
  if (known?.revision === entry.revision) {
    if (known.problem !== undefined) problems.push(known.problem);
    return known.session;
  }
  if (entry.header.version !== 0) return undefined;
  let title: string | undefined;
  let opening: string | undefined;
  let messages = 0;
  let lastTime = entry.header.createdAt;
  let problem: LogProblem | undefined;
  try {
    for await (const event of eventsOf({ path: entry.path, compression }, signal)) {
      title = titleOf(event) ?? title;
      const message = messageTextOf(event);
      if (message !== undefined) {
        messages += 1;
        if (message.role === "user") opening ??= message.text;
      }
      lastTime = Math.max(lastTime, event.time);
    }
  } catch (error) {
    signal?.throwIfAborted();
    problem = { ...problemOf(error, entry.path), sessionId: entry.header.id };
    problems.push(problem);
  }
  const session: AgentSession = {
    id: entry.header.id,
    location: path.dirname(entry.path),
    root,
    title: shorten(title ?? opening ?? UNTITLED),
    createdAt: isoOf(entry.header.createdAt),
    lastActivityAt: isoOf(lastTime),
    messages,
    cwd: entry.header.cwd ?? null,
  };
  remember(entry, { revision: entry.revision, session, problem });
  return session;
}

function remember(entry: LogEntry, summary: Summary): void {
  summaries.delete(entry.path);
  summaries.set(entry.path, summary);
  for (const oldest of summaries.keys()) {
    if (summaries.size <= MAX_KEPT) break;
    summaries.delete(oldest);
  }
}

/** Everything that can be read of a log, without any recovery: a reader never changes what it looks at. */
async function* eventsOf(
  { path: log, compression }: { path: string; compression: Compression },
  signal: AbortSignal | undefined,
): AsyncGenerator<LogEvent, void> {
  const { file, stats } = await openLog(log);
  try {
    const source = { file, size: Number(stats.size), compression, limits: DEFAULT_LIMITS };
    const scan = scanLog(source, { onHeader: () => undefined, freeze: false, signal });
    for await (const batch of scan) yield* batch;
  } catch (error) {
    signal?.throwIfAborted();
    throw at(asStoreError(error, { location: log }, "read the log"), log);
  } finally {
    await file.close();
  }
}

async function logIn(location: string): Promise<{ path: string; compression: Compression }> {
  for (const compression of ["zstd", "none"] as const) {
    const log = path.join(location, logName(compression));
    try {
      await withLog(log, async () => undefined);
      return { path: log, compression };
    } catch (error) {
      if (!isStoreError(error, "location-gone")) throw error;
    }
  }
  throw new StoreError("not-found", { location });
}

type Find = (text: string) => { start: number; end: number }[];

/** All places where a text contains the wanted one, whatever the case; the ranges are of the text as it is. */
function finder(wanted: string): Find {
  const pattern = new RegExp(wanted.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "giu");
  return (text) => Array.from(text.matchAll(pattern), (hit) => ({ start: hit.index, end: hit.index + hit[0].length }));
}

async function firstMatch(
  session: AgentSession,
  find: Find,
  problems: LogProblem[],
  signal: AbortSignal | undefined,
): Promise<AgentSessionMatch | undefined> {
  if (find(session.title).length > 0) return { seq: 0, role: "title", ...excerptOf(session.title, find) };
  try {
    for await (const event of eventsOf(await logIn(session.location), signal)) {
      const message = messageTextOf(event);
      if (message !== undefined && find(message.text).length > 0) {
        return { seq: message.seq, role: message.role, ...excerptOf(message.text, find) };
      }
    }
  } catch (error) {
    signal?.throwIfAborted();
    // The listing has told of a log that cannot be read; what comes new is one that changed since.
    if (!problems.some((problem) => problem.path.startsWith(session.location))) {
      const failure = asStoreError(error, { location: session.location }, "search the log");
      problems.push(problemOf(failure, session.location));
    }
  }
  return undefined;
}

function excerptOf(text: string, find: Find): Pick<AgentSessionMatch, "excerpt" | "matches"> {
  const flat = text.replace(/\s/gu, " ");
  const [first] = find(flat);
  const at = first?.start ?? 0;
  const from = whole(flat, Math.max(0, at - EXCERPT_BEFORE));
  const to = whole(flat, Math.min(flat.length, (first?.end ?? 0) + EXCERPT_AFTER));
  const excerpt = `${from > 0 ? "…" : ""}${flat.slice(from, to)}${to < flat.length ? "…" : ""}`;
  return { excerpt, matches: find(excerpt) };
}

/** Never cuts between the two units of a character. */
function whole(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff && index > 0 ? index - 1 : index;
}

function shorten(text: string): string {
  const flat = text.replace(/\s+/gu, " ").trim();
  if (flat.length <= MAX_TITLE_UNITS) return flat === "" ? UNTITLED : flat;
  return `${flat.slice(0, whole(flat, MAX_TITLE_UNITS - 1)).trimEnd()}…`;
}

function isoOf(epochMs: number): string {
  const limited = Math.min(8.64e15, Math.max(-8.64e15, epochMs));
  return new Date(limited).toISOString();
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
