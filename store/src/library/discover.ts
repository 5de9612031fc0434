import {
  constants,
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
  lstatSync,
} from "node:fs";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { parseHeader } from "../format/codec";
import { MAX_RECORD_BYTES } from "../format/names";
import { errnoName } from "../platform/errno";
import { LOG_NAME } from "../session/log-name";
import { type LibraryRoots, type RootSetting } from "./roots";
import { type LibraryDiagnostic } from "./types";

/** A direct child of a root that holds a log. */
export interface Candidate {
  /** Canonical absolute path of the session's folder. */
  location: string;
  logPath: string;
  revision: Revision;
}

/** What tells one state of a log from another without reading it. */
export interface Revision {
  dev: number;
  ino: number;
  size: number;
  mtimeMs: number;
  ctimeMs: number;
  birthtimeMs: number;
}

/** Which file this is, whatever was appended to it since. */
export function identityOf({ dev, ino, birthtimeMs }: Revision): string {
  return `${dev}:${ino}:${birthtimeMs}`;
}

/** A candidate with what its first record says. */
export interface DiscoveredSession extends Candidate {
  id: string | null;
  createdAt: string | null;
  /** Epoch milliseconds of `createdAt`; -Infinity without a readable header, so that such sessions come last. */
  createdMs: number;
}

export interface Discovery<T> {
  sessions: T[];
  diagnostics: LibraryDiagnostic[];
}

/**
 * Reading here is synchronous in short slices: a trip through the thread pool for each of ten thousand headers costs
 * more than the reads. Between slices the event loop runs and cancellation is seen.
 */
const SLICE_MS = 8;
const HEADER_READ_BYTES = 512;

/** Gives the event loop a turn when the slice is used up. */
export class Slicer {
  #startMs = performance.now();
  readonly #signal: AbortSignal | undefined;

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
    signal?.throwIfAborted();
  }

  /** True when the current slice is used up and `turn` should be awaited. */
  get due(): boolean {
    return performance.now() - this.#startMs > SLICE_MS;
  }

  async turn(): Promise<void> {
    await setImmediate();
    this.#signal?.throwIfAborted();
    this.#startMs = performance.now();
  }
}

/** The direct children of all roots that hold a log, each canonical location once. */
export async function discoverCandidates(roots: LibraryRoots, signal?: AbortSignal): Promise<Discovery<Candidate>> {
  const diagnostics: LibraryDiagnostic[] = [];
  const found = new Map<string, Candidate>();
  const slicer = new Slicer(signal);
  for (const root of [roots.writeRoot, ...roots.additional.map((folder) => ({ path: folder, explicit: true }))]) {
    const opened = openRoot(root, diagnostics);
    if (opened === null) continue;
    const separator = opened.path.endsWith(path.sep) ? "" : path.sep;
    for (const name of opened.names) {
      if (slicer.due) await slicer.turn();
      const location = opened.path + separator + name;
      if (found.has(location)) continue;
      const candidate = examine(location, diagnostics);
      if (candidate !== null) found.set(location, candidate);
    }
  }
  return { sessions: [...found.values()], diagnostics };
}

function openRoot(root: RootSetting, diagnostics: LibraryDiagnostic[]): { path: string; names: string[] } | null {
  try {
    const canonical = realpathSync(root.path);
    const names: string[] = [];
    for (const child of readdirSync(canonical, { withFileTypes: true })) {
      // Hidden folders are staging areas and other programs' business.
      if (child.name.startsWith(".")) continue;
      if (child.isDirectory() || isUnknownKind(child)) names.push(child.name);
      else if (child.isSymbolicLink()) reportLink(path.join(canonical, child.name), diagnostics);
    }
    return { path: canonical, names };
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" && !root.explicit) return null;
    diagnostics.push(
      code === "ENOENT"
        ? { code: "root-missing", message: "The session root does not exist.", location: root.path }
        : { code: "root-unreadable", message: `The session root cannot be read (${code}).`, location: root.path },
    );
    return null;
  }
}

/** Some network file systems do not tell the kind of a directory entry. */
function isUnknownKind(child: {
  isFile(): boolean;
  isSymbolicLink(): boolean;
  isFIFO(): boolean;
  isSocket(): boolean;
  isBlockDevice(): boolean;
  isCharacterDevice(): boolean;
}): boolean {
  return !(
    child.isFile() ||
    child.isSymbolicLink() ||
    child.isFIFO() ||
    child.isSocket() ||
    child.isBlockDevice() ||
    child.isCharacterDevice()
  );
}

/** A link to a session is not followed: where it leads is not under this root. It is worth a word, not a failure. */
function reportLink(location: string, diagnostics: LibraryDiagnostic[]): void {
  try {
    if (statSync(path.join(location, LOG_NAME), { throwIfNoEntry: false }) === undefined) return;
  } catch (error) {
    const code = errnoOf(error);
    // A circle of links leads to nothing.
    if (code === "ELOOP") return;
    const message = `A symbolic link is not followed, and where it leads cannot be read (${code}).`;
    diagnostics.push({ code: "link-skipped", message, location });
    return;
  }
  diagnostics.push({
    code: "link-skipped",
    message: "A symbolic link to a session is not followed; add the folder it leads to as a root.",
    location,
  });
}

/** The log of a session folder as it is now; null when there is none, with a diagnostic when that is a fault. */
export function examine(location: string, diagnostics: LibraryDiagnostic[]): Candidate | null {
  const logPath = location + path.sep + LOG_NAME;
  try {
    const stat = lstatSync(logPath, { throwIfNoEntry: false });
    if (stat === undefined) return null;
    if (!stat.isFile()) {
      diagnostics.push({ code: "log-not-regular", message: "session.jsonl is not a plain file.", location });
      return null;
    }
    const { dev, ino, size, mtimeMs, ctimeMs, birthtimeMs, blocks } = stat;
    if (size > 0 && blocks === 0 && isEvicted(process.platform)) {
      diagnostics.push({ code: "unavailable", message: "The session is not downloaded to this computer.", location });
      return null;
    }
    return { location, logPath, revision: { dev, ino, size, mtimeMs, ctimeMs, birthtimeMs } };
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOTDIR") return null;
    diagnostics.push({ code: "session-unreadable", message: `The session folder cannot be read (${code}).`, location });
    return null;
  }
}

/**
 * A file with a size but no blocks has its content in the cloud; reading it would wait for the network. Only macOS
 * evicts files this way; on Linux some file systems keep small files without blocks.
 */
function isEvicted(platform: NodeJS.Platform): boolean {
  return platform === "darwin";
}

const headerBuffer = Buffer.allocUnsafe(HEADER_READ_BYTES);

/** Reads the first record. A session without a readable header stays in the result, at the end of the order. */
export function readHeader(candidate: Candidate, diagnostics: LibraryDiagnostic[]): DiscoveredSession {
  const unknown = { ...candidate, id: null, createdAt: null, createdMs: -Infinity };
  let descriptor: number;
  try {
    descriptor = openSync(candidate.logPath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    diagnostics.push(unreadable(candidate.location, error));
    return unknown;
  }
  try {
    const line = firstLine(descriptor);
    const header = line === null ? null : parseHeader(line);
    if (header === null || !header.ok) return unknown;
    const { id, timestamp } = header.value;
    return { ...candidate, id, createdAt: timestamp, createdMs: Date.parse(timestamp) };
  } catch (error) {
    diagnostics.push(unreadable(candidate.location, error));
    return unknown;
  } finally {
    closeSync(descriptor);
  }
}

/** Headers by location, so that a log that did not change is not opened again to be put in its place. */
export class HeaderMemory {
  readonly #known = new Map<string, DiscoveredSession>();

  read(candidate: Candidate, diagnostics: LibraryDiagnostic[]): DiscoveredSession {
    const known = this.#known.get(candidate.location);
    if (known !== undefined && known.id !== null && sameRevision(known.revision, candidate.revision)) return known;
    const read = readHeader(candidate, diagnostics);
    this.#known.set(candidate.location, read);
    return read;
  }
}

export function sameRevision(a: Revision, b: Revision): boolean {
  return (
    a.size === b.size &&
    a.mtimeMs === b.mtimeMs &&
    a.ctimeMs === b.ctimeMs &&
    a.ino === b.ino &&
    a.dev === b.dev &&
    a.birthtimeMs === b.birthtimeMs
  );
}

function firstLine(descriptor: number): Buffer | null {
  const read = readSync(descriptor, headerBuffer, 0, HEADER_READ_BYTES, 0);
  const end = headerBuffer.subarray(0, read).indexOf(0x0a);
  if (end !== -1) return headerBuffer.subarray(0, end);
  if (read < HEADER_READ_BYTES) return null;
  const size = Math.min(fstatSync(descriptor).size, MAX_RECORD_BYTES + 1);
  const whole = Buffer.allocUnsafe(size);
  const length = readSync(descriptor, whole, 0, size, 0);
  const wholeEnd = whole.subarray(0, length).indexOf(0x0a);
  return wholeEnd === -1 ? null : whole.subarray(0, wholeEnd);
}

function unreadable(location: string, error: unknown): LibraryDiagnostic {
  return { code: "session-unreadable", message: `The session's log cannot be read (${errnoOf(error)}).`, location };
}

export function errnoOf(error: unknown): string {
  return errnoName(error) ?? "unknown";
}

/** Newest first; equal times in the order of their locations, so that pages never overlap. */
export function newestFirst(a: DiscoveredSession, b: DiscoveredSession): number {
  if (a.createdMs !== b.createdMs) return b.createdMs > a.createdMs ? 1 : -1;
  return a.location < b.location ? -1 : a.location > b.location ? 1 : 0;
}

/** Distinct locations that hold one header id: all of them are listed, and reported once per id. */
export function reportDuplicates(sessions: readonly DiscoveredSession[], diagnostics: LibraryDiagnostic[]): void {
  const byId = new Map<string, DiscoveredSession[]>();
  for (const session of sessions) {
    if (session.id === null) continue;
    const same = byId.get(session.id);
    if (same === undefined) byId.set(session.id, [session]);
    else same.push(session);
  }
  for (const [sessionId, same] of byId) {
    if (same.length < 2) continue;
    for (const { location } of same) {
      diagnostics.push({
        code: "duplicate-id",
        message: `${same.length} locations hold a session with this id.`,
        sessionId,
        location,
      });
    }
  }
}
