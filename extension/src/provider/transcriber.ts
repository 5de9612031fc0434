/**
 * Sends a recording to a Realtime server while it grows, from its first sample to its last: what cannot be sent yet
 * stays in the file, so nothing is dropped and no memory grows. Connections that are lost are replaced a bounded number
 * of times, continuing from the first sample that was not acknowledged.
 */
import { BYTES_PER_MS } from "../capture/protocol";
import { Changes } from "./changes";
import { type ConnectionEnding, RealtimeConnection } from "./connection";
import { type AudioFeed, type Evidence } from "./evidence";
import { safeCode, providerFailure, isFinalCode, type ProviderFailure } from "./failure";
import { type JsonRecord } from "./json";
import { LiveConnection } from "./live-connection";
import { type ConnectionPlan } from "./plan";
import { SendPump } from "./send-pump";
import { type TranscriberTiming, transcriberTiming } from "./timing";
import { type VoiceActivity } from "./vad/voice-activity";

export type { TranscriberTiming } from "./timing";

export type TranscriberState =
  | { kind: "connecting"; attempt: number }
  | { kind: "ready" }
  | { kind: "waiting"; failure: ProviderFailure }
  | { kind: "failed"; failure: ProviderFailure }
  | { kind: "closed" };

export interface TranscriberOptions {
  plan: ConnectionPlan;
  feed: AudioFeed;
  evidence: Evidence;
  activity: VoiceActivity;
  recordingOffset: number;
  newId(): string;
  originId: string;
  /** The first sample to send; the recording's first when absent. */
  from?: number;
  timing?: Partial<TranscriberTiming>;
  nowMs?(): number;
  onState(state: TranscriberState): void;
  /** Persistence failed: the caller stops the recording. */
  onEvidenceError(error: unknown): void;
}

const CHUNK_BYTES = 4_800;
/** Servers refuse to commit less than 100 ms. */
const MIN_COMMIT_BYTES = 100 * BYTES_PER_MS;

export class Transcriber {
  readonly #timing: TranscriberTiming;
  #state: TranscriberState = { kind: "connecting", attempt: 1 };
  #live: LiveConnection | undefined;
  /** Replaced connections that still answer. */
  readonly #draining = new Set<LiveConnection>();
  #resumeAt: number;
  #sent: number;
  #lastSpeechEnd: number | undefined;
  #failures = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #stopped = false;
  #finalCommitDone = false;
  /** A lost connection left turns open: they are not settled before the next one has heard them again. */
  #owesTurns = false;
  /** Lost connections with open turns, and up to which sample they were sent: to be heard again on a later one. */
  #unheard: { connectionId: string; to: number }[] = [];
  readonly #unsubscribe: () => void;
  readonly #changes = new Changes();
  readonly #pump: SendPump;

  constructor(private readonly options: TranscriberOptions) {
    this.#timing = { ...transcriberTiming, ...options.timing };
    this.#resumeAt = options.from ?? 0;
    this.#sent = this.#resumeAt;
    this.#pump = new SendPump({
      sendOne: () => this.#sendChunk(),
      onProgress: () => this.#changes.wake(),
      onError: options.onEvidenceError,
    });
    this.#unsubscribe = options.feed.onChange(() => this.#pump.run());
  }

  start(): void {
    this.#connect();
  }

  get state(): TranscriberState {
    return this.#state;
  }

  /** The first sample that no connection has settled: from here on the recording is not transcribed. */
  get unsettledFrom(): number {
    return this.#live?.ledger.resumeAt ?? this.#resumeAt;
  }

  /** The end of the last speech in what was sent, as a position in the recording; undefined without any. */
  get lastSpeechEnd(): number | undefined {
    return this.#lastSpeechEnd;
  }

  /** How far the recording was handed to the connection. */
  get sentTo(): number {
    return this.#sent;
  }

  /** Turns, and answers asked for, that have not ended. */
  get openTurns(): number {
    return this.#lives.reduce((sum, live) => sum + live.openTurns, 0);
  }

  /** Sends an event of the recorder's own, such as a deletion, and reports it. */
  sendFor(connectionId: string, event: JsonRecord): void {
    const live = this.#find(connectionId);
    if (live !== undefined) this.#sendOn(live, event);
  }

  /**
   * Resolves when every sample of the complete recording was sent and the last commit too, or when that is not going to
   * happen: nothing was sent for `idleMs`, or the provider failed for good.
   */
  async finishSending(idleMs: number): Promise<boolean> {
    return this.#changes.until(
      {
        isDone: () => this.#finalCommitDone && !this.#owesTurns,
        isOver: () => this.#isOver(),
        progress: () => this.#sent,
      },
      idleMs,
    );
  }

  /** Resolves when no turn is open, or none was settled for `idleMs`. What a lost connection left open counts too. */
  async settled(idleMs: number): Promise<boolean> {
    return this.#changes.until(
      {
        isDone: () => this.openTurns === 0 && !this.#owesTurns && this.#live?.ledger.hasOpenSpeech !== true,
        isOver: () => this.#isOver(),
        progress: () => `${this.openTurns} ${this.#sent}`,
      },
      idleMs,
    );
  }

  /** Ends every connection. Nothing is sent or tried again. */
  async close(graceMs: number): Promise<void> {
    this.#stopped = true;
    this.#unsubscribe();
    clearTimeout(this.#retryTimer);
    for (const live of this.#lives) live.connection.close(graceMs);
    while (this.#lives.length > 0) await this.#changes.next(graceMs + 1_000);
    this.options.activity.close();
    if (this.#state.kind !== "failed") this.#become({ kind: "closed" });
  }

  /** Gives up one connection. */
  terminate(connectionId: string): void {
    this.#find(connectionId)?.connection.close(this.#timing.closeMs);
  }

  /** Every connection that is not at its end. */
  get #lives(): LiveConnection[] {
    return [...(this.#live === undefined ? [] : [this.#live]), ...this.#draining];
  }

  #find(connectionId: string): LiveConnection | undefined {
    return this.#lives.find(({ connection }) => connection.id === connectionId);
  }

  #connect(): void {
    const { plan, newId, originId, evidence } = this.options;
    const id = newId();
    const origin = this.#resumeAt;
    this.#sent = origin;
    this.#finalCommitDone = false;
    this.#become({ kind: "connecting", attempt: this.#failures + 1 });
    this.#save(
      evidence.openConnection({
        connectionId: id,
        provider: plan.provider,
        endpoint: plan.endpoint,
        requestedModel: plan.model,
        api: plan.api,
        originId,
      }),
    );
    this.#live = new LiveConnection({
      origin,
      openedAtMs: this.#now(),
      activity: this.options.activity,
      sampleRate: plan.sampleRate,
      connect: (live) =>
        new RealtimeConnection(
          id,
          plan,
          this.#timing,
          {
            opened: () => this.#save(evidence.transport(id, { type: "open" })),
            frame: (text, event) => this.#frame(live, text, event),
            ready: () => this.#ready(live),
            drained: () => this.#pump.run(),
            ended: (ending) => this.#ended(live, ending),
          },
          (event) => this.#sendOn(live, event),
        ),
    });
  }

  #ready(live: LiveConnection): void {
    if (live !== this.#live) return;
    this.#become({ kind: "ready" });
    this.#pump.run();
  }

  #frame(live: LiveConnection, text: string, event: JsonRecord | undefined): void {
    this.#save(this.options.evidence.observeReceived(live.connection.id, text));
    if (event === undefined) return;
    if (live.replyIsDue(event)) this.#requestReply(live);
    const before = live.ledger.settledTurns;
    live.ledger.received(event);
    if (live.ledger.settledTurns > before) {
      const failed = live.ledger.lastFailureCode;
      if (failed === undefined) this.#failures = 0;
      // A turn that failed for want of quota says that the next will too.
      else if (isFinalCode(failed)) this.#giveUp(providerFailure(failed));
    }
    if (this.#draining.has(live) && live.ledger.openTurns === 0) live.connection.close(this.#timing.drainMs);
    this.#lookForHeard(live);
    this.#changes.wake();
  }

  #requestReply(live: LiveConnection): void {
    live.replyRequested();
    this.#sendOn(live, { type: "response.create", event_id: `reply_${this.options.newId()}` });
  }

  #ended(live: LiveConnection, ending: ConnectionEnding): void {
    const { code, reason, expected } = ending;
    clearTimeout(live.drainTimer);
    const planned = expected || this.#draining.has(live);
    this.#save(
      this.options.evidence.transport(live.connection.id, {
        type: "close",
        expected: planned,
        ...(code === undefined ? {} : { code }),
        ...(reason === undefined ? {} : { reason }),
      }),
    );
    if (this.#draining.delete(live)) return this.#changes.wake();
    this.#live = undefined;
    this.#resumeAt = live.ledger.resumeAt;
    this.#owesTurns ||= live.ledger.openTurns > 0 || live.ledger.hasOpenSpeech;
    // In a conversation an answer may be lost whose turn is settled: nobody asks for it again.
    if (!expected && this.options.plan.mode === "transcription")
      this.#unheard.push({ connectionId: live.connection.id, to: this.#sent });
    this.#changes.wake();
    if (this.#stopped || this.#state.kind === "failed") return;
    // Given up by this side: another connection would have nothing to do.
    if (expected) return this.#become({ kind: "closed" });
    const waitMs = this.#timing.retryMs[this.#failures];
    if (!ending.retry || waitMs === undefined) return this.#giveUp(ending.failure);
    this.#failures += 1;
    this.#become({ kind: "waiting", failure: ending.failure });
    this.#retryTimer = setTimeout(() => this.#connect(), waitMs);
  }

  #giveUp(failure: ProviderFailure): void {
    if (this.#state.kind === "failed") return;
    this.#become({ kind: "failed", failure: { ...failure, code: safeCode(failure.code) } });
    clearTimeout(this.#retryTimer);
    this.#live?.connection.close(this.#timing.drainMs);
  }

  #isOver(): boolean {
    return this.#stopped || this.#state.kind === "failed" || this.#state.kind === "closed";
  }

  /** Sends one chunk. False when there is nothing to send or nowhere to send it now. */
  async #sendChunk(): Promise<boolean> {
    const live = this.#live;
    if (live === undefined || !live.connection.isReady || this.#isOver()) return false;
    if (this.#pump.mustWait(live.connection.inFlightBytes)) return false;
    const { feed } = this.options;
    const left = feed.availableBytes - this.#sent;
    if (left < CHUNK_BYTES && !feed.isComplete) return false;
    if (left <= 0) {
      this.#finalCommit(live);
      return false;
    }
    const start = this.#sent;
    const end = start + Math.min(CHUNK_BYTES, left);
    const samples = await feed.read(start, end);
    // The connection may have been lost while the file was read.
    if (live !== this.#live || !live.connection.isReady) return true;
    this.#sent = end;
    this.#sendAudio(live, samples, start, end);
    this.#turns(live, samples, end);
    return true;
  }

  #sendAudio(live: LiveConnection, samples: Buffer, start: number, end: number): void {
    const offset = this.options.recordingOffset;
    const event = { type: "input_audio_buffer.append", audio: live.encode(samples).toString("base64") };
    const wav = live.sendsRecordedBytes ? { start: offset + start, end: offset + end } : undefined;
    this.#sendOn(live, event, wav);
  }

  /** Follows speech in what is sent; where the server does not find turns, commits them at pauses. */
  #turns(live: LiveConnection, samples: Buffer, end: number): void {
    const { detector } = live;
    const stopped = detector.push(samples).some((event) => event.kind === "stopped");
    if (detector.lastSpeechEnd > 0) this.#lastSpeechEnd = live.origin + detector.lastSpeechEnd;
    const turnMs = (end - live.ledger.committedTo) / BYTES_PER_MS;
    const tooLong =
      turnMs >= this.#timing.maxTurnMs && (!detector.isSpeaking || turnMs >= this.#timing.maxTurnMs * 1.5);
    const atPause = stopped || (tooLong && this.#hasSpeechSince(live.ledger.committedTo));
    if (this.options.plan.turnDetection === "none" && atPause) this.#commit(live, end);
    const isOld = this.#now() - live.openedAtMs >= this.#timing.maxConnectionAgeMs;
    if (isOld && !detector.isSpeaking && !live.ledger.hasOpenSpeech) this.#replace(live, end);
  }

  #commit(live: LiveConnection, at: number): void {
    if (at - live.ledger.committedTo < MIN_COMMIT_BYTES) return;
    live.ledger.commitSent(at);
    this.#sendOn(live, { type: "input_audio_buffer.commit", event_id: `commit_${this.options.newId()}` });
    if (this.options.plan.mode === "conversation" && this.options.plan.turnDetection === "none") {
      this.#requestReply(live);
    }
  }

  /** Everything was sent: one commit when speech is uncommitted. Silence is not committed, it would invent words. */
  #finalCommit(live: LiveConnection): void {
    if (this.#finalCommitDone) return;
    // A server that finds the turns has to have heard everything before it is known what it has not committed.
    if (this.options.plan.turnDetection === "server" && live.connection.inFlightBytes > 0)
      return live.connection.probe();
    this.#finalCommitDone = true;
    this.#owesTurns = false;
    const uncommitted = this.#hasSpeechSince(live.ledger.committedTo) || live.ledger.hasOpenSpeech;
    if (uncommitted) this.#commit(live, this.#sent);
    this.#lookForHeard(live);
    this.#changes.wake();
  }

  /** What lost connections left open has its outcome on this one, or turned out to be silence up to the end. */
  #lookForHeard(live: LiveConnection): void {
    if (live !== this.#live || this.#unheard.length === 0) return;
    const heardTo = this.#hasHeardAll(live) ? Infinity : live.ledger.resumeAt;
    for (const { connectionId, to } of this.#unheard) if (to <= heardTo) this.options.evidence.heardAgain(connectionId);
    this.#unheard = this.#unheard.filter(({ to }) => to > heardTo);
  }

  #hasHeardAll(live: LiveConnection): boolean {
    return this.#finalCommitDone && live.openTurns === 0 && !live.ledger.hasOpenSpeech;
  }

  #hasSpeechSince(position: number): boolean {
    // The end of a turn that a server found lies somewhere in the silence after its last word.
    return (this.lastSpeechEnd ?? -1) > position + 60 * BYTES_PER_MS;
  }

  /** Goes on with a new connection at a pause; the old one still answers what it was asked. */
  #replace(live: LiveConnection, at: number): void {
    if (this.options.plan.turnDetection === "none" && this.#hasSpeechSince(live.ledger.committedTo))
      this.#commit(live, at);
    this.#draining.add(live);
    this.#resumeAt = at;
    this.#live = undefined;
    const { drainMs } = this.#timing;
    if (live.ledger.openTurns === 0) live.connection.close(drainMs);
    else live.drainTimer = setTimeout(() => live.connection.close(drainMs), drainMs);
    this.#connect();
  }

  #sendOn(live: LiveConnection, event: JsonRecord, wav?: { start: number; end: number }): void {
    const sent = live.connection.send(event);
    const observation = sent ? "send_attempt" : "send_failed";
    const saved = this.options.evidence.observeSend(live.connection.id, event, {
      observation,
      ...(wav === undefined ? {} : { wav }),
    });
    this.#save(this.#pump.saving(saved));
  }

  #save(saved: Promise<void>): void {
    saved.catch((error: unknown) => this.options.onEvidenceError(error));
  }

  #become(state: TranscriberState): void {
    this.#state = state;
    this.options.onState(state);
    this.#changes.wake();
  }

  #now(): number {
    return (this.options.nowMs ?? Date.now)();
  }
}
