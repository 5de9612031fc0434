/**
 * The event-log backend: Event-log backend, all sections. Reads every log that the reference reads, writes logs that
 * the reference reads. Reads never change anything and never wait for writes.
 */
import { StoreError } from "../errors";
import { snapshotBatch } from "./batch";
import { type Listing } from "./discovery";
import { type LogExportFormat } from "./export-log";
import { type FollowOptions } from "./follow";
import { newHeader } from "./header";
import { LiveWriter } from "./live-writer";
import { type Revision } from "./log-file";
import { LogFinder } from "./log-finder";
import { LogReader, type LookupOptions, type RawLog, type ReadCallOptions } from "./log-reader";
import { resolveOptions, type EventLogOptions, type ResolvedOptions } from "./options";
import { logPath } from "./paths";
import { recoveryOf, type LogRecovery } from "./recovery-report";
import { removeSession } from "./remove-session";
import { type SessionLogContext } from "./session-context";
import { statLog } from "./session-lease";
import { SessionLog } from "./session-log";
import { type EventLogHeader, type EventLogMeta, type LogEvent, type LogView, type LogWarning } from "./types";

/** Sessions whose end is remembered; beyond that those that nobody writes are looked at anew. */
const MAX_KNOWN_SESSIONS = 256;

export class EventLogBackend {
  readonly name = "session-persistence-jsonl";
  readonly supportsRawArtifacts = true;
  readonly #options: ResolvedOptions;
  readonly #context: SessionLogContext;
  readonly #finder: LogFinder;
  readonly #logs = new Map<string, SessionLog>();
  readonly #writers = new Map<string, LiveWriter>();
  readonly #reader: LogReader;
  #isDisposed = false;

  /** Throws `usage` for wrong options, and a typed error for a root that is no readable directory. */
  constructor(options: EventLogOptions) {
    const resolved = resolveOptions(options);
    this.#options = resolved;
    const finder = new LogFinder(resolved);
    this.#finder = finder;
    const reader = new LogReader(resolved, finder);
    this.#reader = reader;
    this.#context = {
      root: resolved.root,
      encoding: { compression: resolved.compression, packChunks: resolved.packChunks },
      fs: resolved.fs,
      publication: resolved.publication,
      lease: { directory: resolved.lockDirectory, waitMs: resolved.leaseWaitMs },
      extraTypes: resolved.extraTypes,
      find: (id, cwd) => finder.find(id, cwd),
      findTaken: (id, cwd) => finder.findTaken(id, cwd),
      read: (path, id) => reader.read(path, id),
      assertRootEncoding: () => finder.assertRootEncoding(),
    };
  }

  get root(): string {
    return this.#options.root;
  }

  /** Where the log of a session is or will be. Touches nothing. `usage` for an empty id or project directory. */
  locate(meta: Pick<EventLogMeta, "id" | "cwd">): { kind: "jsonl"; path: string } {
    const { root, compression } = this.#options;
    if (meta.id === "") throw new StoreError("usage", { message: "cannot encode an empty path segment" });
    if (meta.cwd === "") throw new StoreError("usage", { message: "cannot encode an empty project path" });
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
  inspect(id: string, options: ReadCallOptions = {}): Promise<LogView> {
    return this.#reader.inspect(id, options);
  }

  /**
   * The stored events from a sequence number on, without any recovery. Costs what is asked for, not what is stored:
   * only a read from 0 checks the whole log.
   */
  readFrom(
    id: string,
    fromSeq: number,
    options: ReadCallOptions = {},
  ): Promise<{ meta: EventLogHeader; events: LogEvent[] }> {
    return this.#reader.readFrom(id, fromSeq, options);
  }

  /** The stored events one after another, whatever their number: a batch of them is in memory at a time. */
  iterate(id: string, options: ReadCallOptions & { fromSeq?: number } = {}): AsyncGenerator<LogEvent, void> {
    return this.#reader.iterate(id, options);
  }

  /**
   * The text of a log exactly as it is stored, packed rows included. A torn frame, and an unterminated line, are left
   * out; `includeTorn` adds the latter. Undefined for an unknown id.
   */
  readRaw(id: string, options: ReadCallOptions & { includeTorn?: boolean } = {}): Promise<RawLog | undefined> {
    return this.#reader.readRaw(id, options);
  }

  /** The events of a session as they become durable, from `fromSeq` on; ends only with its signal. */
  follow(id: string, options: FollowOptions & LookupOptions = {}): AsyncGenerator<LogEvent, void> {
    return this.#reader.follow(id, options);
  }

  /** A session as a document, in pieces of text. Exports what is stored, without any recovery. */
  export(id: string, format: LogExportFormat, options: ReadCallOptions = {}): AsyncGenerator<string, void> {
    return this.#reader.export(id, format, options);
  }

  /** What identifies the stored bytes, or undefined when there are none. Changes with every append and repair. */
  readStoredRevision(id: string, options: ReadCallOptions = {}): Promise<Revision | undefined> {
    return this.#reader.readStoredRevision(id, options);
  }

  /** Every session of the root, and what is wrong with the rest of it. One bad log never hides the others. */
  async list(options: { signal?: AbortSignal } = {}): Promise<Listing> {
    return this.#finder.list(options.signal);
  }

  /** What a recovery would do, without doing anything. Rejects like inspect for a log that is refused. */
  verify(id: string, options: ReadCallOptions = {}): Promise<{ plan: LogRecovery; warnings: LogWarning[] }> {
    return this.#reader.verify(id, options);
  }

  /**
   * Recovers a log explicitly. With `salvage` whole lines at its end that cannot be read are cut off as well; whatever
   * is cut off is kept beside the log.
   */
  async recover(id: string, options: { salvage?: boolean } = {}): Promise<LogRecovery> {
    const { read, closers, kept } = await this.#log(id).recover(options.salvage ?? false);
    const { size } = await statLog(this.#options.fs, read.path, id);
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
}
