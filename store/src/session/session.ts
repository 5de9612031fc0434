/** One session folder, opened: reading never writes; what is appended goes one way (Session file format). */
import { basename, dirname, join } from "node:path";
import { createAsset, type AssetFile, writeProtocolAsset } from "../assets/create-asset";
import { openAsset, type AssetReader } from "../assets/open-asset";
import { StoreError } from "../errors";
import {
  type AssetReference,
  type AvailableAsset,
  type Entry,
  type EntryInput,
  type EntryType,
  type SessionHeader,
} from "../format/schema";
import { appendEntries } from "../log/append";
import { BodyCache } from "../log/body-cache";
import { LogHandle } from "../log/log-handle";
import { type LogIndex, scanLog, type ScanOptions } from "../log/scan";
import { type Diagnostic, isProjectable, type Recoverable, type Verdict } from "../log/verdict";
import { asStoreError, errnoName } from "../platform/errno";
import { type OpenFile } from "../platform/fs";
import { pinDirectory, type PinnedDirectory, sameIdentity, identityOf } from "../platform/pinned-directory";
import { type ContextMessage, toContext } from "./context";
import { Continuation } from "./continuation";
import { type HistoryItem, historyPositions, isHistoryItem } from "./history";
import { deriveLabel, foldMetadata, labelsOnBranch, type SessionInfo } from "./info";
import { LOG_NAME } from "./log-name";
import { removeMessage, renameSession, setArchived, setLabel } from "./mutate";
import { type Page, type PageOptions, pagePositions } from "./pages";
import { type RawPage, type RawPageOptions, readRawRecords } from "./raw-records";
import { foldRecordings, type RecordingSummary } from "./recordings";
import { recoverSession, type RecoverOptions, type RecoverReport } from "./recover";
import { defaultStoreContext, type StoreContext } from "./store-context";
import { textOf } from "./text";

export type { ContextMessage } from "./context";
export type { HistoryItem } from "./history";
export type { SessionInfo } from "./info";
export type { RecordingSummary } from "./recordings";

export interface AppendToSessionOptions {
  /** Parent of the first entry that names none; each later one that names none follows the one before it. */
  parentId?: string | null;
  signal?: AbortSignal;
}

export interface AppendToSessionResult {
  /** In the order asked for; what was committed before is returned as it is in the log. */
  committed: Entry[];
  /** The last entry of the batch; null for an empty batch. */
  leaf: string | null;
}

export interface OpenSessionOptions extends ScanOptions {
  /**
   * Bytes of records whose parsed bodies are kept once they were read, so that asking again for a history or a context
   * does not read them again; 0 when left out. Kept entries are frozen.
   */
  bodyCacheBytes?: number;
}

/** Entries that belong to the session and not to a branch: without a parent they follow the default leaf. */
const METADATA: readonly EntryType[] = ["session_info", "label", "message.removed"];
const METADATA_POSITIONS: readonly EntryType[] = ["session_info", "label"];
const RECORDING_TYPES: readonly EntryType[] = ["recording.started", "recording.finished", "recording.interrupted"];
/** Texts are looked at in groups of this size until one is found that can be a title. */
const LABEL_GROUP = 8;

/** Opens a session of any verdict. `not-found` without a session folder; never writes. */
export async function openSession(
  location: string,
  context: StoreContext = defaultStoreContext(),
  options: OpenSessionOptions = {},
): Promise<Session> {
  options.signal?.throwIfAborted();
  const { fs } = context;
  let file: OpenFile | undefined;
  try {
    const path = await fs.realpath(location);
    // The path of the log stands for its folder.
    const stat = await fs.lstat(path);
    const folder = stat.isFile() && basename(path) === LOG_NAME ? dirname(path) : path;
    const directory = await pinDirectory(fs, folder);
    file = await fs.open(join(directory.path, LOG_NAME), "read");
    const log = await scanLog(file, options);
    return new Session(context, directory, file, log, new BodyCache(options.bodyCacheBytes ?? 0));
  } catch (error) {
    await file?.close();
    options.signal?.throwIfAborted();
    const typed = asStoreError(error, { location }, "open the session");
    if (typed.code === "location-gone") throw new StoreError("not-found", { location, cause: error });
    throw typed.place.location === undefined ? relocated(typed, location) : typed;
  }
}

function relocated(error: StoreError, location: string): StoreError {
  return new StoreError(error.code, { ...error.place, location, message: error.message, cause: error.cause });
}

export class Session {
  /** Canonical path of the folder. */
  readonly location: string;
  readonly #context: StoreContext;
  readonly #directory: PinnedDirectory;
  readonly #file: OpenFile;
  readonly #log: LogIndex;
  readonly #bodies: BodyCache;
  readonly #handle: LogHandle;
  /** Whatever changes the index goes one after the other. */
  #queue: Promise<unknown> = Promise.resolve();
  #closed = false;

  /** Use `openSession`. */
  constructor(context: StoreContext, directory: PinnedDirectory, file: OpenFile, log: LogIndex, bodies: BodyCache) {
    this.#context = context;
    this.#directory = directory;
    this.#file = file;
    this.#log = log;
    this.#bodies = bodies;
    this.location = directory.path;
    this.#handle = new LogHandle(context.fs, directory, LOG_NAME, log.identity, log.header?.id);
  }

  /** The id of the header; empty when the log has no readable one. */
  get id(): string {
    return this.#log.header?.id ?? "";
  }

  /** ISO time of the header; empty when the log has no readable one. */
  get createdAt(): string {
    return this.#log.header?.timestamp ?? "";
  }

  get header(): SessionHeader | null {
    return this.#log.header;
  }

  get verdict(): Verdict {
    return this.#log.verdict;
  }

  /** True for `valid` only. */
  get authoritative(): boolean {
    return this.#log.authoritative;
  }

  get recoverable(): Recoverable {
    return this.#log.recoverable;
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.#log.diagnostics;
  }

  /** Valid entries before the first problem; the header is not an entry. */
  get entryCount(): number {
    return this.#log.entries.count;
  }

  /** Bytes of the log up to the end of the last committed record. */
  get committedBytes(): number {
    return this.#log.committedBytes;
  }

  /** The default leaf: the last committed entry of any type. */
  get leaf(): string | null {
    return this.#log.entries.lastId;
  }

  /** Whether an entry with this id is committed. */
  has(id: string): boolean {
    return this.#log.entries.has(id);
  }

  /** Takes up what was appended since, from the end of what is known. */
  refresh(options: ScanOptions = {}): Promise<void> {
    return this.#exclusively(async () => {
      await this.#reading(() => this.#log.extend(this.#file, options));
    });
  }

  /** A page of entries in file order, forward or backward. */
  async entries(options: PageOptions = {}): Promise<Page> {
    this.#assertProjectable();
    const { positions, more } = pagePositions(this.#log.entries, options);
    const backward = options.direction === "backward";
    const entries = await this.#read(backward ? positions.toReversed() : positions);
    const last = positions.at(-1);
    return {
      entries: backward ? entries.reverse() : entries,
      next: more && last !== undefined ? this.#log.entries.idOf(last) : null,
    };
  }

  /** The lines of the log as they are, whatever its verdict. */
  rawRecords(options: RawPageOptions = {}): Promise<RawPage> {
    return this.#reading(() => readRawRecords(this.#file, options));
  }

  async entry(id: string): Promise<Entry> {
    this.#assertProjectable();
    const position = this.#positionOf(id);
    const [entry] = await this.#read([position]);
    if (entry === undefined) throw new StoreError("entry-not-found", this.#place());
    return entry;
  }

  /** What survives on the selected ancestry, in order. Left out: the default leaf; null: the empty ancestry. */
  async history(leaf?: string | null, options: { signal?: AbortSignal } = {}): Promise<HistoryItem[]> {
    this.#assertProjectable();
    const entries = await this.#read(historyPositions(this.#log.entries, this.#resolve(leaf)), options.signal);
    return entries.filter(isHistoryItem);
  }

  /** The number of messages that survive on the selected ancestry; reads no bodies. */
  messageCount(leaf?: string | null): number {
    this.#assertProjectable();
    return historyPositions(this.#log.entries, this.#resolve(leaf)).length;
  }

  /** The generic context of the selected ancestry. */
  async context(leaf?: string | null): Promise<ContextMessage[]> {
    return toContext(await this.history(leaf));
  }

  /** The `custom` entries of the selected ancestry, in order: branch-linked state, newest last. */
  async customState(leaf?: string | null): Promise<Entry[]> {
    this.#assertProjectable();
    const { entries } = this.#log;
    return this.#read(entries.pathTo(this.#resolve(leaf)).filter((position) => entries.typeOf(position) === "custom"));
  }

  /** Name, archive flag and labels, which are global, and the text the session is shown under, from a branch. */
  async info(leaf?: string | null): Promise<SessionInfo> {
    this.#assertProjectable();
    const { entries } = this.#log;
    const selected = this.#resolve(leaf);
    const metadata = foldMetadata(await this.#ofTypes(METADATA_POSITIONS), (id) => entries.has(id));
    const branchLabels = labelsOnBranch(metadata.labels, entries, selected);
    return { ...metadata, branchLabels, label: metadata.name ?? (await this.#derivedLabel(selected)) };
  }

  /** All recordings of the session, in the order of their starts. */
  async recordings(): Promise<RecordingSummary[]> {
    this.#assertProjectable();
    return foldRecordings(await this.#ofTypes(RECORDING_TYPES));
  }

  /**
   * Appends at most 256 entries, durable on return. Metadata entries without a parent follow the default leaf as it is
   * under the lock; for any other type the caller says the parent.
   */
  append(inputs: readonly EntryInput[], options: AppendToSessionOptions = {}): Promise<AppendToSessionResult> {
    return this.#exclusively(async () => {
      this.#assertOpen();
      const [first] = inputs;
      const parentless = first !== undefined && first.parentId === undefined && options.parentId === undefined;
      if (parentless && !METADATA.includes(first.type)) {
        throw new StoreError("usage", { ...this.#place(), message: `An entry of type ${first.type} needs a parent.` });
      }
      const target = { handle: this.#handle, log: this.#log };
      const { committed } = await appendEntries(target, inputs, this.#context, options);
      return { committed, leaf: committed.at(-1)?.id ?? null };
    });
  }

  /** One writer's place, which only its own appends move. An id that is not there is `entry-not-found`. */
  continuation(leaf?: string | null): Continuation {
    const position = this.#resolve(leaf);
    return new Continuation(this, position === -1 ? null : this.#log.entries.idOf(position));
  }

  rename(name: string): Promise<Entry> {
    return renameSession(this, name);
  }

  setArchived(archived: boolean): Promise<Entry> {
    return setArchived(this, archived);
  }

  setLabel(targetId: string, label: string | null): Promise<Entry> {
    return setLabel(this, targetId, label);
  }

  removeMessage(targetId: string, leaf?: string | null): Promise<Entry> {
    return removeMessage(this, targetId, leaf);
  }

  createAsset(name: string, mimeType: string): Promise<AssetFile> {
    this.#assertOpen();
    return createAsset(this.#context.fs, this.#directory, name, mimeType);
  }

  openAsset(reference: AssetReference): Promise<AssetReader> {
    this.#assertOpen();
    return openAsset(this.#context.fs, this.#directory, reference);
  }

  writeProtocolAsset(bytes: Uint8Array, about: { mimeType: string; encoding?: string }): Promise<AvailableAsset> {
    this.#assertOpen();
    return writeProtocolAsset(this.#context.fs, this.#directory, bytes, about);
  }

  /** Explicit recovery of the tail and of interrupted recordings; the only thing that changes what is there. */
  recover(options: RecoverOptions = {}): Promise<RecoverReport> {
    return this.#exclusively(async () => {
      this.#assertOpen();
      const report = await recoverSession(this.#directory, this.#context, options);
      if (options.dryRun !== true) await this.#reading(() => this.#log.extend(this.#file));
      return report;
    });
  }

  /** Gives the descriptors back. The session cannot be used afterwards. */
  close(): Promise<void> {
    return this.#exclusively(async () => {
      if (this.#closed) return;
      this.#closed = true;
      await this.#handle.revoke();
      await this.#file.close();
    });
  }

  async #derivedLabel(leaf: number): Promise<string> {
    const positions = historyPositions(this.#log.entries, leaf);
    for (let from = 0; from < positions.length; from += LABEL_GROUP) {
      for (const entry of await this.#read(positions.subarray(from, from + LABEL_GROUP))) {
        const label = deriveLabel(textOf(entry));
        if (label !== "") return label;
      }
    }
    return "";
  }

  #ofTypes(types: readonly EntryType[]): Promise<Entry[]> {
    return this.#read(this.#log.entries.positionsOf(types));
  }

  #read(positions: ArrayLike<number>, signal?: AbortSignal): Promise<Entry[]> {
    return this.#reading(() => this.#bodies.read(this.#file, this.#log.entries, positions, signal));
  }

  /** Runs a read of the log file, which must still be the one under the session's name. */
  async #reading<T>(read: () => Promise<T>): Promise<T> {
    this.#assertOpen();
    try {
      const named = await this.#context.fs.lstat(join(this.location, LOG_NAME));
      if (!sameIdentity(identityOf(named), this.#log.identity)) throw new StoreError("log-replaced", this.#place());
      return await read();
    } catch (error) {
      // A reason of cancellation, or a defect of this program, is passed on as it is.
      if (!(error instanceof StoreError) && errnoName(error) === undefined) throw error;
      const typed = asStoreError(error, this.#place(), "read the session");
      throw typed.code === "location-gone" ? new StoreError("handle-revoked", this.#place()) : typed;
    }
  }

  #exclusively<T>(body: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(body, body);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /** -1 for the empty ancestry. */
  #resolve(leaf: string | null | undefined): number {
    if (leaf === undefined) return this.#log.entries.count - 1;
    return leaf === null ? -1 : this.#positionOf(leaf);
  }

  #positionOf(id: string): number {
    const position = this.#log.entries.positionOf(id);
    if (position === -1) throw new StoreError("entry-not-found", this.#place());
    return position;
  }

  /** The committed part of a pending tail projects; of a blocked or corrupt log nothing does. */
  #assertProjectable(): void {
    this.#assertOpen();
    if (isProjectable(this.verdict)) return;
    const { line, offset } = this.diagnostics[0] ?? {};
    throw new StoreError("session-not-authoritative", {
      ...this.#place(),
      ...(line === undefined ? {} : { line }),
      ...(offset === undefined ? {} : { offset }),
    });
  }

  #assertOpen(): void {
    if (this.#closed) throw new StoreError("handle-revoked", this.#place());
  }

  #place(): { location: string; sessionId?: string } {
    return { location: this.location, ...(this.id === "" ? {} : { sessionId: this.id }) };
  }
}
