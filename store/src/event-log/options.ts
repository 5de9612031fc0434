/** Event-log backend, Config. */
import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import { StoreError } from "../errors";
import { asStoreError, errnoName } from "../platform/errno";
import { nodeFileSystem, type FileSystem } from "../platform/fs";
import { isAbsent } from "./log-file";
import { DEFAULT_LIMITS, type ReadLimits } from "./plaintext";
import { platformPublication, type Publication } from "./publication";
import { type Compression } from "./types";
import { systemTimers, type WindowTimers } from "./write-window";

export interface EventLogOptions {
  /** The folder of all logs. Absent, or a readable directory. */
  readonly root: string;
  /** How logs are stored; `zstd` unless said otherwise. A root belongs to one of them. */
  readonly compression?: Compression;
  /** Store runs of streamed deltas as one line; true unless said otherwise. Reading knows both. */
  readonly packChunks?: boolean;
  /** How long the first event of a live session waits for others, in milliseconds: 1 to 2147483647, else 200. */
  readonly writeBatchMaxDelayMs?: number;
  /** How many inspected sessions are kept for the next look, at least 1; else 5. */
  readonly preparedSessionCacheSize?: number;
  /** Event types beyond the format's own that the caller understands, for reading and for writing. */
  readonly extraTypes?: Iterable<string>;
  /** Types of events that are written with `ignorable: true`, so that readers that do not know them may skip them. */
  readonly ignorableTypes?: Iterable<string>;
  /** How long to wait for another writer to let go of a session, in milliseconds; else 2000. */
  readonly leaseWaitMs?: number;
  /** The folder of lock files; the user's own unless said otherwise. */
  readonly lockDirectory?: string;
  /** Events of one live session that may wait to be written; else 100,000. */
  readonly maxPendingEvents?: number;
  readonly limits?: ReadLimits;
  readonly fs?: FileSystem;
  readonly publication?: Publication;
  readonly timers?: WindowTimers;
  /** Hears of background writes that failed; their events are kept. A process warning unless given. */
  readonly onBackgroundFailure?: (sessionId: string, error: unknown) => void;
}

export interface ResolvedOptions {
  readonly root: string;
  readonly compression: Compression;
  readonly packChunks: boolean;
  readonly writeBatchMaxDelayMs: number;
  readonly preparedSessionCacheSize: number;
  readonly extraTypes: ReadonlySet<string> | undefined;
  readonly ignorableTypes: ReadonlySet<string> | undefined;
  readonly leaseWaitMs: number;
  readonly lockDirectory: string | undefined;
  readonly maxPendingEvents: number;
  readonly limits: ReadLimits;
  readonly fs: FileSystem;
  readonly publication: Publication;
  readonly timers: WindowTimers;
  readonly onBackgroundFailure: (sessionId: string, error: unknown) => void;
}

const MAX_TIMER_MS = 2_147_483_647;

/** Checks the options and fills in what was left out. Throws `usage`, or a typed error for an unusable root. */
export function resolveOptions(options: EventLogOptions): ResolvedOptions {
  const { root, compression = "zstd", packChunks = true, lockDirectory } = options;
  if (typeof root !== "string" || root === "") throw invalid("root must be a path");
  if (compression !== "zstd" && compression !== "none") throw invalid('compression must be "zstd" or "none"');
  if (typeof packChunks !== "boolean") throw invalid("packChunks must be true or false");
  if (lockDirectory !== undefined && !path.isAbsolute(lockDirectory)) throw invalid("lockDirectory must be absolute");
  const fs = options.fs ?? nodeFileSystem;
  const absolute = path.resolve(root);
  assertUsableRoot(absolute);
  const extraTypes = [...(options.extraTypes ?? []), ...(options.ignorableTypes ?? [])];
  return {
    root: absolute,
    compression,
    packChunks,
    writeBatchMaxDelayMs: whole("writeBatchMaxDelayMs", options.writeBatchMaxDelayMs ?? 200, 1, MAX_TIMER_MS),
    preparedSessionCacheSize: whole("preparedSessionCacheSize", options.preparedSessionCacheSize ?? 5, 1),
    extraTypes: extraTypes.length === 0 ? undefined : new Set(extraTypes),
    ignorableTypes: options.ignorableTypes === undefined ? undefined : new Set(options.ignorableTypes),
    leaseWaitMs: whole("leaseWaitMs", options.leaseWaitMs ?? 2000, 0, MAX_TIMER_MS),
    lockDirectory,
    maxPendingEvents: whole("maxPendingEvents", options.maxPendingEvents ?? 100_000, 1),
    limits: options.limits ?? DEFAULT_LIMITS,
    fs,
    publication: options.publication ?? platformPublication(fs),
    timers: options.timers ?? systemTimers,
    onBackgroundFailure: options.onBackgroundFailure ?? warn,
  };
}

function whole(name: string, value: number, least: number, most = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw invalid(`${name} must be an integer between ${least} and ${most}`);
}

function invalid(problem: string): StoreError {
  return new StoreError("usage", { message: `invalid event-log option: ${problem}` });
}

function assertUsableRoot(root: string): void {
  try {
    const stats = statSync(root, { throwIfNoEntry: false });
    if (stats === undefined) return;
    if (!stats.isDirectory())
      throw new StoreError("unsafe-path", { location: root, message: "The root is no folder." });
    accessSync(root, constants.R_OK | constants.X_OK);
  } catch (error) {
    if (isAbsent(error) && errnoName(error) !== "ENOTDIR") return;
    throw asStoreError(error, { location: root }, "use the root");
  }
}

function warn(sessionId: string, error: unknown): void {
  const reason = error instanceof Error ? error.message : "unknown failure";
  process.emitWarning(`Events of session "${sessionId}" could not be written yet and are kept: ${reason}`);
}
