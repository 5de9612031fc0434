/**
 * The event-log backend: Event-log backend, all sections. Reads every log that the reference reads, writes logs that
 * the reference reads. Reads never change anything and never wait for writes.
 */
import { StoreError } from "../errors";
import { snapshotBatch } from "./batch";
import { type Listing } from "./discovery";
import { at } from "./errors";
import { newHeader, parseHeader } from "./header";
import { exportEvents, type LogExportFormat } from "./export-log";
import { follow, type FollowOptions } from "./follow";
import { assertPlace } from "./identity";
import { LiveWriter } from "./live-writer";
import { LogFinder } from "./log-finder";
import { openLog, revisionOf, withLog, type Revision } from "./log-file";
import { resolveOptions, type EventLogOptions, type ResolvedOptions } from "./options";
import { logPath } from "./paths";
import { plaintext, type PlainSource } from "./plaintext";
import { readLog, type LogRead } from "./read-log";
import { recoveryOf, type LogRecovery } from "./recovery-report";
import { removeSession } from "./remove-session";
import { scanLog } from "./scan-log";
import { viewOf } from "./balanced-view";
import { SessionLog, type SessionLogContext } from "./session-log";
import { readSuffix } from "./suffix";
import { type EventLogHeader, type EventLogMeta, type LogEvent, type LogView, type LogWarning } from "./types";
import { ViewCache } from "./view-cache";

/** Sessions whose end is remembered; beyond that those that nobody writes are looked at anew. */
const MAX_KNOWN_SESSIONS = 256;

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

export class EventLogBackend {
  readonly name = "session-persistence-jsonl";
  readonly supportsRawArtifacts = true;
  readonly #options: ResolvedOptions;
  readonly #context: SessionLogContext;
  readonly #finder: LogFinder;
  readonly #logs = new Map<string, SessionLog>();
  readonly #writers = new Map<string, LiveWriter>();
  readonly #views: ViewCache;
  #isDisposed = false;

  /** Throws `usage` for wrong options, and a typed error for a root that is no readable directory. */
  constructor(options: EventLogOptions) {
    const resolved = resolveOptions(options);
    this.#options = resolved;
    const finder = new LogFinder(resolved);
    this.#finder = finder;
    this.#views = new ViewCache(resolved.preparedSessionCacheSize);
    this.#context = {
      root: resolved.root,
      encoding: { compression: resolved.compression, packChunks: resolved.packChunks },
      fs: resolved.fs,
      publication: resolved.publication,
      lease: { directory: resolved.lockDirectory, waitMs: resolved.leaseWaitMs },
      extraTypes: resolved.extraTypes,
      find: (id, cwd) => finder.find(id, cwd),
      findTaken: (id, cwd) => finder.findTaken(id, cwd),
      read: (path, id) => this.#read(path, id),
      assertRootEncoding: () => finder.assertRootEncoding(),
    };
  }

  get root(): string {
    return this.#options.root;
  }

  /** Where the log of a session is or will be. Touches nothing. */
  locate(meta: Pick<EventLogMeta, "id" | "cwd">): { kind: "jsonl"; path: string } {
    const { root, compression } = this.#options;
    return { kind: "jsonl", path: logPath(root, meta.cwd, meta.id, compression) };
  }

  /**
   * Registers a session. Nothing is written before its first append. Throws `event-log-header-invalid` for a header
   * that could not be read back, `already-exists` for an id that is taken.
   */
  async create(meta: EventLogMeta): Promise<void> {
    const header = newHeader(meta);
    await this.#log(header.id).create(header);
  }

  /**
   * Appends a batch that continues the log and returns once it is durable: all of it, or nothing. An interrupted log
   * is recovered first. Throws `event-log-event-invalid`, `event-log-seq-mismatch`, `lock-busy`, `event-log-changed`,
   * `handle-poisoned`.
   */
  async append(id: string, events: readonly LogEvent[]): Promise<void> {
    const batch = snapshotBatch(id, events, this.#options.ignorableTypes);
    if (batch.length > 0) await this.#log(id).append(batch);
  }

  /** The writer of a live session, created on first use. */
  writer(id: string): LiveWriter {
    const existing = this.#writers.get(id);
    if (existing !== undefined) return existing;
    const writer = new LiveWriter(this.#log(id), this.#options, () => this.#writers.delete(id));
    this.#writers.set(id, writer);
    return writer;
  }

  /**
   * The balanced and immutable view of a session, its recovery made durable. `event-log-live` while a live writer of
   * this backend has a turn open, `lock-busy` while another process writes and there is something to recover.
   */
  async load(id: string, options: ReadCallOptions = {}): Promise<LogView> {
    options.signal?.throwIfAborted();
    const writer = this.#writers.get(id);
    if (writer !== undefined) {
      await writer.flush();
      if (this.#log(id).isTurnOpen) throw new StoreError("event-log-live", { sessionId: id });
    }
    return this.#log(id).load(options.cwd);
  }

  /** The same view without changing anything. */
  async inspect(id: string, options: ReadCallOptions = {}): Promise<LogView> {
    const path = await this.#require(id, options);
    const known = this.#views.get(path, (await this.#revision(path)) ?? "");
    options.signal?.throwIfAborted();
    if (known !== undefined && known.meta.id === id) return known;
    const read = await this.#read(path, id, options.signal);
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
    if (!Number.isSafeInteger(fromSeq) || fromSeq < 0) {
      throw new StoreError("usage", {
        message: `readFrom fromSeq must be a non-negative safe integer, got ${String(fromSeq)}`,
      });
    }
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
        const parts: Buffer[] = [];
        for await (const piece of plaintext(source)) {
          signal?.throwIfAborted();
          if (piece.kind !== "torn") parts.push(Buffer.from(piece.bytes));
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
    const path = await this.#require(id, options);
    const meta = await this.#finder.header(path, id);
    yield* exportEvents(meta, this.iterate(id, options), format);
  }

  /** What identifies the stored bytes, or undefined when there are none. Changes with every append and repair. */
  async readStoredRevision(id: string, options: ReadCallOptions = {}): Promise<Revision | undefined> {
    const path = await this.#lookUp(id, options);
    return path === undefined ? undefined : this.#revision(path);
  }

  /** Every session of the root, and what is wrong with the rest of it. One bad log never hides the others. */
  async list(options: { signal?: AbortSignal } = {}): Promise<Listing> {
    return this.#finder.list(options.signal);
  }

  /** What a recovery would do, without doing anything. Rejects like inspect for a log that is refused. */
  async verify(id: string, options: ReadCallOptions = {}): Promise<{ plan: LogRecovery; warnings: LogWarning[] }> {
    const path = await this.#require(id, options);
    const read = await this.#read(path, id, options.signal);
    const closers = read.validator.tracker.closers();
    return {
      plan: recoveryOf(read.tail, read.nextSeq, closers.length, null, null),
      warnings: [...read.warnings],
    };
  }

  /**
   * Recovers a log explicitly. With `salvage` whole lines at its end that cannot be read are cut off as well; whatever
   * is cut off is kept beside the log.
   */
  async recover(id: string, options: { salvage?: boolean } = {}): Promise<LogRecovery> {
    const { read, closers, kept } = await this.#log(id).recover(options.salvage ?? false);
    const { size } = await this.#options.fs.lstat(read.path);
    return recoveryOf(read.tail, read.nextSeq, closers.length, kept, Number(size));
  }

  /** Removes a session and everything in its folder, after a confirmation. Never follows links. */
  async delete(id: string, options: { confirmed: boolean }): Promise<void> {
    if (!options.confirmed) throw new StoreError("not-confirmed", { sessionId: id });
    if (this.#writers.has(id)) throw new StoreError("event-log-live", { sessionId: id });
    await this.#log(id).exclusively((path) => removeSession(this.#options.fs, this.#options.publication, path));
    this.#logs.delete(id);
  }

  /** Gives the right to write a session back to others. */
  async release(id: string): Promise<void> {
    const writer = this.#writers.get(id);
    if (writer !== undefined) await writer.close();
    await this.#logs.get(id)?.release();
  }

  /**
   * Makes everything durable that waits, waits for what is running, and gives every session back. Rejects with an
   * AggregateError when events could not be written; they are still held then, and dispose may be called again.
   */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    const flushed = await Promise.allSettled([...this.#writers.values()].map((writer) => writer.close()));
    await Promise.all([...this.#logs.values()].map((log) => log.settled()));
    const released = await Promise.allSettled([...this.#logs.values()].map((log) => log.release()));
    const failures = [...flushed, ...released].flatMap((result) =>
      result.status === "rejected" ? [result.reason as unknown] : [],
    );
    if (failures.length > 0) throw new AggregateError(failures, `${this.name} dispose failed`);
  }

  #log(id: string): SessionLog {
    const known = this.#logs.get(id);
    if (known !== undefined) return known;
    if (this.#isDisposed) throw new StoreError("handle-revoked", { sessionId: id });
    const log = new SessionLog(id, this.#context);
    if (this.#logs.size >= MAX_KNOWN_SESSIONS) this.#forgetIdle();
    this.#logs.set(id, log);
    return log;
  }

  #forgetIdle(): void {
    for (const [id, log] of this.#logs) if (log.isIdle && !this.#writers.has(id)) this.#logs.delete(id);
  }

  #place(): { root: string; compression: ResolvedOptions["compression"] } {
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

  #read(path: string, id: string, signal?: AbortSignal): Promise<LogRead> {
    return readLog(path, { ...this.#readOptions(id, signal), freeze: true });
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
