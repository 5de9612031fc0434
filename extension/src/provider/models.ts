/**
 * What each transcription model of the Realtime API accepts. A field that a model refuses makes the server reject the
 * whole `session.update`, so nothing is sent that is not in this table.
 */
export interface TranscriptionModel {
  /** `none`: turns are committed by the client; `server`: the server finds them. */
  turnDetection: "none" | "server";
  /** How the spoken language is named: never both. */
  languageField: "language" | "languages";
  prompt: boolean;
  keywords: boolean;
  /** Words come while speaking, before the commit. */
  streamsBeforeCommit: boolean;
}

const live: TranscriptionModel = {
  turnDetection: "none",
  languageField: "languages",
  prompt: true,
  keywords: true,
  streamsBeforeCommit: true,
};
const turnBased: TranscriptionModel = {
  turnDetection: "server",
  languageField: "language",
  prompt: true,
  keywords: false,
  streamsBeforeCommit: false,
};

/** The model of the loopback server, whatever engine stands behind it. */
export const ON_DEVICE_MODEL = "on-device";
export const DEFAULT_TRANSCRIPTION_MODEL = "gpt-live-transcribe";

export const transcriptionModels: ReadonlyMap<string, TranscriptionModel> = new Map([
  ["gpt-live-transcribe", live],
  ["gpt-realtime-whisper", { ...live, languageField: "language", prompt: false, keywords: false }],
  ["gpt-transcribe", { ...live, streamsBeforeCommit: false }],
  ["gpt-4o-transcribe", turnBased],
  ["gpt-4o-mini-transcribe", turnBased],
  ["gpt-4o-transcribe-diarize", { ...turnBased, prompt: false }],
  ["whisper-1", turnBased],
  [ON_DEVICE_MODEL, { ...turnBased, streamsBeforeCommit: true }],
]);

/** The entry of a model; dated snapshots follow their base name. A model that is not known gets the common denominator. */
export function transcriptionModel(name: string): TranscriptionModel {
  const exact = transcriptionModels.get(name);
  if (exact !== undefined) return exact;
  const base = [...transcriptionModels.keys()]
    .filter((key) => name.startsWith(`${key}-`))
    .sort((a, b) => b.length - a.length)[0];
  return (base === undefined ? undefined : transcriptionModels.get(base)) ?? { ...turnBased, prompt: false };
}
