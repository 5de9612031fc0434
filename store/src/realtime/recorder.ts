/**
 * Binds the ordering engine to a session: evidence of every frame, canonical messages in order, removals, and the end of
 * the recording (Session file format, Realtime retention and ordered publication). Sockets, the capture and the clock
 * belong to the caller.
 */
import { randomUUID } from "node:crypto";
import { CAPTURE_DATA_OFFSET } from "../assets/wav-format";
import { isoTime } from "../clock";
import { StoreError } from "../errors";
import { type AvailableAsset, type EntryInput, type Gap, type JsonObject } from "../format/schema";
import { textOf } from "../session/text";
import { type EngineAction, type PublishedTurn } from "./actions";
import { RealtimeEngine, type TransportEvent } from "./engine";
import { GapList } from "./gap-list";
import { type EvidenceJob, LogWriter } from "./log-writer";
import { messageEntry } from "./message-entry";
import { MessageRemovals } from "./message-removals";
import { RecordedConnection } from "./recorded-connection";
import {
  type RecorderConnection,
  type RecorderOptions,
  type RecorderSnapshot,
  type RecordingOutcome,
  type RemovalResult,
  type SavedTurn,
  type SendObservation,
} from "./recorder-types";
import { SavedTurns } from "./saved-turns";
import { redactText } from "./secrets";

export class RealtimeRecorder {
  readonly #options: RecorderOptions;
  readonly #newId: () => string;
  readonly #engine = new RealtimeEngine();
  readonly #writer: LogWriter;
  readonly #gaps = new GapList();
  readonly #connections = new Map<string, RecordedConnection>();
  readonly #saved = new SavedTurns();
  readonly #removals: MessageRemovals;
  #phase: RecorderSnapshot["phase"] = "idle";
  #halted: RecorderSnapshot["halted"];
  #captureStop: RecorderSnapshot["captureStop"];
  #asset: AvailableAsset | undefined;
  #lostObservations = 0;
  #cancelTimer: (() => void) | undefined;
  #drained: (() => void)[] = [];
  #isEnding = false;
  #hasEnd = false;
  #isChanged = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#newId = options.newId ?? randomUUID;
    this.#writer = new LogWriter(
      options.session,
      options.leaf,
      (error) => this.#halt(error.code, error.message),
      () => this.#changed(),
    );
    this.#removals = new MessageRemovals({
      session: options.session,
      engine: this.#engine,
      saved: this.#saved,
      newId: this.#newId,
      now: () => this.#now(),
      keep: (entry, then) => this.#keep(entry, then),
      append: (entry) => this.#writer.append({ ...this.#identity(), ...entry }, { isOptional: true }),
      send: (connectionId, event) => this.#options.send(connectionId, event),
      changed: () => this.#changed(),
    });
  }

  get snapshot(): RecorderSnapshot {
    const provisional = this.#engine.provisional.map(({ connectionId, itemId, role, text }) => ({
      connectionId,
      itemId,
      role,
      text,
    }));
    return {
      phase: this.#phase,
      saved: this.#saved.newest,
      provisional,
      gaps: this.#gaps.gaps,
      ...(this.#halted === undefined ? {} : { halted: this.#halted }),
      ...(this.#captureStop === undefined ? {} : { captureStop: this.#captureStop }),
    };
  }

  /** The last durable entry of this recording: where a continuation goes on. */
  get leaf(): string | null {
    return this.#writer.leaf;
  }

  /** Every saved turn of this recording in order, without the removed ones: the snapshot has only the newest. Reads the session. */
  async savedTurns(): Promise<SavedTurn[]> {
    const turns: SavedTurn[] = [];
    for (const turn of this.#saved.all) {
      turns.push({ ...turn, text: textOf(await this.#options.session.entry(turn.entryId)) });
    }
    return turns;
  }

  /** Appends `recording.started`, durable on return. */
  async start(asset: AvailableAsset): Promise<void> {
    if (this.#phase !== "idle") throw new StoreError("usage", { message: "The recording was started before." });
    const { recordingId } = this.#options;
    this.#keep({ type: "recording.started", recordingId, asset });
    await this.#writer.settled();
    if (this.#writer.failure !== undefined) throw this.#writer.failure;
    this.#asset = asset;
    this.#writer.useCapture(asset);
    this.#phase = "recording";
    this.#changed();
  }

  /** Declares a connection before its first observation. Connections publish in the order of these calls. */
  async openConnection(connection: RecorderConnection): Promise<void> {
    const { connectionId } = connection;
    if (this.#connections.has(connectionId))
      throw new StoreError("usage", { message: "The connection is open already." });
    const recorded = new RecordedConnection(connection, this.#newId);
    this.#connections.set(connectionId, recorded);
    this.#engine.open(connectionId);
    // In the order of the evidence, which must not come before it.
    const entry: EntryInput = { type: "api_connection", ...recorded.origin, ...this.#identity() };
    void this.#observe({ entry, media: [], queuedBytes: 1_024, recordBytes: 1_024 });
    await Promise.resolve();
  }

  /**
   * An event that the client sends. The order knows of it at once; the promise resolves when the evidence is durable, so
   * that a client can keep the number of sends that are not within bounds, or when persistence has failed.
   */
  observeSend(connectionId: string, event: JsonObject, observed: SendObservation): Promise<void> {
    const nowMs = this.#now();
    const kept = this.#observe(this.#connection(connectionId).sent(event, observed, nowMs));
    const isFailed = observed.observation === "send_failed";
    if (this.#phase !== "finished") this.#engine.observeSend(connectionId, event, isFailed, nowMs);
    this.#settle();
    return kept;
  }

  /** A frame as it came over the wire. Takes effect on the order at once; resolves as `observeSend` does. */
  observeReceived(connectionId: string, data: string | Uint8Array): Promise<void> {
    const nowMs = this.#now();
    const { job, frame } = this.#connection(connectionId).received(data, nowMs);
    const kept = this.#observe(job);
    if (frame !== undefined && this.#phase !== "finished") this.#engine.receive(connectionId, frame, nowMs);
    this.#settle();
    return kept;
  }

  /** What happened to the socket. A close that was not asked for is a loss, whatever its code. */
  async transport(connectionId: string, event: TransportEvent): Promise<void> {
    this.#connection(connectionId);
    this.#engine.transport(connectionId, event, this.#now());
    this.#settle();
    await Promise.resolve();
  }

  /** This many data bytes of the capture are durable; media that refer to them may be kept now. */
  captureSynced(dataBytes: number): void {
    this.#writer.captureSynced(CAPTURE_DATA_OFFSET + dataBytes);
  }

  /** Something that the caller knows to be missing, such as audio that no provider heard. */
  addGap(gap: Gap): void {
    this.#gaps.add({ ...gap, reason: redactText(gap.reason) });
    this.#changed();
  }

  /**
   * What a lost connection left open was sent again on a later one and has its outcome there: it is no gap any more, and
   * the loss alone does not make the recording incomplete.
   */
  heardAgain(connectionId: string): void {
    this.#connection(connectionId);
    this.#engine.heardAgain(connectionId);
    this.#gaps.dropLoss(connectionId);
    this.#changed();
  }

  /** Removes a saved message: remotely first where it has a live connection. */
  requestRemoval(entryId: string): Promise<RemovalResult> {
    const result = this.#removals.request(entryId);
    this.#settle();
    return result;
  }

  /** Tries again to save removals that the provider has acknowledged. Nothing is sent. */
  retryRemovals(): void {
    this.#engine.retryRemovals();
    this.#settle();
  }

  /** Resolves when everything that can be is durable, or persistence has failed. */
  settled(): Promise<void> {
    return this.#writer.settled();
  }

  /**
   * Finishes the recording. Call it when the capture has stopped, the rest of its audio is sent and, where audio was not
   * committed, one commit. Drains for ten seconds at most, closes what is open as gaps, publishes what is final and
   * appends `recording.finished`. After a halt it writes what is left once more, and rejects when that fails too.
   */
  async stop(options: { durationMs: number }): Promise<RecordingOutcome> {
    this.#beginEnd();
    this.#engine.stop(this.#now());
    this.#settle();
    await this.#drain();
    await this.#flush();
    const gaps = this.#allGaps();
    const isComplete = this.#engine.outcome === "complete" && gaps.length === 0;
    const outcome = isComplete ? "complete" : "incomplete";
    await this.#end({
      type: "recording.finished",
      recordingId: this.#options.recordingId,
      durationMs: Math.max(0, Math.round(options.durationMs)),
      outcome,
      ...(gaps.length === 0 ? {} : { gaps }),
    });
    return { outcome, gaps };
  }

  /** Ends the recording without draining; what is final is published, the rest is left to a restart's report. */
  async interrupt(reason: string, durationMs?: number): Promise<void> {
    this.#beginEnd();
    this.#engine.endDrain(this.#now());
    this.#settle();
    await this.#flush();
    await this.#end({
      type: "recording.interrupted",
      recordingId: this.#options.recordingId,
      reason: redactText(reason),
      ...(durationMs === undefined ? {} : { durationMs: Math.max(0, Math.round(durationMs)) }),
    });
  }

  #beginEnd(): void {
    if (this.#isEnding || this.#phase === "idle") {
      throw new StoreError("usage", { message: "The recording is not running." });
    }
    this.#isEnding = true;
    if (this.#phase === "recording") this.#phase = "finishing";
  }

  #drain(): Promise<void> {
    if (this.#engine.phase === "drained") return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  /** The capture has ended, so what its file holds now is all that it will. */
  async #flush(): Promise<void> {
    this.#writer.captureSynced(Number.MAX_SAFE_INTEGER);
    if (this.#writer.failure !== undefined) this.#writer.retry();
    await this.#writer.settled();
    this.retryRemovals();
    await this.#writer.settled();
    this.#assertWritten();
  }

  /** Appends the one end of the recording. After a failure the same entry is what `#flush` sends again. */
  async #end(entry: EntryInput): Promise<void> {
    if (!this.#hasEnd) {
      this.#hasEnd = true;
      this.#keep(entry);
      await this.#writer.settled();
      this.#assertWritten();
    }
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#phase = "finished";
    this.#changed();
  }

  #assertWritten(): void {
    if (this.#writer.failure === undefined) return;
    this.#isEnding = false;
    throw this.#writer.failure;
  }

  #allGaps(): Gap[] {
    if (this.#lostObservations === 0) return this.#gaps.gaps;
    return [...this.#gaps.gaps, { reason: "observations_not_kept", count: this.#lostObservations }];
  }

  #observe(job: EvidenceJob): Promise<void> {
    const kept = new Promise<void>((resolve) => (job.settled = resolve));
    if (this.#halted === undefined && this.#writer.observe(job)) return kept;
    this.#lostObservations += 1;
    this.#halt("backpressure", "Observations arrive faster than they can be saved.");
    return Promise.resolve();
  }

  /** Persistence has failed: visible at once, and the caller stops the capture. */
  #halt(code: string, message: string): void {
    this.#halted ??= { code, message: redactText(message) };
    if (this.#phase === "recording" || this.#phase === "finishing") this.#phase = "halted";
    this.#changed();
  }

  /** Carries out what the engine asks for, and sets the timer for what is due next. */
  #settle(): void {
    for (let actions = this.#engine.takeActions(); actions.length > 0; actions = this.#engine.takeActions()) {
      for (const action of actions) this.#act(action);
    }
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const next = this.#engine.nextDeadlineMs;
    if (next !== undefined && this.#phase !== "finished") {
      this.#cancelTimer = this.#options.clock.setTimer(Math.max(0, next - this.#now()), () => {
        this.#cancelTimer = undefined;
        this.#engine.advance(this.#now());
        this.#settle();
      });
    }
    this.#changed();
  }

  #act(action: EngineAction): void {
    switch (action.type) {
      case "publish":
        this.#publish(action.turn);
        break;
      case "gap": {
        const { gap, isOfLoss = false } = action;
        this.#gaps.addOrderGap(gap, this.#connections.get(gap.connectionId)?.gapRangeOf(gap), isOfLoss);
        break;
      }
      case "request-removal":
      case "remove":
      case "removal-ended":
        this.#removals.act(action);
        break;
      case "stop-capture": {
        const { reason, connectionId } = action;
        this.#captureStop ??= { reason, ...(connectionId === undefined ? {} : { connectionId }) };
        // A lost provider alone does not end the capture: that is the caller's choice.
        if (reason !== "transport-lost" && this.#phase === "recording") this.#phase = "finishing";
        break;
      }
      case "close":
        this.#options.onCloseConnection?.(action.connectionId);
        break;
      case "drained":
        for (const resolve of this.#drained.splice(0)) resolve();
        break;
      case "skip":
        break;
    }
  }

  #publish(turn: PublishedTurn): void {
    const { connectionId, itemId, role, text } = turn;
    const connection = this.#connections.get(connectionId);
    const range = connection?.rangeOf(turn);
    const audio =
      range === undefined || this.#asset === undefined || role !== "user"
        ? undefined
        : { asset: this.#asset, recordingId: this.#options.recordingId, range };
    const entry = { ...messageEntry(turn, connection?.origin, audio, this.#now()), ...this.#identity() };
    this.#keep(entry, () => {
      this.#saved.add({ entryId: entry.id, role, text, itemId, connectionId });
      this.#changed();
    });
  }

  /** Appends without being waited for. A failure halts the writer, which reports it and can send it again. */
  #keep(entry: EntryInput, then: () => void = () => undefined): void {
    const identified = { ...this.#identity(), ...entry };
    void this.#writer.append(identified).then(then);
  }

  /** Fixed when an entry is queued, so that sending it again is the same entry. */
  #identity(): { id: string; timestamp: string } {
    return { id: this.#newId(), timestamp: isoTime(this.#now()) };
  }

  #connection(connectionId: string): RecordedConnection {
    const connection = this.#connections.get(connectionId);
    if (connection === undefined) throw new StoreError("usage", { message: "The connection was not opened." });
    return connection;
  }

  #now(): number {
    return this.#options.clock.now();
  }

  /** Tells the caller once for all changes of the same turn of the event loop. */
  #changed(): void {
    if (this.#isChanged) return;
    this.#isChanged = true;
    queueMicrotask(() => {
      this.#isChanged = false;
      this.#options.onChange(this.snapshot);
    });
  }
}
