/**
 * One recording from its session to its end, in whatever process runs it: capture → evidence and messages → provider.
 * A provider that fails costs the capture nothing; persistence that fails stops it visibly.
 */
import { randomUUID } from "node:crypto";
import {
  createSession,
  defaultStoreContext,
  deleteSession,
  isStoreError,
  openSession,
  RealtimeRecorder,
  type RecorderSnapshot,
  type SavedTurn,
  type Session,
  type StoreContext,
} from "@persyk/store";
import { type CaptureEnd, CaptureFailure } from "../capture/client";
import { BYTES_PER_MS } from "../capture/protocol";
import { type AudioFileFeed } from "./audio-file-feed";
import { type RecordingControl } from "./control";
import { HostError } from "./errors";
import { existingSound } from "./existing-sound";
import { LiveCapture, type LiveCaptureDeps } from "./live-capture";
import { ShownState } from "./shown-state";
import { type HostNotice, type HostOptions, type HostRequest, type HostState } from "./state";
import { Transcription, type TranscriptionDeps } from "./transcription";

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

export interface RecordDeps extends LiveCaptureDeps, TranscriptionDeps {
  /** Called with every change, several times a second while recording. */
  onState?(state: HostState): void;
  control?: RecordingControl;
  context?: StoreContext;
  /** Names the process in the state. */
  identity?: { instanceId: string; pid: number; processStart: string };
}

const CLOSE_GRACE_MS = 1_000;

export function runRecording(options: HostOptions, deps: RecordDeps): Promise<RecordingResult> {
  return new RecordingRun(options, deps).run();
}

class RecordingRun {
  readonly #context: StoreContext;
  readonly #recordingId: string;
  readonly #state: ShownState;
  readonly #transcription: Transcription;
  readonly #stopping: Promise<void>;
  #stopRequested: () => void = () => undefined;
  #session: Session | undefined;
  #recorder: RealtimeRecorder | undefined;
  #capture: LiveCapture | undefined;
  #feed: AudioFileFeed | undefined;
  #discard = false;
  #halt: HostNotice | undefined;

  constructor(
    private readonly options: HostOptions,
    private readonly deps: RecordDeps,
  ) {
    this.#context = deps.context ?? defaultStoreContext();
    this.#recordingId = this.#context.newId();
    this.#stopping = new Promise((resolve) => (this.#stopRequested = resolve));
    const initial: HostState = {
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
    this.#state = new ShownState(initial, (state) => deps.onState?.(state));
    this.#transcription = new Transcription(options, deps, this.#context, this.#state, (error) =>
      this.#halted(noticeOf(error)),
    );
  }

  async run(): Promise<RecordingResult> {
    this.#state.show({});
    try {
      const session = await this.#openSession();
      this.deps.control?.listen((request) => this.#request(request));
      return await this.#record(session);
    } catch (error) {
      this.#state.warn(noticeOf(error));
      this.#state.show({ phase: "failed", provisional: [] });
      throw error;
    } finally {
      await this.#release();
    }
  }

  async #openSession(): Promise<Session> {
    const { session, root } = this.options;
    this.#session =
      session === undefined ? await createSession(root, this.#context) : await openSession(session, this.#context);
    if (this.#session.verdict !== "valid") {
      throw new HostError("session-not-valid", "The session cannot be recorded into.", "Recover the session first.");
    }
    const { id, location } = this.#session;
    this.#state.show({ session: { id, location }, recordingId: this.#recordingId });
    return this.#session;
  }

  async #record(session: Session): Promise<RecordingResult> {
    const existing = await existingSound(this.options, session);
    const { asset, feed } = existing ?? (await this.#startCapture(session));
    this.#feed = feed;
    const recorder = new RealtimeRecorder({
      session,
      leaf: session.leaf,
      recordingId: this.#recordingId,
      clock: { now: () => this.#context.clock.now(), setTimer },
      newId: () => this.#context.newId(),
      send: (connectionId, event) => this.#transcription.sendFor(connectionId, event),
      onCloseConnection: (connectionId) => this.#transcription.terminate(connectionId),
      onChange: (snapshot) => this.#recorderChanged(snapshot),
    });
    this.#recorder = recorder;
    await recorder.start(asset);
    this.#transcription.start(recorder, feed, session.id);
    await this.#capture?.start();
    this.#state.show({ phase: "recording" });
    const end = await this.#capture?.toItsEnd(this.#stopping, () => this.#discard);
    if (this.#capture === undefined) await this.#existingToItsEnd(recorder, feed);
    return this.#finish(session, recorder, feed, end);
  }

  async #startCapture(session: Session): Promise<LiveCapture> {
    const name = `${this.#recordingId}.wav`;
    this.#capture = await LiveCapture.launch(session, name, this.options, this.deps, this.#state, {
      synced: (dataBytes) => this.#recorder?.captureSynced(dataBytes),
      silenceLimit: () => this.#stopRequested(),
    });
    // From here on it is released, whatever comes.
    this.#feed = this.#capture.feed;
    await this.#capture.ready();
    return this.#capture;
  }

  async #existingToItsEnd(recorder: RealtimeRecorder, feed: AudioFileFeed): Promise<void> {
    recorder.captureSynced(feed.availableBytes);
    this.#state.show({ elapsedMs: feed.availableBytes / BYTES_PER_MS });
    await Promise.race([this.#stopping, this.#transcription.finishSending()]);
    this.#state.show({ phase: "finishing" });
  }

  async #finish(
    session: Session,
    recorder: RealtimeRecorder,
    feed: AudioFileFeed,
    end: CaptureEnd | undefined,
  ): Promise<RecordingResult> {
    if (this.#discard) return this.#discarded(session, recorder);
    if (end?.kind === "died") {
      this.#state.warn(noticeOf(end.failure));
      await this.#repairCapture();
    }
    const durationMs = Math.round(feed.availableBytes / BYTES_PER_MS);
    if (this.#halt === undefined) await this.#transcription.finish();
    const outcome = await this.#close(recorder, end, durationMs);
    await this.#transcription.disconnect(CLOSE_GRACE_MS);
    return this.#done(session, await this.#savedTurns(recorder), outcome, durationMs);
  }

  /** What keeps the sound from being repaired now is said, and costs neither the text nor the end of the recording. */
  async #repairCapture(): Promise<void> {
    try {
      await this.#capture?.repair(this.#context.captureLock);
    } catch (error) {
      if (!isStoreError(error)) throw error;
      this.#state.warn(noticeOf(error));
    }
  }

  /** Every turn, however long the recording; where the session cannot be read any more, those that are still known. */
  async #savedTurns(recorder: RealtimeRecorder): Promise<SavedTurn[]> {
    try {
      return await recorder.savedTurns();
    } catch (error) {
      if (!isStoreError(error)) throw error;
      this.#halted(noticeOf(error));
      return recorder.snapshot.saved;
    }
  }

  async #close(
    recorder: RealtimeRecorder,
    end: CaptureEnd | undefined,
    durationMs: number,
  ): Promise<"complete" | "incomplete" | "interrupted"> {
    if (end?.kind === "died") {
      await recorder.interrupt(end.failure.code, durationMs);
      return "interrupted";
    }
    for (const gap of this.#capture?.gaps ?? []) recorder.addGap(gap);
    const untranscribed = this.#halt === undefined ? this.#transcription.untranscribed(durationMs) : undefined;
    if (untranscribed !== undefined) recorder.addGap(untranscribed);
    return (await recorder.stop({ durationMs })).outcome;
  }

  async #discarded(session: Session, recorder: RealtimeRecorder): Promise<RecordingResult> {
    await this.#transcription.disconnect(0);
    await recorder.interrupt("discarded");
    // Only a session that this recording made is the recording's to delete.
    if (this.options.session === undefined) {
      await session.close();
      await deleteSession(session.location, this.#context, { confirmed: true });
    }
    this.#state.show({
      phase: "finished",
      provisional: [],
      saved: [],
      result: { text: "", entryIds: [], outcome: "discarded", announced: false },
    });
    return { kind: "discarded", state: this.#state.current };
  }

  #done(
    session: Session,
    saved: readonly SavedTurn[],
    outcome: "complete" | "incomplete" | "interrupted",
    durationMs: number,
  ): RecordingResult {
    const entryIds = saved.map((turn) => turn.entryId);
    const text = saved.map((turn) => turn.text).join("\n");
    this.#state.show({
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
      state: this.#state.current,
    };
  }

  #request(request: HostRequest): void {
    if (request.kind === "remove") {
      // What becomes of it is shown by the recorder's next snapshot.
      this.#recorder?.requestRemoval(request.entryId).catch((error: unknown) => this.#halted(noticeOf(error)));
      return;
    }
    if (request.kind === "discard") this.#discard = true;
    this.#stopRequested();
  }

  #recorderChanged(snapshot: RecorderSnapshot): void {
    this.#state.show({
      saved: snapshot.saved.map(({ entryId, role, text }) => ({ entryId, role, text })),
      provisional: snapshot.provisional.map(({ itemId, text }) => ({ itemId, text })),
    });
    if (snapshot.halted !== undefined)
      this.#halted({ ...snapshot.halted, remedy: "What was captured so far is kept." });
    if (snapshot.captureStop !== undefined && snapshot.captureStop.reason !== "transport-lost") {
      const { reason } = snapshot.captureStop;
      this.#state.warn({ code: reason, message: "The recording ended early.", remedy: "What was captured is kept." });
      this.#stopRequested();
    }
  }

  /** Persistence failed: the capture stops, visibly. */
  #halted(notice: HostNotice): void {
    if (this.#halt !== undefined) return;
    this.#halt = notice;
    this.#state.warn(notice);
    this.#stopRequested();
  }

  async #release(): Promise<void> {
    await this.#capture?.close();
    await this.#transcription.close();
    await this.#feed?.close();
    await this.#session?.close();
  }
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
