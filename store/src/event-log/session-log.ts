/**
 * One session of a backend: its lazy creation, its lease, its end of the file. Everything that writes runs here, one
 * after another; reads never wait for it.
 */
import { dirname } from "node:path";
import { StoreError } from "../errors";
import { assertReadable, isReadable, viewOf } from "./balanced-view";
import { admit, assertContinues } from "./batch";
import { encodeBatch } from "./encode";
import { freezeJson } from "./json-value";
import { LogAppender } from "./log-appender";
import { revisionOf, statOpen } from "./log-file";
import { endOf, publishNewLog } from "./new-log";
import { type LogRead } from "./read-log";
import { needsRepair, repairLog } from "./repair";
import { type SessionLogContext } from "./session-context";
import { SessionLease, statLog } from "./session-lease";
import { type EventLogHeader, type LogEvent, type LogView } from "./types";
import { EventValidator } from "./validator";

type State =
  /** Not looked at yet, or to be looked at again. */
  | { readonly kind: "unknown" }
  /** Created by this backend; nothing is on disk. */
  | { readonly kind: "created"; readonly header: EventLogHeader; readonly validator: EventValidator }
  /** On disk, and known to its end. */
  | {
      readonly kind: "stored";
      readonly path: string;
      readonly validator: EventValidator;
      readonly nextSeq: number;
      readonly revision: string | undefined;
      readonly appender: LogAppender | undefined;
    }
  /** A failed write could not be taken back. */
  | { readonly kind: "poisoned"; readonly path: string; readonly cause: unknown };

export class SessionLog {
  readonly id: string;
  readonly #context: SessionLogContext;
  #state: State = { kind: "unknown" };
  readonly #lease: SessionLease;
  #chain: Promise<unknown> = Promise.resolve();
  #running = 0;

  constructor(id: string, context: SessionLogContext) {
    this.id = id;
    this.#context = context;
    this.#lease = new SessionLease(id, context.fs, context.lease);
  }

  /** True when nothing is lost by forgetting this session: what is known of it is on disk, and nothing is going on. */
  get isIdle(): boolean {
    const { kind } = this.#state;
    return this.#running === 0 && !this.#lease.isHeld && (kind === "stored" || kind === "unknown");
  }

  /** Sequence number of the next event, as far as it is known without reading. */
  get knownNextSeq(): number | undefined {
    if (this.#state.kind === "stored") return this.#state.nextSeq;
    return this.#state.kind === "created" ? 0 : undefined;
  }

  /** True when a turn is open in what this writer has written. */
  get isTurnOpen(): boolean {
    return this.#state.kind === "stored" && this.#state.validator.tracker.isTurnOpen;
  }

  /** Runs one body after the ones before it, whatever became of those. */
  serialize<T>(body: () => Promise<T>): Promise<T> {
    this.#running += 1;
    const next = this.#chain.then(body, body).finally(() => (this.#running -= 1));
    this.#chain = next.catch(() => undefined);
    return next;
  }

  /** Waits until everything that was asked for has ended. */
  async settled(): Promise<void> {
    await this.#chain;
  }

  create(header: EventLogHeader): Promise<void> {
    return this.serialize(async () => {
      if (this.#state.kind !== "unknown") {
        throw new StoreError("already-exists", {
          sessionId: this.id,
          message: `session "${this.id}" already exists in this backend`,
        });
      }
      const path = await this.#context.findTaken(this.id, header.cwd);
      if (path !== undefined) {
        throw new StoreError("already-exists", {
          sessionId: this.id,
          location: path,
          message: `session "${this.id}" already has a persisted log on disk; load/resume it instead of creating`,
        });
      }
      const { extraTypes } = this.#context;
      const validator = new EventValidator({ sessionId: this.id, extraTypes });
      this.#state = { kind: "created", header, validator };
    });
  }

  append(events: readonly LogEvent[]): Promise<void> {
    return this.serialize(() => this.#append(events));
  }

  /** Like append, leaving out what is stored already. */
  appendNew(events: readonly LogEvent[]): Promise<void> {
    return this.serialize(async () => {
      if (events.length === 0) return;
      const nextSeq = await this.#ready();
      await this.#append(events.filter((event) => event.seq >= nextSeq));
    });
  }

  async #append(events: readonly LogEvent[]): Promise<void> {
    if (events.length === 0) return;
    assertContinues(this.id, events, await this.#ready());
    const state = this.#state;
    if (state.kind !== "created" && state.kind !== "stored") throw new StoreError("handle-revoked");
    const { validator } = state;
    validator.begin();
    try {
      admit(this.id, events, validator);
      if (state.kind === "created") {
        const { path, appender } = await publishNewLog(this.#context, this.#lease, state.header, events);
        this.#state = { kind: "stored", path, validator, nextSeq: events.length, revision: undefined, appender };
      } else await this.#write(state, events);
      validator.commit();
    } catch (error) {
      validator.rollback();
      throw error;
    }
  }

  async #write(state: State & { kind: "stored" }, events: readonly LogEvent[]): Promise<void> {
    const { appender } = state;
    if (appender === undefined) throw new StoreError("handle-revoked", { location: state.path });
    try {
      await appender.append(encodeBatch(events, this.#context.encoding));
    } catch (error) {
      await this.#afterFailure(state.path, appender, error);
      throw error;
    }
    this.#state = { ...state, nextSeq: state.nextSeq + events.length };
  }

  /** A poisoned file is never written again before it is validated anew; a changed one is looked at again. */
  async #afterFailure(path: string, appender: LogAppender, error: unknown): Promise<void> {
    const wasChanged = error instanceof StoreError && error.code === "event-log-changed";
    if (!appender.isPoisoned && !wasChanged) return;
    this.#state = appender.isPoisoned ? { kind: "poisoned", path, cause: error } : { kind: "unknown" };
    await appender.close();
    this.#lease.drop();
  }

  /** Makes this session writable and gives the sequence number of its next event. */
  async #ready(): Promise<number> {
    const state = this.#state;
    if (state.kind === "created") return 0;
    if (state.kind === "poisoned") {
      throw new StoreError("handle-poisoned", { sessionId: this.id, location: state.path, cause: state.cause });
    }
    if (state.kind === "stored" && state.appender !== undefined) return state.nextSeq;
    return this.#adopt(state.kind === "stored" ? state : undefined);
  }

  /** Takes the lease of a stored log, brings it into order and opens its end. */
  async #adopt(known: (State & { kind: "stored" }) | undefined): Promise<number> {
    const path = known?.path ?? (await this.#find());
    await this.#lease.take(dirname(path));
    try {
      const stats = await statLog(this.#context.fs, path, this.id);
      if (known !== undefined && known.revision === revisionOf(stats)) {
        const appender = await LogAppender.open(this.#context.fs, path, endOf(stats));
        this.#state = { ...known, appender, revision: undefined };
        return known.nextSeq;
      }
      await this.#repair(await this.#context.read(path, this.id), false);
    } catch (error) {
      if (this.#state.kind !== "poisoned") this.#state = { kind: "unknown" };
      this.#lease.drop();
      throw error;
    }
    return this.knownNextSeq ?? 0;
  }

  async #find(): Promise<string> {
    const path = await this.#context.find(this.id, undefined);
    if (path !== undefined) return path;
    throw new StoreError("not-found", { sessionId: this.id, message: `session "${this.id}" not found` });
  }

  /** Under the lease: writes what the read found missing, and keeps the end of the file open. */
  async #repair(read: LogRead, salvage: boolean): Promise<{ closers: LogEvent[]; kept: string | null }> {
    const { validator, path } = read;
    await this.#closeAppender();
    const closers = validator.tracker.closers().map((event) => freezeJson(event));
    const { fs, publication, encoding } = this.#context;
    assertReadable(read, closers);
    const { appender, kept } = await repairLog(
      { fs, publication, path, encoding },
      { tail: read.tail, closers, file: read.file, revision: read.revision },
      salvage,
    );
    for (const closer of closers) validator.admit({ ...closer });
    const nextSeq = read.nextSeq + closers.length;
    this.#state = { kind: "stored", path, validator, nextSeq, revision: undefined, appender };
    return { closers, kept };
  }

  /**
   * Reads the session and makes its recovery durable. Damage beyond a torn tail is shown and left as it is. Needs the
   * lease only when there is something to write.
   */
  load(cwd: string | undefined): Promise<LogView> {
    return this.serialize(async () => {
      const path = this.#state.kind === "stored" ? this.#state.path : await this.#context.find(this.id, cwd);
      if (path === undefined) {
        throw new StoreError("not-found", { sessionId: this.id, message: `session "${this.id}" not found` });
      }
      const read = await this.#context.read(path, this.id);
      const closers = read.validator.tracker.closers();
      if (read.tail.kind === "damaged" || !isReadable(read, closers)) {
        await this.#forget();
        return viewOf(read, closers);
      }
      if (!needsRepair({ tail: read.tail, closers })) {
        await this.#note(read);
        return viewOf(read, []);
      }
      const result = await this.#repairUnderLease(read, false);
      return viewOf(result.read, result.closers);
    });
  }

  /** Explicit recovery, which may also cut whole lines that cannot be read. */
  recover(salvage: boolean): Promise<{ read: LogRead; closers: LogEvent[]; kept: string | null }> {
    return this.serialize(async () => {
      const path = await this.#find();
      return this.#repairUnderLease(await this.#context.read(path, this.id), salvage);
    });
  }

  async #repairUnderLease(
    first: LogRead,
    salvage: boolean,
  ): Promise<{ read: LogRead; closers: LogEvent[]; kept: string | null }> {
    const wasHeld = this.#lease.isHeld;
    await this.#lease.take(dirname(first.path));
    try {
      const isCurrent = revisionOf(await statLog(this.#context.fs, first.path, this.id)) === first.revision;
      const read = isCurrent ? first : await this.#context.read(first.path, this.id);
      const result = await this.#repair(read, salvage);
      return { read, ...result };
    } finally {
      if (!wasHeld) await this.#release();
    }
  }

  /** A read without anything to repair: what is known of the log is now what was read. */
  async #note(read: LogRead): Promise<void> {
    const { validator, path, nextSeq, revision } = read;
    const state = this.#state;
    if (state.kind === "stored" && state.appender !== undefined) {
      const stats = await statLog(this.#context.fs, path, this.id);
      if (revisionOf(stats) === revision && Number(stats.size) === state.appender.end.size) {
        this.#state = { ...state, validator, nextSeq };
        return;
      }
      await this.#release();
    }
    this.#state = { kind: "stored", path, validator, nextSeq, revision, appender: undefined };
  }

  async #closeAppender(): Promise<void> {
    const state = this.#state;
    if (state.kind !== "stored" || state.appender === undefined) return;
    this.#state = { ...state, appender: undefined };
    await state.appender.close();
  }

  /** Closes the file and gives the lease back; what is known of the log stays known as long as it stays the same. */
  async #release(): Promise<void> {
    const state = this.#state;
    if (state.kind === "stored" && state.appender !== undefined) {
      const stats = await statOpen(state.appender.file, state.path);
      const isOurs = Number(stats.size) === state.appender.end.size;
      this.#state = { ...state, appender: undefined, revision: isOurs ? revisionOf(stats) : undefined };
      await state.appender.close();
    }
    this.#lease.drop();
  }

  async #forget(): Promise<void> {
    await this.#closeAppender();
    this.#lease.drop();
    this.#state = { kind: "unknown" };
  }

  /** Gives the right to write back. The next append takes it again and validates what others have written. */
  release(): Promise<void> {
    return this.serialize(() => this.#release());
  }

  /** Runs a body that changes or removes the log as a whole, under the lease; afterwards the session is unknown. */
  exclusively<T>(body: (path: string) => Promise<T>): Promise<T> {
    return this.serialize(async () => {
      const path = await this.#find();
      await this.#lease.take(dirname(path));
      try {
        await this.#closeAppender();
        return await body(path);
      } finally {
        await this.#forget();
      }
    });
  }
}
