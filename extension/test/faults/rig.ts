/** A transcription from a WAV to a session over a real socket, with a server that can be bent. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import {
  createSession,
  defaultStoreContext,
  type Entry,
  RealtimeRecorder,
  type RecorderSnapshot,
  type Session,
  wavHeader,
} from "@persyk/store";
import { type AudioFeed } from "../../src/provider/evidence";
import { type JsonRecord, textAt } from "../../src/provider/json";
import { planConnection } from "../../src/provider/plan";
import { type ServerHooks, startRealtimeServer, type RealtimeServer } from "../../src/provider/server/realtime-server";
import { type Responder } from "../../src/provider/server/response";
import { type SpeechEngine } from "../../src/provider/server/speech-engine";
import { type ProviderSettings } from "../../src/provider/settings";
import { type TranscriberTiming } from "../../src/provider/timing";
import { Transcriber, type TranscriberState } from "../../src/provider/transcriber";
import { createVoiceActivity } from "../../src/provider/vad/voice-activity";
import { SampleEngine } from "../host/sample-engine";
import { readEntries, sampleBytes } from "../host/bench";

export const KEY = "sk-test-0123456789abcdefSECRET";

/** The recorder's ten seconds of drain pass in one. */
const HASTE = 10;

export class MemoryFeed implements AudioFeed {
  availableBytes: number;
  isComplete: boolean;
  readonly #listeners = new Set<() => void>();

  constructor(
    private readonly samples: Buffer,
    whole = true,
  ) {
    this.availableBytes = whole ? samples.length : 0;
    this.isComplete = whole;
  }

  async read(start: number, end: number): Promise<Buffer> {
    return this.samples.subarray(start, end);
  }

  announce(bytes: number): void {
    this.availableBytes = Math.min(bytes, this.samples.length);
    for (const listener of [...this.#listeners]) listener();
  }

  complete(): void {
    this.isComplete = true;
    this.announce(this.samples.length);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

export interface RigOptions {
  samples?: Buffer;
  hooks?: ServerHooks;
  engine?: SpeechEngine;
  responder?: Responder;
  settings?: Partial<ProviderSettings>;
  timing?: Partial<TranscriberTiming>;
  language?: string;
  vocabulary?: string[];
  /** The recording grows under the test's hand instead of being there. */
  growing?: boolean;
  /** The time by which connections grow old. */
  nowMs?: () => number;
  /** Keeps no frame, where a test looks at memory. */
  forgetful?: boolean;
}

export interface RigResult {
  entries: Entry[];
  messages: string[];
  outcome: "complete" | "incomplete";
  gaps: string[];
  states: TranscriberState[];
  /** Frames of each connection as the server got them. */
  received: JsonRecord[][];
  /** Audio of each connection, decoded. */
  audio: Buffer[];
  requests: { url: string; headers: NodeJS.Dict<string | string[]> }[];
}

const folders: string[] = [];

/** Every rig since the last look: who looks empties it. */
export const openedRigs: Rig[] = [];

export function clearRigs(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export class Rig {
  readonly received: JsonRecord[][] = [];
  readonly requests: RigResult["requests"] = [];
  readonly states: TranscriberState[] = [];
  readonly errors: unknown[] = [];

  private constructor(
    readonly folder: string,
    readonly session: Session,
    readonly recorder: RealtimeRecorder,
    readonly transcriber: Transcriber,
    readonly feed: MemoryFeed,
    readonly server: RealtimeServer,
    private readonly samples: Buffer,
  ) {}

  static async open(options: RigOptions = {}): Promise<Rig> {
    const folder = mkdtempSync(path.join(os.tmpdir(), "persyk-fault-"));
    folders.push(folder);
    const context = defaultStoreContext();
    const session = await createSession(folder, context);
    const samples = options.samples ?? sampleBytes.subarray(0, 8_400 * 48);
    const recordingId = context.newId();
    const asset = await session.createAsset(`${recordingId}.wav`, "audio/wav");
    const wav = Buffer.concat([wavHeader(samples.length), samples]);
    await asset.handle.write(wav, 0, wav.length, 0);
    await asset.handle.sync();
    await asset.handle.close();
    const begun = Date.now();
    // Observations come in only after the transcriber was started, when the rig is there.
    const made: { rig?: Rig } = {};
    const note = (what: (rig: Rig) => void): void => {
      if (made.rig !== undefined) what(made.rig);
    };
    const { hooks } = options;
    const server = await startRealtimeServer({
      engine: options.engine ?? new SampleEngine(),
      ...(options.responder === undefined ? {} : { responder: options.responder }),
      key: KEY,
      hooks: {
        ...hooks,
        upgrade: async (request) => {
          note((rig) => rig.requests.push({ url: request.url ?? "", headers: request.headers }));
          return hooks?.upgrade?.(request);
        },
        incoming: (event, connection) => {
          if (options.forgetful !== true) note((rig) => (rig.received[connection.index] ??= []).push(event));
          return hooks?.incoming?.(event, connection) ?? true;
        },
      },
    });
    const recorder = new RealtimeRecorder({
      session,
      leaf: null,
      recordingId,
      clock: {
        now: () => begun + (Date.now() - begun) * HASTE,
        setTimer: (ms, fn) => {
          const timer = setTimeout(fn, ms / HASTE);
          return () => clearTimeout(timer);
        },
      },
      send: (connectionId, event) => made.rig?.transcriber.sendFor(connectionId, event),
      onCloseConnection: (connectionId) => made.rig?.transcriber.terminate(connectionId),
      onChange: () => undefined,
    });
    await recorder.start(asset.reference);
    recorder.captureSynced(samples.length);
    const feed = new MemoryFeed(samples, options.growing !== true);
    const planned = planConnection(
      { kind: "compatible", endpoint: server.url, model: "on-device", ...options.settings },
      { apiKey: KEY, language: options.language, vocabulary: options.vocabulary },
    );
    if (!planned.ok) throw new Error(planned.code);
    const transcriber = new Transcriber({
      plan: planned.plan,
      feed,
      evidence: recorder,
      activity: await createVoiceActivity(),
      recordingOffset: 44,
      newId: () => context.newId(),
      originId: session.id,
      timing: { retryMs: [5, 5, 5, 5, 5], drainMs: 2_000, closeMs: 10_000, ...options.timing },
      ...(options.nowMs === undefined ? {} : { nowMs: options.nowMs }),
      onState: (state) => note((rig) => rig.states.push(state)),
      onEvidenceError: (error) => note((rig) => rig.errors.push(error)),
    });
    made.rig = new Rig(folder, session, recorder, transcriber, feed, server, samples);
    openedRigs.push(made.rig);
    return made.rig;
  }

  get snapshot(): RecorderSnapshot {
    return this.recorder.snapshot;
  }

  /** Sends everything, waits for the answers, and reads what is on disk. */
  async run(options: { idleMs?: number; settleMs?: number } = {}): Promise<RigResult> {
    this.transcriber.start();
    return this.finish(options);
  }

  async finish({
    idleMs = 20_000,
    settleMs = 20_000,
  }: { idleMs?: number; settleMs?: number } = {}): Promise<RigResult> {
    await this.transcriber.finishSending(idleMs);
    await this.transcriber.settled(settleMs);
    const { outcome } = await this.recorder.stop({ durationMs: this.samples.length / 48 });
    await this.transcriber.close(5_000);
    await this.server.close();
    await this.session.close();
    const entries = await readEntries(this.session.location);
    const finished = entries.find((entry) => entry.type === "recording.finished");
    return {
      entries,
      messages: entries.flatMap((entry) =>
        entry.type === "message" && Array.isArray(entry.message.content)
          ? [entry.message.content.map((block) => ("text" in block ? String(block.text) : "")).join("")]
          : [],
      ),
      outcome,
      gaps: finished?.type === "recording.finished" ? (finished.gaps ?? []).map((gap) => gap.reason) : [],
      states: this.states,
      received: this.received,
      audio: this.received.map(audioOf),
      requests: this.requests,
    };
  }

  /** Where the key is found that must be nowhere: files of the store's folder, states, errors, what is shown. */
  secretsFound(): string[] {
    const needles = [KEY, KEY.slice(3), Buffer.from(KEY).toString("base64")];
    const told = JSON.stringify([this.states, this.errors.map(String), this.snapshot]);
    return readFiles(this.folder)
      .filter((file) => needles.some((needle) => readFileSync(file).includes(needle)))
      .concat(needles.filter((needle) => told.includes(needle)));
  }
}

function readFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(folder, name))
    .filter((file) => statSync(file).isFile());
}

export function audioOf(events: readonly JsonRecord[] | undefined): Buffer {
  return Buffer.concat(
    (events ?? [])
      .filter((event) => event["type"] === "input_audio_buffer.append")
      .map((event) => Buffer.from(textAt(event, "audio") ?? "", "base64")),
  );
}

export function typesOf(events: readonly JsonRecord[] | undefined): string[] {
  return (events ?? []).map((event) => String(event["type"]));
}
