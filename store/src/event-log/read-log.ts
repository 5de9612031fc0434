/** Reading one log whole: the same revision before and after, or a prefix that later appends cannot have changed. */
import { setTimeout as delay } from "node:timers/promises";
import { isStoreError } from "../errors";
import { at } from "./errors";
import { assertPlace } from "./identity";
import { revisionOf, statOpen, withLog, type Revision } from "./log-file";
import { type ReadLimits } from "./plaintext";
import { scanLog, type ScanEnd } from "./scan-log";
import { type Compression, type LogEvent } from "./types";

/** A reader that always meets a write in progress takes what it has after so many tries. */
const MAX_TRIES = 20;
const RETRY_MS = 5;

interface ReadOptions {
  readonly root: string;
  readonly compression: Compression;
  readonly limits: ReadLimits;
  readonly extraTypes?: ReadonlySet<string> | undefined;
  readonly freeze: boolean;
  readonly signal?: AbortSignal | undefined;
  /** The id that was asked for; the header must say the same. */
  readonly expectedId?: string | undefined;
}

export interface LogRead extends ScanEnd {
  readonly path: string;
  readonly events: LogEvent[];
  readonly revision: Revision;
  /** Identity of the file, for the check before a repair or append. */
  readonly file: { readonly dev: bigint; readonly ino: bigint };
}

/** Reads, checks the identity of and validates one log. Nothing is written. Errors carry the path. */
export async function readLog(path: string, options: ReadOptions): Promise<LogRead> {
  try {
    for (let tries = 1; ; tries += 1) {
      const { read, isStable } = await readOnce(path, options, tries < MAX_TRIES);
      if (read !== undefined && (isStable || read.tail.kind === "clean" || tries >= MAX_TRIES)) return read;
      await delay(RETRY_MS);
      options.signal?.throwIfAborted();
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    throw at(error, path, options.expectedId);
  }
}

async function readOnce(
  path: string,
  options: ReadOptions,
  mayRetry: boolean,
): Promise<{ read: LogRead | undefined; isStable: boolean }> {
  const { root, compression, limits, extraTypes, freeze, signal, expectedId } = options;
  return withLog(path, async (file, before) => {
    const source = { file, size: Number(before.size), compression, limits };
    const isUnchanged = async (): Promise<boolean> => revisionOf(await statOpen(file, path)) === revisionOf(before);
    try {
      const scan = scanLog(source, {
        onHeader: ({ header }) => assertPlace({ root, path, compression }, header, expectedId),
        extraTypes,
        freeze,
        signal,
      });
      const events: LogEvent[] = [];
      let step = await scan.next();
      for (; step.done !== true; step = await scan.next()) for (const event of step.value) events.push(event);
      signal?.throwIfAborted();
      const { dev, ino } = before;
      const read = { ...step.value, path, events, revision: revisionOf(before), file: { dev, ino } };
      return { read, isStable: await isUnchanged() };
    } catch (error) {
      // Bytes that somebody is writing or taking back at this moment prove nothing.
      if (mayRetry && isStoreError(error) && !(await isUnchanged())) return { read: undefined, isStable: false };
      throw error;
    }
  });
}
