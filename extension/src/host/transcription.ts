/** The provider's part of a recording: its plan, the loopback server of the local engine, and the realtime client. */
import { randomUUID } from "node:crypto";
import { type Gap, type RealtimeRecorder, type StoreContext } from "@persyk/store";
import { BYTES_PER_MS, DATA_OFFSET } from "../capture/protocol";
import { type AudioFeed } from "../provider/evidence";
import { providerFailure, type ProviderFailure } from "../provider/failure";
import { type ConnectionPlan, planConnection } from "../provider/plan";
import { type Responder } from "../provider/server/response";
import { type RealtimeServer } from "../provider/server/realtime-server";
import { type SpeechEngine } from "../provider/server/speech-engine";
import { type Transcriber, type TranscriberState, type TranscriberTiming } from "../provider/transcriber";
import { type ShownState } from "./shown-state";
import { type HostOptions } from "./state";

export interface TranscriptionDeps {
  /** The local engine of the on-device provider; undefined when none is there. */
  findEngine(): Promise<SpeechEngine | undefined>;
  responder?: Responder;
  /** Why the provider's part could not be started, where nothing expected it. */
  onFault?(error: unknown): void;
  timing?: Partial<TranscriberTiming>;
  /** Without any sample taken by the provider for so long after the stop, the rest becomes a gap. */
  idleMs?: number;
}

const IDLE_MS = 10_000;
/** A file has nobody waiting at the key, so a slow local engine gets its time. */
const FILE_SETTLE_MS = 60_000;

export class Transcription {
  #starting: Promise<void> = Promise.resolve();
  #transcriber: Transcriber | undefined;
  #server: RealtimeServer | undefined;

  constructor(
    private readonly options: HostOptions,
    private readonly deps: TranscriptionDeps,
    private readonly context: StoreContext,
    private readonly state: ShownState,
    private readonly onEvidenceError: (error: unknown) => void,
  ) {}

  /**
   * Starts beside the capture, which waits for no provider. A provider that cannot be used is shown, and costs the
   * recording nothing.
   */
  start(evidence: RealtimeRecorder, feed: AudioFeed, originId: string): void {
    this.#starting = this.#start(evidence, feed, originId).catch((error: unknown) => {
      this.#failed(providerFailure("not-started"));
      this.deps.onFault?.(error);
    });
  }

  async #start(evidence: RealtimeRecorder, feed: AudioFeed, originId: string): Promise<void> {
    const planned = await this.#plan();
    if (planned === undefined) return;
    if ("failure" in planned) return this.#failed(planned.failure);
    // What speaks over sockets is loaded where it is needed: a recording starts without it.
    const [{ Transcriber }, { createVoiceActivity }] = await Promise.all([
      import("../provider/transcriber"),
      import("../provider/vad/voice-activity"),
    ]);
    this.#transcriber = new Transcriber({
      plan: planned.plan,
      feed,
      evidence,
      activity: await createVoiceActivity(),
      recordingOffset: DATA_OFFSET,
      newId: () => this.context.newId(),
      originId,
      ...(this.deps.timing === undefined ? {} : { timing: this.deps.timing }),
      onState: (state) => this.#changed(state),
      onEvidenceError: this.onEvidenceError,
    });
    this.#transcriber.start();
  }

  sendFor(connectionId: string, event: Parameters<Transcriber["sendFor"]>[1]): void {
    this.#transcriber?.sendFor(connectionId, event);
  }

  terminate(connectionId: string): void {
    this.#transcriber?.terminate(connectionId);
  }

  /** Waits until every sample was sent, or that is not going to happen. */
  async finishSending(): Promise<void> {
    await this.#starting;
    await this.#transcriber?.finishSending(this.deps.idleMs ?? IDLE_MS);
  }

  /** The same, and for a file until every turn was answered too. */
  async finish(): Promise<void> {
    await this.finishSending();
    if (this.options.source.kind === "file") await this.#transcriber?.settled(FILE_SETTLE_MS);
  }

  /** What no provider has settled is a gap with its range, to be transcribed again later. */
  untranscribed(durationMs: number): Gap | undefined {
    if (this.options.provider.kind === "none") return undefined;
    const kind = this.#transcriber?.state.kind;
    if (kind === "ready" || kind === "closed") return undefined;
    const startMs = Math.round((this.#transcriber?.unsettledFrom ?? 0) / BYTES_PER_MS);
    return startMs < durationMs ? { reason: "not_transcribed", startMs, endMs: durationMs } : undefined;
  }

  /** Ends the connections. */
  async disconnect(graceMs: number): Promise<void> {
    await this.#starting;
    await this.#transcriber?.close(graceMs);
  }

  async close(): Promise<void> {
    await this.disconnect(0);
    await this.#server?.close();
  }

  async #plan(): Promise<{ plan: ConnectionPlan } | { failure: ProviderFailure } | undefined> {
    const { provider, apiKey, language, vocabulary } = this.options;
    if (provider.kind === "none") return undefined;
    let settings = provider;
    let key = apiKey;
    if (provider.kind === "on-device") {
      const engine = await this.deps.findEngine();
      if (engine === undefined) return { failure: providerFailure("no-engine") };
      key = randomUUID();
      const { responder } = this.deps;
      const { startRealtimeServer } = await import("../provider/server/realtime-server");
      this.#server = await startRealtimeServer({ engine, key, ...(responder === undefined ? {} : { responder }) });
      settings = { ...provider, endpoint: this.#server.url, authStyle: "bearer" };
      this.state.show({ provider: { name: engine.name, state: "connecting" } });
    }
    const planned = planConnection(settings, { apiKey: key, language, vocabulary });
    return planned.ok ? { plan: planned.plan } : { failure: providerFailure(planned.code) };
  }

  #changed(state: TranscriberState): void {
    const { name } = this.state.current.provider;
    switch (state.kind) {
      case "connecting":
        return this.state.show({ provider: { name, state: "connecting" } });
      case "ready":
        return this.state.show({ provider: { name, state: "open" } });
      case "waiting":
        return this.state.show({ provider: { name, state: "lost", detail: state.failure.message } });
      case "failed":
        return this.#failed(state.failure);
      case "closed":
        return this.state.show({ provider: { name, state: "closed" } });
    }
  }

  #failed(failure: ProviderFailure): void {
    this.state.warn({ ...failure });
    const { name } = this.state.current.provider;
    this.state.show({ provider: { name, state: "failed", detail: failure.message } });
  }
}
