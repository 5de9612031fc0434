/** Everything that one connection needs, made from the settings and the model table in one place. */
import { type JsonRecord } from "./json";
import { DEFAULT_TRANSCRIPTION_MODEL, ON_DEVICE_MODEL, transcriptionModel } from "./models";
import { type ProviderSettings } from "./settings";

export interface ConnectionPlan {
  /** With the query, which may hold the key: never shown, never stored. */
  url: string;
  headers: Record<string, string>;
  /** Without user info, query and fragment. */
  endpoint: string;
  provider: string;
  model: string;
  api: "realtime";
  sessionUpdate: JsonRecord;
  /** Who commits turns. */
  turnDetection: "server" | "none";
  sampleRate: 24_000 | 16_000;
  mode: "transcription" | "conversation";
  /** Strings that no text may hold. */
  secrets: readonly string[];
}

export interface PlanContext {
  apiKey?: string | undefined;
  /** ISO-639-1. */
  language?: string | undefined;
  /** Names and words that are likely to be said. */
  vocabulary?: readonly string[] | undefined;
}

export type PlanResult = { ok: true; plan: ConnectionPlan } | { ok: false; code: string };

const OPENAI_ENDPOINT = "wss://api.openai.com/v1/realtime";
const DEFAULT_CONVERSATION_MODEL = "gpt-realtime-2.1";
const CONVERSATION_TRANSCRIBER = "gpt-4o-mini-transcribe";
const SERVER_VAD: JsonRecord = { type: "server_vad", threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500 };
/** What is longer is cut: vocabulary is a hint, and no reason to fail a session. */
const MAX_PROMPT_CHARS = 1_000;
const MAX_KEYWORDS = 100;

export function planConnection(settings: ProviderSettings, context: PlanContext): PlanResult {
  const mode = settings.mode ?? "transcription";
  const url = parseEndpoint(settings.kind === "openai" ? OPENAI_ENDPOINT : settings.endpoint);
  if (url === undefined) return { ok: false, code: "endpoint-invalid" };
  const { apiKey } = context;
  const authStyle = settings.authStyle ?? (settings.kind === "openai" || apiKey !== undefined ? "bearer" : "none");
  if (authStyle !== "none" && (apiKey === undefined || apiKey === "")) return { ok: false, code: "key-missing" };
  const model = settings.model ?? defaultModel(settings, mode);
  addSessionQuery(url, settings, mode, model);
  const headers = authenticate(url, authStyle, apiKey ?? "");
  const turnDetection = settings.turnDetection ?? turnDetectionOf(mode, model);
  const plan: ConnectionPlan = {
    url: url.href,
    headers,
    endpoint: publicEndpoint(url),
    provider: settings.kind,
    model,
    api: "realtime",
    sessionUpdate: sessionUpdate(mode, model, turnDetection, settings.sampleRate ?? 24_000, context),
    turnDetection,
    sampleRate: settings.sampleRate ?? 24_000,
    mode,
    secrets: apiKey === undefined || apiKey === "" ? [] : [apiKey],
  };
  return { ok: true, plan };
}

function parseEndpoint(endpoint: string | undefined): URL | undefined {
  if (endpoint === undefined || !URL.canParse(endpoint)) return undefined;
  const url = new URL(endpoint);
  if (url.protocol === "http:") url.protocol = "ws:";
  if (url.protocol === "https:") url.protocol = "wss:";
  return url.protocol === "ws:" || url.protocol === "wss:" ? url : undefined;
}

/** The address as it may be shown and stored. */
export function publicEndpoint(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}

function defaultModel(settings: ProviderSettings, mode: ConnectionPlan["mode"]): string {
  if (settings.kind === "on-device") return ON_DEVICE_MODEL;
  return mode === "conversation" ? DEFAULT_CONVERSATION_MODEL : DEFAULT_TRANSCRIPTION_MODEL;
}

function turnDetectionOf(mode: ConnectionPlan["mode"], model: string): "server" | "none" {
  return mode === "conversation" ? "server" : transcriptionModel(model).turnDetection;
}

function addSessionQuery(url: URL, settings: ProviderSettings, mode: ConnectionPlan["mode"], model: string): void {
  const query = settings.query ?? (mode === "conversation" ? "model" : "intent");
  if (query !== "model") url.searchParams.set("intent", "transcription");
  if (query !== "intent") url.searchParams.set("model", model);
}

function authenticate(url: URL, style: string, apiKey: string): Record<string, string> {
  if (style === "bearer") return { Authorization: `Bearer ${apiKey}` };
  const [way, name = ""] = style.split(":");
  if (way === "header") return { [name]: apiKey };
  if (way === "query") url.searchParams.set(name, apiKey);
  return {};
}

function sessionUpdate(
  mode: ConnectionPlan["mode"],
  model: string,
  turnDetection: "server" | "none",
  rate: number,
  context: PlanContext,
): JsonRecord {
  const turn_detection = turnDetection === "server" ? { ...SERVER_VAD } : null;
  const transcriber = mode === "conversation" ? CONVERSATION_TRANSCRIBER : model;
  const input = {
    format: { type: "audio/pcm", rate },
    transcription: transcription(transcriber, context),
    turn_detection,
  };
  if (mode === "transcription") return { type: "transcription", audio: { input } };
  return { type: "realtime", output_modalities: ["text"], audio: { input } };
}

function transcription(model: string, { language, vocabulary = [] }: PlanContext): JsonRecord {
  const facts = transcriptionModel(model);
  const fields: JsonRecord = { model };
  if (language !== undefined && language !== "") {
    if (facts.languageField === "language") fields["language"] = language;
    else fields["languages"] = [language];
  }
  const words = vocabulary.map((word) => word.trim()).filter((word) => word !== "");
  if (words.length > 0 && facts.keywords) fields["keywords"] = words.slice(0, MAX_KEYWORDS);
  else if (words.length > 0 && facts.prompt) fields["prompt"] = words.join(", ").slice(0, MAX_PROMPT_CHARS);
  return fields;
}
