/**
 * Event-log backend, On-disk layout: finding logs. Listing reads headers only, and one bad file never hides the others.
 *
 * The calls are synchronous, a slice at a time: for thousands of small files the trip to the thread pool and back costs
 * several times what the work does.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { type BigIntStats, type Dirent } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { StoreError } from "../errors";
import { asStoreError } from "../platform/errno";
import { Breather } from "./breather";
import { corrupt } from "./errors";
import { walkFrame } from "./frames";
import { assertVersion, MAX_HEADER_BYTES, parseHeader } from "./header";
import { isAbsent, revisionOf, type Revision } from "./log-file";
import { encodeSegment, isFlatLogName, logName, logPath, logSuffix, oppositeCompression } from "./paths";
import { type Compression, type EventLogHeader } from "./types";
import { FrameDecoder } from "./zstd";

/** Something in a root that is no readable log of it. */
export interface LogProblem {
  /** The code of the error: what is wrong. */
  readonly code: StoreError["code"];
  readonly message: string;
  readonly path: string;
  /** The session that the header names, where there is one. */
  readonly sessionId?: string;
  readonly line?: number;
  readonly offset?: number;
}

export interface LogEntry {
  readonly header: EventLogHeader;
  readonly revision: Revision;
  readonly path: string;
}

export interface Listing {
  readonly sessions: LogEntry[];
  readonly problems: LogProblem[];
}

/** Headers that were read before, by path: valid for as long as the revision is the same. */
export type HeaderCache = Map<string, { readonly revision: Revision; readonly header: EventLogHeader }>;

const HEAD_BYTES = 4096;
/** A header frame cannot be longer than this when it is not compressible at all. */
const MAX_HEAD_BYTES = MAX_HEADER_BYTES + (MAX_HEADER_BYTES >>> 8) + 1024;

interface Place {
  readonly root: string;
  readonly compression: Compression;
}

/** Every log of a root, with what is wrong with the rest. Rejects only when the root itself cannot be read. */
export async function listLogs(place: Place, cache: HeaderCache, signal?: AbortSignal): Promise<Listing> {
  const breather = new Breather(signal);
  const listing: Listing = { sessions: [], problems: [] };
  const seen = new Map<string, LogEntry>();
  const decoder = new FrameDecoder(MAX_HEADER_BYTES);
  try {
    for (const project of directoriesOf(place.root)) {
      for (const entry of sessionsOf(project, listing.problems)) {
        if (breather.isDue) await breather.breathe();
        examine(place, join(project, entry.name), decoder, cache, seen, listing);
      }
    }
    breather.check();
    return { sessions: [...listing.sessions], problems: listing.problems };
  } finally {
    decoder.close();
  }
}

/** The project directories of a root; none when it is not there. */
export function directoriesOf(root: string): string[] {
  try {
    const entries = readdirSync(root, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => `${root}${sep}${entry.name}`);
  } catch (error) {
    if (isAbsent(error) && statOf(root) === undefined) return [];
    throw asStoreError(error, { location: root }, "read the root");
  }
}

function sessionsOf(project: string, problems: LogProblem[]): Dirent[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(project, { withFileTypes: true });
  } catch (error) {
    problems.push(problemOf(asStoreError(error, { location: project }, "read the project folder"), project));
    return [];
  }
  for (const entry of entries) {
    if (entry.isFile() && isFlatLogName(entry.name)) {
      problems.push(problemOf(flatLayout(join(project, entry.name)), project));
    }
  }
  return entries.filter((entry) => entry.isDirectory());
}

function examine(
  place: Place,
  directory: string,
  decoder: FrameDecoder,
  cache: HeaderCache,
  seen: Map<string, LogEntry>,
  listing: Listing,
): void {
  const path = join(directory, logName(place.compression));
  try {
    refuseOpposite(directory, place.compression);
    const entry = readEntry(place, path, decoder, cache);
    if (entry === undefined) return;
    const twin = seen.get(entry.header.id);
    if (twin !== undefined) throw duplicate(entry.header.id, path);
    seen.set(entry.header.id, entry);
    listing.sessions.push(entry);
    if (entry.header.version !== 0) reportVersion(entry, listing.problems);
  } catch (error) {
    listing.problems.push(problemOf(asStoreError(error, { location: path }, "read the header"), path));
  }
}

/** A log of another version is listed, as the reference does, and marked as one that cannot be read here. */
function reportVersion(entry: LogEntry, problems: LogProblem[]): void {
  try {
    assertVersion(entry.header.id, entry.header.version);
  } catch (error) {
    problems.push({ ...problemOf(error, entry.path), sessionId: entry.header.id });
  }
}

function readEntry(place: Place, path: string, decoder: FrameDecoder, cache: HeaderCache): LogEntry | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
  try {
    const stats = fstatSync(fd, { bigint: true });
    if (!stats.isFile()) throw new StoreError("unsafe-path", { location: path });
    const revision = revisionOf(stats);
    const known = cache.get(path);
    if (known?.revision === revision) return { header: known.header, revision, path };
    const line = place.compression === "zstd" ? framedHeader(fd, stats, decoder) : rawHeader(fd, stats);
    const { header } = parseHeader(line);
    assertPlaceSync(place, path, header);
    cache.set(path, { revision, header });
    return { header, revision, path };
  } finally {
    closeSync(fd);
  }
}

function assertPlaceSync({ root, compression }: Place, path: string, header: EventLogHeader): void {
  const { id, cwd } = header;
  const expected = id === "" || cwd === "" ? undefined : logPath(root, cwd, id, compression);
  if (path === expected || (expected !== undefined && realPath(path) === realPath(expected))) return;
  throw new StoreError("event-log-identity-mismatch", {
    location: path,
    sessionId: id,
    message:
      expected === undefined
        ? `corrupt session log "${path}": header id cannot name a storage path`
        : `corrupt session log "${path}": header id "${id}" and cwd identify "${expected}"`,
  });
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Reads the head of a file, more and more of it until `end` finds its end or the limit is reached. */
function readHead(fd: number, size: number, end: (head: Buffer) => number | undefined): Buffer | undefined {
  for (let length = Math.min(size, HEAD_BYTES); ; length = Math.min(size, length * 8, MAX_HEAD_BYTES)) {
    const head = Buffer.allocUnsafe(length);
    const bytesRead = readSync(fd, head, 0, length, 0);
    const found = end(head.subarray(0, bytesRead));
    if (found !== undefined) return head.subarray(0, found);
    if (bytesRead < length || length >= size) return undefined;
    if (length >= MAX_HEAD_BYTES) {
      throw new StoreError("event-log-too-large", {
        offset: 0,
        message: `the first line takes more than ${MAX_HEADER_BYTES} bytes, so it is no header`,
      });
    }
  }
}

function framedHeader(fd: number, stats: BigIntStats, decoder: FrameDecoder): Buffer {
  const headerless = (): StoreError => corrupt("empty or header-less Zstandard session log", { line: 1, offset: 0 });
  let contentSize: number | undefined;
  const frame = readHead(fd, Number(stats.size), (head) => {
    const walk = walkFrame(head, 0);
    if (walk.kind !== "complete") return undefined;
    contentSize = walk.contentSize;
    return walk.end;
  });
  if (frame === undefined) throw headerless();
  const text = decoder.decodeSync(frame, contentSize, 0);
  if (text.length === 0 || text.indexOf(10) !== text.length - 1) {
    throw corrupt("corrupt Zstandard session log: first frame is not exactly one header line", { offset: 0 });
  }
  return text.subarray(0, -1);
}

function rawHeader(fd: number, stats: BigIntStats): Buffer {
  const line = readHead(fd, Number(stats.size), (head) => {
    const end = head.indexOf(10);
    return end === -1 ? undefined : end;
  });
  if (line === undefined) throw corrupt("empty or header-less session log", { line: 1, offset: 0 });
  return line;
}

/**
 * The paths in a root where a log of this id is, in any of the given project folders. Normally one; none for an unknown
 * id. Rejects a log of this id in the other encoding, and one in the flat layout where there is no other.
 */
export async function findLogs(
  place: Place,
  id: string,
  projects: readonly string[],
  signal?: AbortSignal,
): Promise<string[]> {
  const breather = new Breather(signal);
  const name = encodeName(id);
  if (name === undefined) return [];
  const paths: string[] = [];
  // A root may have thousands of projects, so each costs no more than the question whether a name is there.
  for (const project of projects) {
    if (breather.isDue) await breather.breathe();
    if (!existsSync(`${project}${sep}${name}`)) continue;
    const path = probe(place, project, name);
    if (path !== undefined) paths.push(path);
  }
  if (paths.length > 0) return paths;
  for (const project of projects) {
    if (breather.isDue) await breather.breathe();
    refuseFlat(project, name);
  }
  breather.check();
  return paths;
}

/** Throws what keeps a project folder from being searched for an id: "not there" would be no answer then. */
export async function assertSearchable(id: string, projects: readonly string[], signal?: AbortSignal): Promise<void> {
  const breather = new Breather(signal);
  const name = encodeName(id);
  for (const project of name === undefined ? [] : projects) {
    if (breather.isDue) await breather.breathe();
    statOf(`${project}${sep}${name}`);
  }
}

/** The log of an id in the folder of a known project, or undefined. Costs the same however many projects there are. */
export function probeLog(place: Place, id: string, cwd: string | undefined): string | undefined {
  if (id === "" || cwd === "") return undefined;
  return probePath(place, logPath(place.root, cwd, id, place.compression));
}

/** The log at a path, or undefined, with what `findLogs` refuses. */
export function probePath(place: Place, path: string): string | undefined {
  return probe(place, dirname(dirname(path)), basename(dirname(path)));
}

function probe(place: Place, project: string, name: string): string | undefined {
  refuseFlat(project, name);
  const directory = join(project, name);
  if (statOf(directory) === undefined) return undefined;
  refuseOpposite(directory, place.compression);
  const path = join(directory, logName(place.compression));
  return statOf(path) === undefined ? undefined : path;
}

function refuseFlat(project: string, name: string): void {
  for (const compression of ["zstd", "none"] as const) {
    const flat = `${project}${sep}${name}${logSuffix(compression)}`;
    if (existsSync(flat) && statOf(flat)?.isFile() === true) throw flatLayout(flat);
  }
}

function encodeName(id: string): string | undefined {
  return id === "" ? undefined : encodeSegment(id);
}

/** Throws `event-log-encoding-mismatch` when some log of the root is stored in the other encoding. */
export async function assertRootEncoding(place: Place, signal?: AbortSignal): Promise<void> {
  const breather = new Breather(signal);
  for (const project of directoriesOf(place.root)) {
    for (const entry of sessionsOf(project, [])) {
      if (breather.isDue) await breather.breathe();
      refuseOpposite(join(project, entry.name), place.compression);
    }
  }
}

function refuseOpposite(directory: string, compression: Compression): void {
  const opposite = oppositeCompression(compression);
  const path = join(directory, logName(opposite));
  if (statOf(path) === undefined) return;
  throw new StoreError("event-log-encoding-mismatch", {
    location: path,
    message: `session artifact ${JSON.stringify(path)} uses ${logSuffix(opposite)}, but this backend is configured for compression ${JSON.stringify(compression)}; use a separate root or select the matching compression mode`,
  });
}

function flatLayout(path: string): StoreError {
  return new StoreError("event-log-flat-layout", {
    location: path,
    message: `session artifact ${JSON.stringify(path)} uses the unsupported flat-file layout; use a separate root or move it into a project/session directory before loading`,
  });
}

export function duplicate(id: string, path: string): StoreError {
  return new StoreError("event-log-duplicate", {
    location: path,
    sessionId: id,
    message: `duplicate JSONL session id "${id}" appears in multiple project directories`,
  });
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw asStoreError(error, { location: path }, "look at the file");
  }
}

/** A failure as the problem of a listing, with its place. */
export function problemOf(error: unknown, path: string): LogProblem {
  const failure = asStoreError(error, { location: path }, "read the header");
  const { location, sessionId, line, offset } = failure.place;
  return {
    code: failure.code,
    message: failure.message,
    path: location ?? path,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(line === undefined ? {} : { line }),
    ...(offset === undefined ? {} : { offset }),
  };
}
