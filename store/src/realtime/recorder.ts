/**
 * Binds the ordering engine to a session: evidence of every frame, canonical messages in order, removals, and the end of
 * the recording (Session file format, Realtime retention and ordered publication). Sockets, the capture and the clock
 * belong to the caller.
 */
import { randomUUID } from "node:crypto";
import { CAPTURE_DATA_OFFSET } from "../assets/wav-format";
import { isoTime } from "../clock";
import { isStoreError, StoreError } from "../errors";
import { type AvailableAsset, type Entry, type EntryInput, type Gap, type JsonObject } from "../format/schema";
import { type EngineAction, type PublishedTurn } from "./actions";
import { AudioClock } from "./audio-clock";
import { RealtimeEngine, type TransportEvent } from "./engine";
import { type Evidence, evidenceOfEvent, evidenceOfFrame } from "./evidence";
import { stringOf } from "./fields";
import { GapList } from "./gap-list";
import { type EvidenceJob, LogWriter } from "./log-writer";
import { messageEntry } from "./message-entry";
import { Observations } from "./observations";
import {
  type RecorderConnection,
  type RecorderOptions,
  type RecorderSnapshot,
  type RecordingOutcome,
  type RemovalResult,
  type SavedTurn,
  type SendObservation,
} from "./recorder-types";
import { removalEntry } from "./removal-record";
import { plainEndpoint, redactText } from "./secrets";

/** Turns of the snapshot. */
const SAVED_TAIL = 200;

interface Connection {
  readonly origin: RecorderConnection;
  readonly observations: Observations;
  readonly audio: AudioClock;
}

type Waiting = (result: RemovalResult) => void;

export class RealtimeRecorder {
  readonly #options: RecorderOptions;
  readonly #newId: () => string;
  readonly #engine = new RealtimeEngine();
  readonly #writer: LogWriter;
  readonly #gaps = new GapList();
  readonly #connections = new Map<string, Connection>();
  /** Entry ids of saved turns, and the turn of an entry. */
  readonly #entryIds = new Map<string, string>();
  readonly #turns = new Map<string, { connectionId: string; itemId: string }>();
  readonly #removals = new Map<string, Waiting[]>();
  #saved: SavedTurn[] = [];
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
      saved: [...this.#saved],
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

  /** Appends `recording.started`, durable on return. */
  async start(asset: AvailableAsset): Promise<void> {
    if (this.#phase !== "idle") throw new StoreError("usage", { message: "The recording was started before." });
    const { recordingId } = this.#options;
    await this.#append({ type: "recording.started", recordingId, asset });
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
    const origin = { ...connection, endpoint: plainEndpoint(connection.endpoint) };
    this.#connections.set(connectionId, {
      origin,
      observations: new Observations(connectionId, this.#newId),
      audio: new AudioClock(),
    });
    this.#engine.open(connectionId);
    // In the order of the evidence, which must not come before it.
    const entry: EntryInput = { type: "api_connection", ...origin, ...this.#identity() };
    void this.#observe({ entry, media: [], queuedBytes: 1_024, recordBytes: 1_024 });
    await Promise.resolve();
  }

  /**
   * An event that the client sends. The order knows of it at once; the promise resolves when the evidence is durable, so
   * that a client can keep the number of sends that are not within bounds, or when persistence has failed.
   */
  observeSend(connectionId: string, event: JsonObject, observed: SendObservation): Promise<void> {
    const connection = this.#connection(connectionId);
    const isFailed = observed.observation === "send_failed";
    const evidence = evidenceOfEvent(event);
    if (!isFailed) noteAudio(connection.audio, event, evidence, observed.wav);
    const nowMs = this.#now();
    const job = connection.observations.next(evidence, observed.observation, sizeOf(evidence), nowMs, observed.wav);
    const kept = this.#observe(job);
    if (this.#phase !== "finished") this.#engine.observeSend(connectionId, event, isFailed, nowMs);
    this.#settle();
    return kept;
  }

  /** A frame as it came over the wire. Takes effect on the order at once; resolves as `observeSend` does. */
  observeReceived(connectionId: string, data: string | Uint8Array): Promise<void> {
    const connection = this.#connection(connectionId);
    const evidence = evidenceOfFrame(data);
    const nowMs = this.#now();
    const queuedBytes = typeof data === "string" ? Buffer.byteLength(data) : data.byteLength;
    const kept = this.#observe(connection.observations.next(evidence, "received", queuedBytes, nowMs));
    if (evidence.frame !== undefined && this.#phase !== "finished") {
      this.#engine.receive(connectionId, evidence.frame, nowMs);
    }
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

  /** Removes a saved message: remotely first where it has a live connection. */
  async requestRemoval(entryId: string): Promise<RemovalResult> {
    const turn = this.#turns.get(entryId);
    if (turn === undefined) return this.#removeEarlierMessage(entryId);
    const { connectionId, itemId } = turn;
    const result = new Promise<RemovalResult>((resolve) => {
      this.#removals.set(entryId, [...(this.#removals.get(entryId) ?? []), resolve]);
    });
    const decision = this.#engine.requestRemoval(connectionId, itemId, this.#newId(), this.#now());
    if (decision.kind === "refused") {
      const reason = decision.reason === "removed" ? "already-removed" : "not-saved";
      this.#removalEnded(entryId, { kind: "refused", reason });
    }
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
        const range = this.#connections.get(action.gap.connectionId)?.audio.rangeOf(action.gap, { isOpenEnded: true });
        this.#gaps.addOrderGap(action.gap, range);
        break;
      }
      case "request-removal":
        this.#askProvider(action);
        break;
      case "remove":
        this.#saveRemoval(action.connectionId, action.itemId);
        break;
      case "removal-ended": {
        const entryId = this.#entryIds.get(keyOf(action.connectionId, action.itemId));
        if (entryId === undefined) break;
        this.#keep(removalEntry({ state: action.outcome, targetId: entryId, ...idsOf(action) }));
        this.#removalEnded(entryId, { kind: action.outcome });
        break;
      }
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
    const range = connection?.audio.rangeOf(turn);
    const audio =
      range === undefined || this.#asset === undefined || role !== "user"
        ? undefined
        : { asset: this.#asset, recordingId: this.#options.recordingId, range };
    const entry = { ...messageEntry(turn, connection?.origin, audio, this.#now()), ...this.#identity() };
    this.#keep(entry, () => {
      this.#entryIds.set(keyOf(connectionId, itemId), entry.id);
      this.#turns.set(entry.id, { connectionId, itemId });
      this.#saved = [...this.#saved.slice(1 - SAVED_TAIL), { entryId: entry.id, role, text, itemId, connectionId }];
      this.#changed();
    });
  }

  /** Keeps the intent, then sends it. When the intent cannot be kept, nothing is sent. */
  #askProvider(action: Extract<EngineAction, { type: "request-removal" }>): void {
    const { connectionId, itemId, event } = action;
    const targetId = this.#entryIds.get(keyOf(connectionId, itemId)) ?? "";
    const intent = removalEntry({ state: "requested", targetId, connectionId, itemId });
    this.#keep(intent, () => this.#options.send(connectionId, event));
  }

  #saveRemoval(connectionId: string, itemId: string): void {
    const targetId = this.#entryIds.get(keyOf(connectionId, itemId));
    if (targetId === undefined) return;
    void this.#remove(targetId).then((result) => {
      const isRemoved = result.kind === "removed" || (result.kind === "refused" && result.reason === "already-removed");
      if (isRemoved) this.#engine.removalSaved(connectionId, itemId);
      this.#removalEnded(targetId, result);
    });
  }

  /** A message of an earlier recording has no live connection: nothing is sent anywhere. */
  async #removeEarlierMessage(entryId: string): Promise<RemovalResult> {
    const { session } = this.#options;
    if (!session.has(entryId)) return { kind: "refused", reason: "not-saved" };
    const { type } = await session.entry(entryId);
    if (type !== "message" && type !== "custom_message") return { kind: "refused", reason: "not-saved" };
    return this.#remove(entryId);
  }

  async #remove(targetId: string): Promise<RemovalResult> {
    try {
      await this.#writer.append({ type: "message.removed", targetId, ...this.#identity() }, { isOptional: true });
      return { kind: "removed" };
    } catch (error) {
      if (!isStoreError(error)) throw error;
      if (error.code === "already-removed") return { kind: "refused", reason: "already-removed" };
      return { kind: "not-saved", code: error.code };
    }
  }

  #removalEnded(entryId: string, result: RemovalResult): void {
    const waiting = this.#removals.get(entryId) ?? [];
    this.#removals.delete(entryId);
    for (const resolve of waiting) resolve(result);
    this.#changed();
  }

  /** Appends without being waited for. A failure halts the writer, which reports it and can send it again. */
  #keep(entry: EntryInput, then: () => void = () => undefined): void {
    const identified = { ...this.#identity(), ...entry };
    void this.#writer.append(identified).then(then);
  }

  async #append(entry: EntryInput): Promise<Entry> {
    const appended = this.#writer.append({ ...this.#identity(), ...entry });
    await this.#writer.settled();
    if (this.#writer.failure !== undefined) throw this.#writer.failure;
    return appended;
  }

  /** Fixed when an entry is queued, so that sending it again is the same entry. */
  #identity(): { id: string; timestamp: string } {
    return { id: this.#newId(), timestamp: isoTime(this.#now()) };
  }

  #connection(connectionId: string): Connection {
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

function keyOf(connectionId: string, itemId: string): string {
  return `${connectionId} ${itemId}`;
}

function idsOf(action: { connectionId: string; itemId: string }): { connectionId: string; itemId: string } {
  return { connectionId: action.connectionId, itemId: action.itemId };
}

/** Bytes that an observed send holds in memory until it is durable. */
function sizeOf(evidence: Evidence): number {
  return evidence.recordBytes + evidence.media.reduce((sum, media) => sum + media.bytes.length, 0);
}

function noteAudio(
  audio: AudioClock,
  event: JsonObject,
  evidence: Evidence,
  wav: { start: number; end: number } | undefined,
): void {
  const type = stringOf(event, "type");
  if (type === "input_audio_buffer.append") audio.sent(wav, evidence.media[0]?.bytes.length ?? 0);
  if (type === "input_audio_buffer.commit") audio.committed();
}
