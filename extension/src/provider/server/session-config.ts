import { isRecord, type Json, type JsonRecord, recordAt, textAt } from "../json";
import { transcriptionModel } from "../models";

export type SessionKind = "transcription" | "realtime";

export interface ServerVad {
  type: "server_vad";
  silenceMs: number;
  prefixMs: number;
  createResponse: boolean;
  interruptResponse: boolean;
}

/** A rejected update: nothing of it is applied. */
export interface Rejection {
  code: string;
  message: string;
  param: string;
}

export type UpdateResult = { ok: true; session: JsonRecord } | { ok: false; rejection: Rejection };

const DEFAULT_VAD: JsonRecord = {
  type: "server_vad",
  threshold: 0.5,
  prefix_padding_ms: 300,
  silence_duration_ms: 500,
  idle_timeout_ms: null,
};

const LIFETIME_S = 3_600;

/** The session object that a new connection starts with. */
export function initialSession(kind: SessionKind, id: string, model: string | undefined, nowMs: number): JsonRecord {
  const input: JsonRecord = {
    format: { type: "audio/pcm", rate: 24_000 },
    transcription: null,
    noise_reduction: null,
    turn_detection:
      kind === "realtime" ? { ...DEFAULT_VAD, create_response: true, interrupt_response: true } : { ...DEFAULT_VAD },
  };
  const common = { id, expires_at: Math.floor(nowMs / 1_000) + LIFETIME_S, include: null };
  if (kind === "transcription") {
    return { type: "transcription", object: "realtime.transcription_session", ...common, audio: { input } };
  }
  return {
    type: "realtime",
    object: "realtime.session",
    ...common,
    model: model ?? "gpt-realtime",
    output_modalities: ["audio"],
    instructions: "",
    tools: [],
    tool_choice: "auto",
    max_output_tokens: "inf",
    tracing: null,
    truncation: "auto",
    prompt: null,
    audio: { input, output: { format: { type: "audio/pcm", rate: 24_000 }, voice: "alloy", speed: 1 } },
  };
}

/** The session after a partial update: absent fields stay, null clears, objects merge. */
export function applyUpdate(session: JsonRecord, update: JsonRecord): UpdateResult {
  if (update["type"] !== undefined && update["type"] !== session["type"]) {
    return refuse(
      "invalid_value",
      `The type of a session cannot change to '${String(update["type"])}'.`,
      "session.type",
    );
  }
  for (const beta of ["modalities", "input_audio_format", "input_audio_transcription", "turn_detection", "voice"]) {
    if (update[beta] !== undefined) {
      return refuse("unknown_parameter", `Unknown parameter: 'session.${beta}'.`, `session.${beta}`);
    }
  }
  if (update["model"] !== undefined && session["model"] !== undefined && update["model"] !== session["model"]) {
    return refuse("invalid_value", "The model of a session cannot change.", "session.model");
  }
  const next = merge(session, update);
  const rejection = rejectionOf(next);
  return rejection === undefined ? { ok: true, session: next } : { ok: false, rejection };
}

function merge(base: JsonRecord, update: JsonRecord): JsonRecord {
  const next: JsonRecord = { ...base };
  for (const [key, value] of Object.entries(update)) {
    const before = next[key];
    // Turn detection and transcription are configurations of their own: a new one replaces the old.
    const replaced = key === "turn_detection" || key === "transcription" || key === "tools";
    next[key] = isRecord(value) && isRecord(before) && !replaced ? merge(before, value) : value;
  }
  return next;
}

function rejectionOf(session: JsonRecord): Rejection | undefined {
  const input = inputOf(session);
  const format = recordAt(input, "format");
  if (textAt(format, "type") !== "audio/pcm" || format?.["rate"] !== 24_000) {
    return reject("invalid_value", "Only audio/pcm with rate 24000 is supported.", "session.audio.input.format");
  }
  const transcription = recordAt(input, "transcription");
  const model = textAt(transcription, "model");
  const place = "session.audio.input";
  if (transcription?.["language"] !== undefined && transcription["languages"] !== undefined) {
    return reject("invalid_value", "Only one of language and languages may be set.", `${place}.transcription`);
  }
  const vad = input["turn_detection"];
  if (vad === null || vad === undefined) return undefined;
  const type = textAt(vad, "type");
  if (type !== "server_vad" && type !== "semantic_vad") {
    return reject("invalid_value", "Unknown turn detection.", `${place}.turn_detection`);
  }
  // A session that never chose turn detection takes the model's own way.
  const refusesTurns = model !== undefined && transcriptionModel(model).turnDetection === "none";
  if (refusesTurns) {
    return reject(
      "invalid_value",
      "Turn detection is not supported for this transcription model.",
      `${place}.turn_detection`,
    );
  }
  return undefined;
}

function refuse(code: string, message: string, param: string): UpdateResult {
  return { ok: false, rejection: reject(code, message, param) };
}

function reject(code: string, message: string, param: string): Rejection {
  return { code, message, param };
}

export function inputOf(session: JsonRecord): JsonRecord {
  return recordAt(recordAt(session, "audio"), "input") ?? {};
}

export function vadOf(session: JsonRecord): ServerVad | null {
  const vad = inputOf(session)["turn_detection"];
  if (!isRecord(vad)) return null;
  const number = (key: string, otherwise: number): number => {
    const value: Json | undefined = vad[key];
    return typeof value === "number" && value >= 0 && value <= 60_000 ? value : otherwise;
  };
  return {
    type: "server_vad",
    silenceMs: Math.max(40, number("silence_duration_ms", 500)),
    prefixMs: number("prefix_padding_ms", 300),
    createResponse: vad["create_response"] !== false,
    interruptResponse: vad["interrupt_response"] !== false,
  };
}

export function transcriptionOf(session: JsonRecord): { model: string; language?: string } | null {
  const transcription = recordAt(inputOf(session), "transcription");
  if (transcription === undefined) return null;
  const list = transcription["languages"];
  const first = Array.isArray(list) ? list[0] : undefined;
  const language = textAt(transcription, "language") ?? (typeof first === "string" ? first : undefined);
  return { model: textAt(transcription, "model") ?? "", ...(language === undefined ? {} : { language }) };
}
