/**
 * Sends a recording to a Realtime server while it grows, from its first sample to its last: what cannot be sent yet
 * stays in the file, so nothing is dropped and no memory grows. Connections that are lost are replaced a bounded number
 * of times, continuing from the first sample that was not acknowledged.
 */
import { safeCode, providerFailure, isFinalCode, type ProviderFailure } from "./failure";
import { type AudioFeed, type Evidence } from "./evidence";
import { type ConnectionEnding, type ConnectionTiming, connectionTiming, RealtimeConnection } from "./connection";
import { type JsonRecord, recordAt, textAt } from "./json";
import { type ConnectionPlan } from "./plan";
import { TurnLedger } from "./turn-ledger";
import { TurnDetector } from "./vad/turn-detector";
import { type VoiceActivity } from "./vad/voice-activity";
import { Pcm16Resampler } from "../capture/pcm16";
import { BYTES_PER_MS, SAMPLE_RATE } from "../capture/protocol";

export interface TranscriberTiming extends ConnectionTiming {
  /** Waits between attempts that follow each other without a turn succeeding; their number is the bound. */
  retryMs: readonly number[];
  /** A connection this old is replaced at the next pause, before the server's own limit of an hour. */
  maxConnectionAgeMs: number;
  /** How long a replaced connection may take to answer what it was asked. */
  drainMs: number;
  /** How long a peer may take to answer the close of a connection that the recorder gives up. */
  closeMs: number;
  /** A turn this long is committed at the next frame without speech. */
  maxTurnMs: number;
}

export const transcriberTiming: TranscriberTiming = {
  ...connectionTiming,
  retryMs: [500, 1_000, 2_000, 4_000, 8_000],
  maxConnectionAgeMs: 55 * 60_000,
  drainMs: 10_000,
  closeMs: 1_000,
  maxTurnMs: 45_000,
};

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

interface Live {
  connection: RealtimeConnection;
  ledger: TurnLedger;
  origin: number;
  openedAt: number;
  detector: TurnDetector;
  resampler: Pcm16Resampler | undefined;
  drainTimer?: NodeJS.Timeout;
  /** An answer was refused because another one was running: it is asked for when that one is done. */
  owesReply: boolean;
  /** An answer was asked for that has not ended. */
  awaitsReply: boolean;
}

const CHUNK_BYTES = 4_800;
/** Servers refuse to commit less than 100 ms. */
const MIN_COMMIT_BYTES = 100 * BYTES_PER_MS;
/** Sent and not shown to be taken by the peer: about 12 s of sound. */
const MAX_IN_FLIGHT_BYTES = 1024 * 1024;
/** Sends whose evidence is not durable yet; well under the recorder's own bound. */
const MAX_UNSAVED_SENDS = 160;

export class Transcriber {
  readonly #timing: TranscriberTiming;
  #state: TranscriberState = { kind: "connecting", attempt: 1 };
  #live: Live | undefined;
  /** Replaced connections that still answer. */
  readonly #draining = new Set<Live>();
  #resumeAt: number;
  #sent: number;
  #lastSpeechEnd: number | undefined;
  #failures = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #unsaved = 0;
  #pumping = false;
  #wanted = false;
  #stopped = false;
  #finalCommitDone = false;
  /** A lost connection left turns open: they are not settled before the next one has heard them again. */
  #owesTurns = false;
  readonly #unsubscribe: () => void;
  readonly #waiters = new Set<() => void>();

  constructor(private readonly options: TranscriberOptions) {
    this.#timing = { ...transcriberTiming, ...options.timing };
    this.#resumeAt = options.from ?? 0;
    this.#sent = this.#resumeAt;
    this.#unsubscribe = options.feed.onChange(() => this.#pump());
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
    const lives = [...this.#draining, ...(this.#live === undefined ? [] : [this.#live])];
    return lives.reduce((sum, live) => sum + live.ledger.openTurns + (live.awaitsReply ? 1 : 0), 0);
  }

  /** Sends an event of the recorder's own, such as a deletion, and reports it. */
  sendFor(connectionId: string, event: JsonRecord): void {
    const live = [this.#live, ...this.#draining].find((candidate) => candidate?.connection.id === connectionId);
    if (live !== undefined) this.#sendOn(live, event);
  }

  /**
   * Resolves when every sample of the complete recording was sent and the last commit too, or when that is not going to
   * happen: nothing was sent for `idleMs`, or the provider failed for good.
   */
  async finishSending(idleMs: number): Promise<boolean> {
    let lastSent = -1;
    let deadline = 0;
    for (;;) {
      const everythingSent = this.#finalCommitDone && !this.#owesTurns;
      if (everythingSent || this.#isOver()) return everythingSent;
      const now = Date.now();
      if (lastSent !== this.#sent) {
        lastSent = this.#sent;
        deadline = now + idleMs;
      }
      if (now >= deadline) return false;
      await this.#changed(deadline - now);
    }
  }

  /** Resolves when no turn is open, or none was settled for `idleMs`. What a lost connection left open counts too. */
  async settled(idleMs: number): Promise<boolean> {
    for (let before = "", deadline = 0; ;) {
      const open = this.openTurns;
      if (open === 0 && !this.#owesTurns && this.#live?.ledger.hasOpenSpeech !== true) return true;
      if (this.#isOver()) return false;
      const progress = `${open} ${this.#sent}`;
      if (progress !== before) {
        before = progress;
        deadline = Date.now() + idleMs;
      }
      const left = deadline - Date.now();
      if (left <= 0) return false;
      await this.#changed(left);
    }
  }

  /** Ends every connection. Nothing is sent or tried again. */
  async close(graceMs: number): Promise<void> {
    this.#stopped = true;
    this.#unsubscribe();
    clearTimeout(this.#retryTimer);
    for (const live of [this.#live, ...this.#draining]) live?.connection.close(graceMs);
    while (this.#live !== undefined || this.#draining.size > 0) await this.#changed(graceMs + 1_000);
    this.options.activity.close();
    if (this.#state.kind !== "failed") this.#become({ kind: "closed" });
  }

  /** Gives up one connection. */
  terminate(connectionId: string): void {
    const live = [this.#live, ...this.#draining].find((candidate) => candidate?.connection.id === connectionId);
    live?.connection.close(this.#timing.closeMs);
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
    const live: Live = {
      origin,
      openedAt: this.#now(),
      ledger: new TurnLedger(origin),
      detector: new TurnDetector(this.options.activity),
      owesReply: false,
      awaitsReply: false,
      resampler: plan.sampleRate === SAMPLE_RATE ? undefined : new Pcm16Resampler(SAMPLE_RATE, plan.sampleRate),
      connection: new RealtimeConnection(
        id,
        plan,
        this.#timing,
        {
          opened: () => this.#save(evidence.transport(id, { type: "open" })),
          frame: (text, event) => this.#frame(live, text, event),
          ready: () => this.#ready(live),
          drained: () => this.#pump(),
          ended: (ending) => this.#ended(live, ending),
        },
        (event) => this.#sendOn(live, event),
      ),
    };
    this.#live = live;
  }

  #ready(live: Live): void {
    if (live !== this.#live) return;
    this.#become({ kind: "ready" });
    this.#pump();
  }

  #frame(live: Live, text: string, event: JsonRecord | undefined): void {
    this.#save(this.options.evidence.observeReceived(live.connection.id, text));
    if (event === undefined) return;
    this.#replies(live, event);
    const before = live.ledger.settledTurns;
    live.ledger.received(event);
    if (live.ledger.settledTurns > before) {
      const failed = live.ledger.lastFailureCode;
      if (failed === undefined) this.#failures = 0;
      // A turn that failed for want of quota says that the next will too.
      else if (isFinalCode(failed)) this.#giveUp(providerFailure(failed));
    }
    if (this.#draining.has(live) && live.ledger.openTurns === 0) live.connection.close(this.#timing.drainMs);
    this.#wake();
  }

  /** Each refused answer is asked for again once, after the answer that stood in its way. */
  #replies(live: Live, event: JsonRecord): void {
    if (textAt(recordAt(event, "error"), "code") === "conversation_already_has_active_response") live.owesReply = true;
    if (event["type"] !== "response.done") return;
    live.awaitsReply = false;
    if (live.owesReply) this.#requestReply(live);
    live.owesReply = false;
  }

  #requestReply(live: Live): void {
    live.awaitsReply = true;
    this.#sendOn(live, { type: "response.create", event_id: `reply_${this.options.newId()}` });
  }

  #ended(live: Live, ending: ConnectionEnding): void {
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
    if (this.#draining.delete(live)) return this.#wake();
    this.#live = undefined;
    this.#resumeAt = live.ledger.resumeAt;
    this.#owesTurns ||= live.ledger.openTurns > 0 || live.ledger.hasOpenSpeech;
    this.#wake();
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

  #pump(): void {
    this.#wanted = true;
    if (this.#pumping) return;
    this.#pumping = true;
    void this.#pumpAll().catch((error: unknown) => this.options.onEvidenceError(error));
  }

  async #pumpAll(): Promise<void> {
    try {
      while (this.#wanted) {
        this.#wanted = false;
        while (await this.#pumpOne()) this.#wake();
      }
    } finally {
      this.#pumping = false;
      this.#wake();
    }
  }

  /** Sends one chunk. False when there is nothing to send or nowhere to send it now. */
  async #pumpOne(): Promise<boolean> {
    const live = this.#live;
    if (live === undefined || !live.connection.isReady || this.#isOver()) return false;
    if (live.connection.inFlightBytes > MAX_IN_FLIGHT_BYTES || this.#unsaved > MAX_UNSAVED_SENDS) return false;
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

  #sendAudio(live: Live, samples: Buffer, start: number, end: number): void {
    const offset = this.options.recordingOffset;
    const resampled = live.resampler === undefined ? samples : live.resampler.push(samples);
    const event = { type: "input_audio_buffer.append", audio: resampled.toString("base64") };
    const wav = live.resampler === undefined ? { start: offset + start, end: offset + end } : undefined;
    this.#sendOn(live, event, wav);
  }

  /** Follows speech in what is sent; where the server does not find turns, commits them at pauses. */
  #turns(live: Live, samples: Buffer, end: number): void {
    const { detector } = live;
    const stopped = detector.push(samples).some((event) => event.kind === "stopped");
    if (detector.lastSpeechEnd > 0) this.#lastSpeechEnd = live.origin + detector.lastSpeechEnd;
    const turnMs = (end - live.ledger.committedTo) / BYTES_PER_MS;
    const tooLong =
      turnMs >= this.#timing.maxTurnMs && (!detector.isSpeaking || turnMs >= this.#timing.maxTurnMs * 1.5);
    const atPause = stopped || (tooLong && this.#hasSpeechSince(live.ledger.committedTo));
    if (this.options.plan.turnDetection === "none" && atPause) this.#commit(live, end);
    const isOld = this.#now() - live.openedAt >= this.#timing.maxConnectionAgeMs;
    if (isOld && !detector.isSpeaking && !live.ledger.hasOpenSpeech) this.#replace(live, end);
  }

  #commit(live: Live, at: number): void {
    if (at - live.ledger.committedTo < MIN_COMMIT_BYTES) return;
    live.ledger.commitSent(at);
    this.#sendOn(live, { type: "input_audio_buffer.commit", event_id: `commit_${this.options.newId()}` });
    if (this.options.plan.mode === "conversation" && this.options.plan.turnDetection === "none") {
      this.#requestReply(live);
    }
  }

  /** Everything was sent: one commit when speech is uncommitted. Silence is not committed, it would invent words. */
  #finalCommit(live: Live): void {
    if (this.#finalCommitDone) return;
    // A server that finds the turns has to have heard everything before it is known what it has not committed.
    if (this.options.plan.turnDetection === "server" && live.connection.inFlightBytes > 0)
      return live.connection.probe();
    this.#finalCommitDone = true;
    this.#owesTurns = false;
    const uncommitted = this.#hasSpeechSince(live.ledger.committedTo) || live.ledger.hasOpenSpeech;
    if (uncommitted) this.#commit(live, this.#sent);
    this.#wake();
  }

  #hasSpeechSince(position: number): boolean {
    // The end of a turn that a server found lies somewhere in the silence after its last word.
    return (this.lastSpeechEnd ?? -1) > position + 60 * BYTES_PER_MS;
  }

  /** Goes on with a new connection at a pause; the old one still answers what it was asked. */
  #replace(live: Live, at: number): void {
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

  #sendOn(live: Live, event: JsonRecord, wav?: { start: number; end: number }): void {
    const sent = live.connection.send(event);
    const observation = sent ? "send_attempt" : "send_failed";
    this.#unsaved += 1;
    const saved = this.options.evidence
      .observeSend(live.connection.id, event, { observation, ...(wav === undefined ? {} : { wav }) })
      .finally(() => {
        this.#unsaved -= 1;
        this.#pump();
      });
    this.#save(saved);
  }

  #save(saved: Promise<void>): void {
    saved.catch((error: unknown) => this.options.onEvidenceError(error));
  }

  #become(state: TranscriberState): void {
    this.#state = state;
    this.options.onState(state);
    this.#wake();
  }

  #now(): number {
    return (this.options.nowMs ?? Date.now)();
  }

  #wake(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }

  async #changed(atMostMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, Math.min(atMostMs, 2_147_483_647));
      const waiters = this.#waiters;
      function done(): void {
        clearTimeout(timer);
        waiters.delete(done);
        resolve();
      }
      waiters.add(done);
    });
  }
}
