/**
 * Brings evidence and canonical entries into the session: each in its own order, many of them a write.
 *
 * Canonical entries never wait for media: an observation whose bytes are not durable yet holds back the observations
 * after it, not the messages. After a failure nothing is written until `retry`, which sends the same batch again.
 */
import { isStoreError, StoreError } from "../errors";
import { type AvailableAsset, type Entry, type EntryInput } from "../format/schema";
import { type Session } from "../session/session";
import { MAX_QUEUED_BYTES, MAX_QUEUED_JOBS } from "./limits";
import { storeMedia, type PendingMedia } from "./media-store";

export type WriterSession = Pick<Session, "append" | "openAsset" | "writeProtocolAsset">;

/** One observation on its way to the disk. */
export interface EvidenceJob {
  /** With its id and timestamp, so that a retry is the same entry; its parent is chosen when it is written. */
  entry: EntryInput;
  media: PendingMedia[];
  /** Bytes that it takes in memory, as the bound of the queue counts them. */
  queuedBytes: number;
  recordBytes: number;
  /** Called once when the observation is durable, or writing has failed. */
  settled?: () => void;
}

interface CanonicalJob {
  entry: EntryInput;
  /** A failure is the caller's to handle and does not stop the writer. */
  isOptional: boolean;
  resolve(entry: Entry): void;
  reject(error: StoreError): void;
}

interface Batch {
  entries: EntryInput[];
  evidence: EvidenceJob[];
  canonical: CanonicalJob[];
}

const BATCH_RECORDS = 256;
const BATCH_BYTES = 3 * 1_048_576;
/** Evidence that goes along with a message in one write. */
const COMPANION_RECORDS = 64;
const COMPANION_BYTES = 262_144;

export class LogWriter {
  readonly #session: WriterSession;
  readonly #onFailure: (error: StoreError) => void;
  readonly #onIdle: () => void;
  #leaf: string | null;
  #capture: AvailableAsset | undefined;
  #captureEnd = 0;
  #evidence: EvidenceJob[] = [];
  #canonical: CanonicalJob[] = [];
  #queuedBytes = 0;
  /** The batch that is being written, or has to be sent again. */
  #inFlight: Batch | undefined;
  #isRunning = false;
  #failure: StoreError | undefined;
  #waiters: (() => void)[] = [];

  constructor(session: WriterSession, leaf: string | null, onFailure: (error: StoreError) => void, onIdle: () => void) {
    this.#session = session;
    this.#leaf = leaf;
    this.#onFailure = onFailure;
    this.#onIdle = onIdle;
  }

  /** The last entry that this writer has made durable. */
  get leaf(): string | null {
    return this.#leaf;
  }

  get failure(): StoreError | undefined {
    return this.#failure;
  }

  /** The recording's own file, whose ranges may be referenced. */
  useCapture(asset: AvailableAsset): void {
    this.#capture = asset;
  }

  /** Everything before this offset of the capture file is durable. */
  captureSynced(fileOffset: number): void {
    this.#captureEnd = Math.max(this.#captureEnd, fileOffset);
    this.#start();
  }

  /** Takes an observation, unless the queue is full: false, and nothing is kept. */
  observe(job: EvidenceJob): boolean {
    const isEmpty = this.#evidence.length === 0;
    const fits = this.#evidence.length < MAX_QUEUED_JOBS && this.#queuedBytes + job.queuedBytes <= MAX_QUEUED_BYTES;
    // A single frame beyond the bound could never be kept otherwise.
    if (!fits && !isEmpty) return false;
    this.#evidence.push(job);
    this.#queuedBytes += job.queuedBytes;
    this.#start();
    return true;
  }

  /** Appends an entry in the order of these calls; resolves when it is durable. */
  append(entry: EntryInput, options: { isOptional?: boolean } = {}): Promise<Entry> {
    const appended = new Promise<Entry>((resolve, reject) => {
      this.#canonical.push({ entry, isOptional: options.isOptional === true, resolve, reject });
    });
    this.#start();
    return appended;
  }

  /** Sends again what failed. */
  retry(): void {
    this.#failure = undefined;
    this.#start();
  }

  /** Resolves when everything is durable that can be, or writing has failed. */
  async settled(): Promise<void> {
    while (this.#failure === undefined && (this.#isRunning || this.#hasWork())) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  #hasWork(): boolean {
    return this.#inFlight !== undefined || this.#canonical.length > 0 || this.#readyEvidence(1, BATCH_BYTES).length > 0;
  }

  #start(): void {
    if (this.#isRunning || this.#failure !== undefined || !this.#hasWork()) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    // What is observed in the same turn of the event loop goes into the same write.
    await Promise.resolve();
    while (this.#failure === undefined) {
      this.#inFlight ??= this.#compose();
      if (this.#inFlight === undefined) break;
      await this.#commit(this.#inFlight);
    }
    this.#isRunning = false;
    this.#onIdle();
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
    this.#start();
  }

  #compose(): Batch | undefined {
    const [first] = this.#canonical;
    if (first === undefined) {
      const evidence = this.#readyEvidence(BATCH_RECORDS, BATCH_BYTES);
      return evidence.length === 0 ? undefined : { entries: [], evidence, canonical: [] };
    }
    if (first.isOptional) return { entries: [], evidence: [], canonical: [first] };
    const canonical: CanonicalJob[] = [];
    let bytes = 0;
    for (const job of this.#canonical) {
      bytes += 8 * 1024 + JSON.stringify(job.entry).length * 3;
      if (job.isOptional || canonical.length >= 128 || (canonical.length > 0 && bytes > BATCH_BYTES)) break;
      canonical.push(job);
    }
    const evidence = this.#readyEvidence(COMPANION_RECORDS, COMPANION_BYTES);
    const firstWithMedia = evidence.findIndex((job) => job.media.length > 0);
    return { entries: [], evidence: firstWithMedia === -1 ? evidence : evidence.slice(0, firstWithMedia), canonical };
  }

  /** The observations at the front whose media can be made durable now. */
  #readyEvidence(maxRecords: number, maxBytes: number): EvidenceJob[] {
    const ready: EvidenceJob[] = [];
    let bytes = 0;
    for (const job of this.#evidence) {
      bytes += job.recordBytes;
      if (ready.length >= maxRecords || (ready.length > 0 && bytes > maxBytes)) break;
      if (job.media.some((media) => media.wav !== undefined && media.wav.end > this.#captureEnd)) break;
      ready.push(job);
    }
    return ready;
  }

  async #commit(batch: Batch): Promise<void> {
    try {
      if (batch.entries.length === 0) batch.entries = await this.#entriesOf(batch);
      const { committed, leaf } = await this.#session.append(batch.entries, { parentId: this.#leaf });
      this.#leaf = leaf ?? this.#leaf;
      this.#inFlight = undefined;
      this.#evidence.splice(0, batch.evidence.length);
      for (const job of batch.evidence) {
        this.#queuedBytes -= job.queuedBytes;
        job.settled?.();
      }
      this.#canonical.splice(0, batch.canonical.length);
      batch.canonical.forEach((job, index) => {
        const entry = committed[batch.evidence.length + index];
        if (entry !== undefined) job.resolve(entry);
      });
    } catch (error) {
      this.#failed(batch, isStoreError(error) ? error : new StoreError("io-error", { cause: error }));
    }
  }

  async #entriesOf(batch: Batch): Promise<EntryInput[]> {
    const media = batch.evidence.flatMap((job) => job.media);
    const references = await storeMedia(this.#session, this.#capture, media);
    let next = 0;
    const evidence = batch.evidence.map((job): EntryInput => {
      const own = references.slice(next, next + job.media.length);
      next += own.length;
      return own.length === 0 || job.entry.type !== "realtime_event" ? job.entry : { ...job.entry, media: own };
    });
    return [...evidence, ...batch.canonical.map((job) => job.entry)];
  }

  #failed(batch: Batch, error: StoreError): void {
    const [job] = batch.canonical;
    // Where the outcome is not known, writing on could put later entries beside this one instead of behind it.
    if (job?.isOptional === true && error.code !== "outcome-unknown" && error.code !== "handle-poisoned") {
      this.#inFlight = undefined;
      this.#canonical.shift();
      job.reject(error);
      return;
    }
    this.#failure = error;
    for (const waiting of this.#evidence) waiting.settled?.();
    this.#onFailure(error);
  }
}
