/**
 * One recording from its session to its end, in whatever process runs it: capture → evidence and messages → provider.
 * A provider that fails costs the capture nothing; persistence that fails stops it visibly.
 */
import { randomUUID } from "node:crypto";
import path from "node:path";
import {
  type AvailableAsset,
  createSession,
  defaultStoreContext,
  deleteSession,
  inspectWav,
  isStoreError,
  openSession,
  RealtimeRecorder,
  type RecorderSnapshot,
  type Session,
  type StoreContext,
} from "@persyk/store";
import { type CaptureDeadlines, type CaptureEnd, CaptureClient, CaptureFailure } from "../capture/client";
import { type CaptureEvent, BYTES_PER_MS, DATA_OFFSET } from "../capture/protocol";
import { providerFailure, type ProviderFailure } from "../provider/failure";
import { type ConnectionPlan, planConnection } from "../provider/plan";
import { type Responder } from "../provider/server/response";
import { type RealtimeServer, startRealtimeServer } from "../provider/server/realtime-server";
import { type SpeechEngine } from "../provider/server/speech-engine";
import { Transcriber, type TranscriberState, type TranscriberTiming } from "../provider/transcriber";
import { createVoiceActivity } from "../provider/vad/voice-activity";
import { AudioFileFeed } from "./audio-file-feed";
import { warningOf } from "./capture-warnings";
import { HostError } from "./errors";
import { type HostNotice, type HostOptions, type HostRequest, type HostState } from "./state";

export type RecordingResult =
  | {
      kind: "finished";
      session: { id: string; location: string };
      recordingId: string;
      outcome: "complete" | "incomplete" | "interrupted";
      text: string;
      entryIds: string[];
      durationMs: number;
      state: HostState;
    }
  | { kind: "discarded"; state: HostState };

/** What stops a running recording or removes one of its messages. */
export class RecordingControl {
  #listener: ((request: HostRequest) => void) | undefined;
  readonly #early: HostRequest[] = [];

  push(request: HostRequest): void {
    if (this.#listener === undefined) this.#early.push(request);
    else this.#listener(request);
  }

  listen(listener: (request: HostRequest) => void): void {
    this.#listener = listener;
    for (const request of this.#early.splice(0)) listener(request);
  }
}

export interface RecordDeps {
  /** Called with every change, several times a second while recording. */
  onState?(state: HostState): void;
  control?: RecordingControl;
  /** The program that plays files and needs no native code: `[node, capture-stand-in.cjs]`. */
  standIn: readonly [string, ...string[]];
  /** The local engine of the on-device provider; undefined when none is there. */
  findEngine(): Promise<SpeechEngine | undefined>;
  responder?: Responder;
  context?: StoreContext;
  deadlines?: Partial<CaptureDeadlines>;
  timing?: Partial<TranscriberTiming>;
  /** Names the process in the state. */
  identity?: { instanceId: string; pid: number; processStart: string };
  /** Without any sample taken by the provider for so long after the stop, the rest becomes a gap. */
  idleMs?: number;
}

/** A Node program takes its time to start on a busy machine, and has no microphone to wait for. */
const STAND_IN_DEADLINES: CaptureDeadlines = { readyMs: 20_000, startMs: 20_000, finishMs: 10_000, rungMs: 2_000 };
const IDLE_MS = 10_000;
/** A file has nobody waiting at the key, so a slow local engine gets its time. */
const FILE_SETTLE_MS = 60_000;
const CLOSE_GRACE_MS = 1_000;
/** Peaks under this are a quiet room. */
const SILENCE_FLOOR_DB = -50;

export function runRecording(options: HostOptions, deps: RecordDeps): Promise<RecordingResult> {
  return new RecordingRun(options, deps).run();
}

class RecordingRun {
  readonly #context: StoreContext;
  readonly #recordingId: string;
  #state: HostState;
  #session: Session | undefined;
  #recorder: RealtimeRecorder | undefined;
  #capture: CaptureClient | undefined;
  #feed: AudioFileFeed | undefined;
  #transcriber: Transcriber | undefined;
  #server: RealtimeServer | undefined;
  #isNewSession = false;
  #discard = false;
  #halt: HostNotice | undefined;
  #stopRequested: (() => void) | undefined;
  readonly #stopping: Promise<void>;
  #lastSoundMs = 0;
  #captureGaps: { reason: string; startMs: number; endMs: number }[] = [];

  constructor(
    private readonly options: HostOptions,
    private readonly deps: RecordDeps,
  ) {
    this.#context = deps.context ?? defaultStoreContext();
    this.#recordingId = this.#context.newId();
    this.#stopping = new Promise((resolve) => (this.#stopRequested = resolve));
    this.#state = {
      version: 1,
      phase: "starting",
      ...(deps.identity ?? { instanceId: randomUUID(), pid: process.pid, processStart: "" }),
      startedAt: new Date(this.#context.clock.now()).toISOString(),
      elapsedMs: 0,
      provider: { name: options.provider.kind, state: "off" },
      warnings: [],
      saved: [],
      provisional: [],
    };
  }

  async run(): Promise<RecordingResult> {
    this.#show({});
    try {
      const session = await this.#openSession();
      this.deps.control?.listen((request) => this.#request(request));
      return await this.#record(session);
    } catch (error) {
      this.#warn(noticeOf(error));
      this.#show({ phase: "failed", provisional: [] });
      throw error;
    } finally {
      await this.#release();
    }
  }

  async #openSession(): Promise<Session> {
    const { session, root } = this.options;
    this.#isNewSession = session === undefined;
    this.#session =
      session === undefined ? await createSession(root, this.#context) : await openSession(session, this.#context);
    if (this.#session.verdict !== "valid") {
      throw new HostError("session-not-valid", "The session cannot be recorded into.", "Recover the session first.");
    }
    const { id, location } = this.#session;
    this.#show({ session: { id, location }, recordingId: this.#recordingId });
    return this.#session;
  }

  async #record(session: Session): Promise<RecordingResult> {
    const existing = await this.#existingAsset(session);
    const asset = existing ?? (await this.#startCapture(session));
    const recorder = new RealtimeRecorder({
      session,
      leaf: session.leaf,
      recordingId: this.#recordingId,
      clock: { now: () => this.#context.clock.now(), setTimer },
      newId: () => this.#context.newId(),
      send: (connectionId, event) => this.#sendForRecorder(connectionId, event),
      onCloseConnection: (connectionId) => this.#transcriber?.terminate(connectionId),
      onChange: (snapshot) => this.#recorderChanged(snapshot),
    });
    this.#recorder = recorder;
    await recorder.start(asset);
    await this.#startTranscriber(recorder, session.id);
    if (existing === undefined) await this.#capture?.start();
    this.#show({ phase: "recording" });
    const end = existing === undefined ? await this.#captureToItsEnd() : undefined;
    if (existing !== undefined) await this.#existingToItsEnd(recorder);
    return this.#finish(session, recorder, end);
  }

  /** A file that is the session's own asset already is not copied: it is transcribed from where it is. */
  async #existingAsset(session: Session): Promise<AvailableAsset | undefined> {
    const { source } = this.options;
    if (source.kind !== "file" || this.#isNewSession) return undefined;
    const inside = path.relative(path.join(session.location, "assets"), path.resolve(source.path));
    if (inside.startsWith("..") || path.isAbsolute(inside)) return undefined;
    const report = await inspectWav(source.path);
    if (report.outcome === "rejected" || report.dataOffset !== DATA_OFFSET) return undefined;
    this.#feed = new AudioFileFeed(source.path);
    this.#feed.announce(report.dataBytes);
    this.#feed.complete();
    return { status: "available", path: `assets/${inside}`, mimeType: "audio/wav" };
  }

  async #startCapture(session: Session): Promise<AvailableAsset> {
    const { source, helperPath, maxDurationMs } = this.options;
    const file = await session.createAsset(`${this.#recordingId}.wav`, "audio/wav");
    const feed = new AudioFileFeed(file.path);
    this.#feed = feed;
    try {
      this.#capture = CaptureClient.launch({
        command: captureCommand(source, helperPath, this.deps.standIn),
        assetFd: file.handle.fd,
        deadlines: {
          ...(source.kind === "file" ? STAND_IN_DEADLINES : {}),
          ...this.deps.deadlines,
        },
        onEvent: (event) => this.#captured(event, feed),
      });
    } finally {
      await file.handle.close();
    }
    const ready = await this.#capture.ready();
    if (ready.permission === "denied" || ready.permission === "restricted") {
      throw new HostError(
        "permission-denied",
        "Microphone access is not allowed.",
        "Allow Raycast in System Settings → Privacy & Security → Microphone.",
      );
    }
    if (ready.device !== undefined && ready.device !== null) this.#show({ device: ready.device.name });
    const deviceUid = source.kind === "microphone" ? source.deviceUid : null;
    this.#capture.configure({ deviceUid, maxDurationMs: Math.round(maxDurationMs) });
    return file.reference;
  }

  #captured(event: CaptureEvent, feed: AudioFileFeed): void {
    switch (event.type) {
      case "chunk":
        feed.announce(event.offset - DATA_OFFSET + event.bytes);
        return this.#show({ elapsedMs: feed.availableBytes / BYTES_PER_MS });
      case "level":
        return this.#level(event.peakDb ?? -120, feed);
      case "synced":
        return this.#recorder?.captureSynced(event.dataBytes);
      case "started":
      case "device":
        if (event.device !== undefined && event.device !== null) this.#show({ device: event.device.name });
        return;
      case "gap": {
        const startMs = Math.round((event.atOffset - DATA_OFFSET) / BYTES_PER_MS);
        this.#captureGaps.push({ reason: event.reason, startMs, endMs: startMs + Math.max(1, event.durationMs) });
        return;
      }
      case "warning":
        return this.#warn(warningOf(event.code));
      case "finished":
        feed.announce(event.dataBytes);
        return this.#recorder?.captureSynced(event.dataBytes);
      default:
        return;
    }
  }

  #level(peakDb: number, feed: AudioFileFeed): void {
    const nowMs = feed.availableBytes / BYTES_PER_MS;
    if (peakDb > SILENCE_FLOOR_DB) this.#lastSoundMs = nowMs;
    this.#show({ levelDb: peakDb });
    const { silenceLimitMs } = this.options;
    if (silenceLimitMs === undefined || nowMs - this.#lastSoundMs < silenceLimitMs) return;
    this.#warn({
      code: "silence-limit",
      message: "The recording ended after a long silence.",
      remedy: "Change the limit in the preferences.",
    });
    this.#stopRequested?.();
  }

  async #startTranscriber(recorder: RealtimeRecorder, originId: string): Promise<void> {
    const feed = this.#feed;
    if (feed === undefined) return;
    const planned = await this.#plan();
    if (planned === undefined) return;
    if ("failure" in planned) return this.#providerFailed(planned.failure);
    const activity = await createVoiceActivity();
    this.#transcriber = new Transcriber({
      plan: planned.plan,
      feed,
      evidence: recorder,
      activity,
      recordingOffset: DATA_OFFSET,
      newId: () => this.#context.newId(),
      originId,
      ...(this.deps.timing === undefined ? {} : { timing: this.deps.timing }),
      onState: (state) => this.#transcriberChanged(state),
      onEvidenceError: (error) => this.#halted(noticeOf(error)),
    });
    this.#transcriber.start();
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
      this.#server = await startRealtimeServer({ engine, key, ...(responder === undefined ? {} : { responder }) });
      settings = { ...provider, endpoint: this.#server.url, authStyle: "bearer" };
      this.#show({ provider: { name: engine.name, state: "connecting" } });
    }
    const planned = planConnection(settings, { apiKey: key, language, vocabulary });
    return planned.ok ? { plan: planned.plan } : { failure: providerFailure(planned.code) };
  }

  async #captureToItsEnd(): Promise<CaptureEnd> {
    const capture = this.#capture;
    if (capture === undefined) throw new Error("no capture");
    const first = await Promise.race([capture.ended, this.#stopping.then(() => undefined)]);
    this.#show({ phase: "finishing" });
    const end = first ?? (await (this.#discard ? capture.abandon() : capture.stop()));
    if (end.kind === "finished") this.#endReason(end.event.reason);
    this.#feed?.complete();
    return end;
  }

  #endReason(reason: string): void {
    const notice = endNotices.get(reason);
    if (notice !== undefined) this.#warn({ code: reason, ...notice });
  }

  async #existingToItsEnd(recorder: RealtimeRecorder): Promise<void> {
    recorder.captureSynced(this.#feed?.availableBytes ?? 0);
    this.#show({ elapsedMs: (this.#feed?.availableBytes ?? 0) / BYTES_PER_MS });
    await Promise.race([this.#stopping, this.#transcriber?.finishSending(IDLE_MS) ?? Promise.resolve()]);
    this.#show({ phase: "finishing" });
  }

  async #finish(session: Session, recorder: RealtimeRecorder, end: CaptureEnd | undefined): Promise<RecordingResult> {
    if (this.#discard) return this.#discarded(session, recorder);
    const durationMs = Math.round((this.#feed?.availableBytes ?? 0) / BYTES_PER_MS);
    if (end?.kind === "died") return this.#interrupted(session, recorder, end.failure, durationMs);
    await this.#transcribeTheRest();
    for (const gap of this.#captureGaps) recorder.addGap(gap);
    this.#nameUntranscribed(recorder, durationMs);
    const { outcome } = await recorder.stop({ durationMs });
    await this.#transcriber?.close(CLOSE_GRACE_MS);
    return this.#done(session, recorder, outcome, durationMs);
  }

  async #transcribeTheRest(): Promise<void> {
    const transcriber = this.#transcriber;
    if (transcriber === undefined || this.#halt !== undefined) return;
    await transcriber.finishSending(this.deps.idleMs ?? IDLE_MS);
    if (this.options.source.kind === "file") await transcriber.settled(FILE_SETTLE_MS);
  }

  /** What no provider has settled is a gap with its range, to be transcribed again later. */
  #nameUntranscribed(recorder: RealtimeRecorder, durationMs: number): void {
    const { provider } = this.options;
    if (provider.kind === "none" || this.#halt !== undefined) return;
    const state = this.#transcriber?.state;
    const failed =
      this.#transcriber === undefined ||
      state?.kind === "failed" ||
      state?.kind === "waiting" ||
      state?.kind === "connecting";
    if (!failed) return;
    const startMs = Math.round((this.#transcriber?.unsettledFrom ?? 0) / BYTES_PER_MS);
    if (startMs < durationMs) recorder.addGap({ reason: "not_transcribed", startMs, endMs: durationMs });
  }

  async #interrupted(
    session: Session,
    recorder: RealtimeRecorder,
    failure: CaptureFailure,
    durationMs: number,
  ): Promise<RecordingResult> {
    this.#warn({ code: failure.code, message: failure.message, remedy: failure.remedy });
    await this.#transcribeTheRest();
    await recorder.interrupt(failure.code, durationMs);
    await this.#transcriber?.close(CLOSE_GRACE_MS);
    return this.#done(session, recorder, "interrupted", durationMs);
  }

  async #discarded(session: Session, recorder: RealtimeRecorder): Promise<RecordingResult> {
    await this.#transcriber?.close(0);
    await recorder.interrupt("discarded");
    // Only a session that this recording made is the recording's to delete.
    if (this.#isNewSession) {
      await session.close();
      await deleteSession(session.location, this.#context, { confirmed: true });
    }
    this.#show({
      phase: "finished",
      provisional: [],
      saved: [],
      result: { text: "", entryIds: [], outcome: "discarded", announced: false },
    });
    return { kind: "discarded", state: this.#state };
  }

  #done(
    session: Session,
    recorder: RealtimeRecorder,
    outcome: "complete" | "incomplete" | "interrupted",
    durationMs: number,
  ): RecordingResult {
    const saved = recorder.snapshot.saved.filter((turn) => !this.#removed.has(turn.entryId));
    const entryIds = saved.map((turn) => turn.entryId);
    const text = saved.map((turn) => turn.text).join("\n");
    if (this.#halt !== undefined) this.#warn(this.#halt);
    this.#show({
      phase: this.#halt === undefined ? "finished" : "failed",
      elapsedMs: durationMs,
      provisional: [],
      result: { text, entryIds, outcome, announced: false },
    });
    const { id, location } = session;
    return {
      kind: "finished",
      session: { id, location },
      recordingId: this.#recordingId,
      outcome,
      text,
      entryIds,
      durationMs,
      state: this.#state,
    };
  }

  readonly #removed = new Set<string>();

  #request(request: HostRequest): void {
    if (request.kind === "remove") {
      void this.#recorder?.requestRemoval(request.entryId).then((result) => {
        if (result.kind === "removed") this.#removed.add(request.entryId);
        this.#recorderChanged(this.#recorder?.snapshot);
      });
      return;
    }
    if (request.kind === "discard") this.#discard = true;
    this.#stopRequested?.();
  }

  #sendForRecorder(connectionId: string, event: Parameters<Transcriber["sendFor"]>[1]): void {
    this.#transcriber?.sendFor(connectionId, event);
  }

  #recorderChanged(snapshot: RecorderSnapshot | undefined): void {
    if (snapshot === undefined) return;
    this.#show({
      saved: snapshot.saved
        .filter((turn) => !this.#removed.has(turn.entryId))
        .map(({ entryId, role, text }) => ({ entryId, role, text })),
      provisional: snapshot.provisional.map(({ itemId, text }) => ({ itemId, text })),
    });
    if (snapshot.halted !== undefined)
      this.#halted({ ...snapshot.halted, remedy: "What was captured so far is kept." });
    if (snapshot.captureStop !== undefined && snapshot.captureStop.reason !== "transport-lost") {
      const { reason } = snapshot.captureStop;
      this.#warn({ code: reason, message: "The recording ended early.", remedy: "What was captured is kept." });
      this.#stopRequested?.();
    }
  }

  /** Persistence failed: the capture stops, visibly. */
  #halted(notice: HostNotice): void {
    if (this.#halt !== undefined) return;
    this.#halt = notice;
    this.#warn(notice);
    this.#stopRequested?.();
  }

  #transcriberChanged(state: TranscriberState): void {
    const { name } = this.#state.provider;
    switch (state.kind) {
      case "connecting":
        return this.#show({ provider: { name, state: "connecting" } });
      case "ready":
        return this.#show({ provider: { name, state: "open" } });
      case "waiting":
        return this.#show({ provider: { name, state: "lost", detail: state.failure.message } });
      case "failed":
        return this.#providerFailed(state.failure);
      case "closed":
        return this.#show({ provider: { name, state: "closed" } });
    }
  }

  #providerFailed(failure: ProviderFailure): void {
    this.#warn({ ...failure });
    this.#show({ provider: { name: this.#state.provider.name, state: "failed", detail: failure.message } });
  }

  #warn(notice: HostNotice): void {
    if (this.#state.warnings.some(({ code }) => code === notice.code)) return;
    this.#show({ warnings: [...this.#state.warnings, notice] });
  }

  #show(change: Partial<HostState>): void {
    this.#state = { ...this.#state, ...change };
    this.deps.onState?.(this.#state);
  }

  async #release(): Promise<void> {
    await this.#capture?.abandon();
    await this.#transcriber?.close(0);
    await this.#server?.close();
    await this.#feed?.close();
    await this.#session?.close();
  }
}

const endNotices: ReadonlyMap<string, Omit<HostNotice, "code">> = new Map([
  [
    "disk-full",
    { message: "The recording ended because the disk is full.", remedy: "Free some space and record again." },
  ],
  [
    "device-lost",
    { message: "The recording ended because the input device is gone.", remedy: "Connect it and record again." },
  ],
  ["write-failed", { message: "The recording could not be written any further.", remedy: "Check the disk." }],
  [
    "max-duration",
    { message: "The recording reached its maximum length.", remedy: "Change the limit in the preferences." },
  ],
  ["max-size", { message: "The recording reached the largest size of a WAV file.", remedy: "Record again to go on." }],
  ["sleep-timeout", { message: "The recording ended because the computer slept.", remedy: "Record again to go on." }],
]);

function captureCommand(
  source: HostOptions["source"],
  helperPath: string | undefined,
  standIn: readonly [string, ...string[]],
): readonly [string, ...string[]] {
  if (source.kind === "file") {
    // The stand-in reads every usual WAV and needs no native code; the helper is for microphones.
    return [...standIn, "capture", "--source", "file", "--input", source.path, "--pace", String(source.pace ?? 1)];
  }
  if (helperPath === undefined) {
    throw new HostError("helper-missing", "The capture helper is not installed.", "Reinstall the extension.");
  }
  return [helperPath, "capture"];
}

function setTimer(ms: number, fn: () => void): () => void {
  const timer = setTimeout(fn, ms);
  return () => clearTimeout(timer);
}

function noticeOf(error: unknown): HostNotice {
  if (error instanceof HostError || error instanceof CaptureFailure || isStoreError(error)) {
    return { code: error.code, message: error.message, remedy: error.remedy };
  }
  return {
    code: "internal",
    message: "The recording failed unexpectedly.",
    remedy: "What was captured is kept. Record again.",
  };
}
