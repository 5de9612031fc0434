/**
 * Reading what is stored: nothing here changes a log or waits for a writer. Event-log backend, On-disk layout and Crash
 * recovery (inspection).
 */
import { constants } from "node:buffer";
import { StoreError } from "../errors";
import { viewOf } from "./balanced-view";
import { at } from "./errors";
import { exportEvents, isExportFormat, type LogExportFormat } from "./export-log";
import { follow, type FollowOptions } from "./follow";
import { parseHeader } from "./header";
import { assertPlace } from "./identity";
import { openLog, revisionOf, withLog, type Revision } from "./log-file";
import { type LogFinder } from "./log-finder";
import { plaintext, type PlainSource, type ReadLimits } from "./plaintext";
import { readLog, type LogRead } from "./read-log";
import { recoveryOf, type LogRecovery } from "./recovery-report";
import { scanLog } from "./scan-log";
import { readSuffix } from "./suffix";
import { type Compression, type EventLogHeader, type LogEvent, type LogView, type LogWarning } from "./types";
import { ViewCache } from "./view-cache";

/** More text than this is no string. */
const { MAX_STRING_LENGTH } = constants;

export interface LookupOptions {
  /** The project directory, where it is known: the log is then found without looking through the projects. */
  readonly cwd?: string;
}

export interface ReadCallOptions extends LookupOptions {
  /** An aborted signal rejects with its own reason. */
  readonly signal?: AbortSignal;
}

/** The text of a log, exactly as it is stored. */
export interface RawLog {
  readonly meta: EventLogHeader;
  readonly filename: "session.jsonl";
  readonly content: string;
}

interface ReaderOptions {
  readonly root: string;
  readonly compression: Compression;
  readonly limits: ReadLimits;
  readonly extraTypes: ReadonlySet<string> | undefined;
  readonly preparedSessionCacheSize: number;
}

export class LogReader {
  readonly #options: ReaderOptions;
  readonly #finder: LogFinder;
  readonly #views: ViewCache;

  constructor(options: ReaderOptions, finder: LogFinder) {
    this.#options = options;
    this.#finder = finder;
    this.#views = new ViewCache(options.preparedSessionCacheSize);
  }

  /** Reads, validates and freezes a stored log. */
  read(path: string, id: string, signal?: AbortSignal): Promise<LogRead> {
    return readLog(path, { ...this.#readOptions(id, signal), freeze: true });
  }

  /** The balanced and immutable view of a session. */
  async inspect(id: string, options: ReadCallOptions = {}): Promise<LogView> {
    const path = await this.#require(id, options);
    const known = this.#views.get(path, (await this.#revision(path)) ?? "");
    options.signal?.throwIfAborted();
    if (known !== undefined && known.meta.id === id) return known;
    const read = await this.read(path, id, options.signal);
    const view = viewOf(read, read.validator.tracker.closers());
    this.#views.put(path, read.revision, view);
    return view;
  }

  /**
   * The stored events from a sequence number on, without any recovery. Costs what is asked for, not what is stored:
   * only a read from 0 checks the whole log.
   */
  async readFrom(
    id: string,
    fromSeq: number,
    options: ReadCallOptions = {},
  ): Promise<{ meta: EventLogHeader; events: LogEvent[] }> {
    assertSeq("readFrom", fromSeq);
    return this.#readStored(await this.#require(id, options), id, fromSeq, options.signal);
  }

  async #readStored(path: string, id: string, fromSeq: number, signal: AbortSignal | undefined) {
    const suffix = fromSeq === 0 ? undefined : await this.#readSuffix(path, id, fromSeq, signal);
    if (suffix !== undefined) {
      return { meta: suffix.header, events: suffix.events.filter((event) => event.seq >= fromSeq) };
    }
    const read = await readLog(path, { ...this.#readOptions(id, signal), freeze: false });
    return { meta: read.header.header, events: read.events.slice(fromSeq) };
  }

  /** The stored events one after another, whatever their number: a batch of them is in memory at a time. */
  async *iterate(id: string, options: ReadCallOptions & { fromSeq?: number } = {}): AsyncGenerator<LogEvent, void> {
    const { signal, fromSeq = 0 } = options;
    assertSeq("iterate", fromSeq);
    const path = await this.#require(id, options);
    const { file, stats } = await openLog(path);
    try {
      const source: PlainSource = { file, size: Number(stats.size), ...this.#encodingOptions() };
      const scan = scanLog(source, { ...this.#scanOptions(path, id, signal), freeze: false });
      for await (const batch of scan) for (const event of batch) if (event.seq >= fromSeq) yield event;
    } catch (error) {
      signal?.throwIfAborted();
      throw at(error, path, id);
    } finally {
      await file.close();
    }
  }

  /**
   * The text of a log exactly as it is stored, packed rows included. A torn frame, and an unterminated line, are left
   * out; `includeTorn` adds the latter. Undefined for an unknown id.
   */
  async readRaw(id: string, options: ReadCallOptions & { includeTorn?: boolean } = {}): Promise<RawLog | undefined> {
    const { signal, includeTorn = false } = options;
    const path = await this.#lookUp(id, options);
    if (path === undefined) return undefined;
    try {
      return await withLog(path, async (file, stats) => {
        const source: PlainSource = { file, size: Number(stats.size), ...this.#encodingOptions() };
        const { maxTextBytes = MAX_STRING_LENGTH } = source.limits;
        const parts: Buffer[] = [];
        let size = 0;
        for await (const piece of plaintext(source)) {
          signal?.throwIfAborted();
          if (piece.kind === "torn") continue;
          size += piece.bytes.length;
          if (size > maxTextBytes) throw textTooLarge(piece.offset, maxTextBytes);
          parts.push(Buffer.from(piece.bytes));
        }
        const text = Buffer.concat(parts);
        const [first] = parts;
        const { header: meta } = parseHeader((first ?? text).subarray(0, -1));
        await assertPlace({ ...this.#place(), path }, meta, id);
        const end = includeTorn || this.#options.compression === "zstd" ? text.length : text.lastIndexOf(10) + 1;
        return { meta, filename: "session.jsonl", content: text.toString("utf8", 0, end) };
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw at(error, path, id);
    }
  }

  /** The events of a session as they become durable, from `fromSeq` on; ends only with its signal. */
  async *follow(id: string, options: FollowOptions & LookupOptions = {}): AsyncGenerator<LogEvent, void> {
    assertSeq("follow", options.fromSeq ?? 0);
    const path = await this.#require(id, options);
    const { signal } = options;
    yield* follow(
      {
        path,
        revision: () => this.#revision(path),
        readFrom: async (fromSeq) => (await this.#readStored(path, id, fromSeq, signal)).events,
      },
      options,
    );
  }

  /** A session as a document, in pieces of text. Exports what is stored, without any recovery. */
  async *export(id: string, format: LogExportFormat, options: ReadCallOptions = {}): AsyncGenerator<string, void> {
    if (!isExportFormat(format)) {
      throw new StoreError("usage", { message: `export format must be jsonl, json or md, got ${String(format)}` });
    }
    const path = await this.#require(id, options);
    const meta = await this.#finder.header(path, id);
    yield* exportEvents(meta, this.iterate(id, options), format);
  }

  /** What identifies the stored bytes, or undefined when there are none. Changes with every append and repair. */
  async readStoredRevision(id: string, options: ReadCallOptions = {}): Promise<Revision | undefined> {
    const path = await this.#lookUp(id, options);
    return path === undefined ? undefined : this.#revision(path);
  }

  /** What a recovery would do, without doing anything. Rejects like inspect for a log that is refused. */
  async verify(id: string, options: ReadCallOptions = {}): Promise<{ plan: LogRecovery; warnings: LogWarning[] }> {
    const path = await this.#require(id, options);
    const read = await this.read(path, id, options.signal);
    const closers = read.validator.tracker.closers();
    return {
      plan: recoveryOf(read.tail, read.nextSeq, closers.length, null, null),
      warnings: [...read.warnings],
    };
  }

  #place(): { root: string; compression: Compression } {
    const { root, compression } = this.#options;
    return { root, compression };
  }

  #encodingOptions(): Pick<PlainSource, "compression" | "limits"> {
    const { compression, limits } = this.#options;
    return { compression, limits };
  }

  #scanOptions(path: string, id: string, signal: AbortSignal | undefined) {
    return {
      onHeader: ({ header }: { header: EventLogHeader }) => assertPlace({ ...this.#place(), path }, header, id),
      extraTypes: this.#options.extraTypes,
      signal,
    };
  }

  #readOptions(id: string, signal: AbortSignal | undefined) {
    const { extraTypes } = this.#options;
    return { ...this.#place(), limits: this.#options.limits, extraTypes, signal, expectedId: id };
  }

  async #readSuffix(path: string, id: string, fromSeq: number, signal: AbortSignal | undefined) {
    try {
      return await withLog(path, async (file, stats) => {
        const source: PlainSource = { file, size: Number(stats.size), ...this.#encodingOptions() };
        return readSuffix(source, fromSeq, { ...this.#scanOptions(path, id, signal), freeze: false });
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw at(error, path, id);
    }
  }

  async #revision(path: string): Promise<Revision | undefined> {
    try {
      return await withLog(path, async (_file, stats) => revisionOf(stats));
    } catch (error) {
      if (error instanceof StoreError && error.code === "location-gone") return undefined;
      throw error;
    }
  }

  async #require(id: string, options: ReadCallOptions): Promise<string> {
    const path = await this.#lookUp(id, options);
    if (path !== undefined) return path;
    throw new StoreError("not-found", { sessionId: id, message: `session "${id}" not found` });
  }

  #lookUp(id: string, { cwd, signal }: ReadCallOptions): Promise<string | undefined> {
    return this.#finder.find(id, cwd, signal);
  }
}

function assertSeq(call: string, fromSeq: number): void {
  if (Number.isSafeInteger(fromSeq) && fromSeq >= 0) return;
  throw new StoreError("usage", {
    message: `${call} fromSeq must be a non-negative safe integer, got ${String(fromSeq)}`,
  });
}

function textTooLarge(offset: number, maxBytes: number): StoreError {
  return new StoreError("event-log-too-large", {
    offset,
    message: `the text of the log takes more than ${maxBytes} bytes`,
    remedy: "Read it in pieces: export or iterate it.",
  });
}
