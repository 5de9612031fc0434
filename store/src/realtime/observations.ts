/** Frames as jobs for the log writer: evidence with its sequence, observation and media (Session file format). */
import { isoTime } from "../clock";
import { type EntryInput, type JsonObject } from "../format/schema";
import { type Evidence } from "./evidence";
import { nameOf, objectOf } from "./fields";
import { type EvidenceJob } from "./log-writer";
import { type PendingMedia } from "./media-store";

interface AudioFormat {
  mimeType: string;
  encoding: string;
}

const FORMATS: Record<string, AudioFormat> = {
  "audio/pcm": { mimeType: "audio/pcm", encoding: "pcm_s16le" },
  pcm16: { mimeType: "audio/pcm", encoding: "pcm_s16le" },
  "audio/pcmu": { mimeType: "audio/PCMU", encoding: "pcm_mulaw" },
  g711_ulaw: { mimeType: "audio/PCMU", encoding: "pcm_mulaw" },
  "audio/pcma": { mimeType: "audio/PCMA", encoding: "pcm_alaw" },
  g711_alaw: { mimeType: "audio/PCMA", encoding: "pcm_alaw" },
};
const PCM: AudioFormat = { mimeType: "audio/pcm", encoding: "pcm_s16le" };

/** The observations of one connection in their order. */
export class Observations {
  readonly #connectionId: string;
  readonly #newId: () => string;
  #sequence = 0;
  #inputFormat = PCM;
  #outputFormat = PCM;

  constructor(connectionId: string, newId: () => string) {
    this.#connectionId = connectionId;
    this.#newId = newId;
  }

  /** A job for the next observation. Every one takes a sequence number, also one that cannot be kept. */
  next(
    evidence: Evidence,
    observation: "send_attempt" | "send_failed" | "received",
    queuedBytes: number,
    nowMs: number,
    wav?: { start: number; end: number },
  ): EvidenceJob {
    if (evidence.frame !== undefined) this.#noteFormats(evidence.frame);
    const time = isoTime(nowMs);
    const { payload, redactions, remoteEventId } = evidence;
    const entry: EntryInput = {
      type: "realtime_event",
      id: this.#newId(),
      timestamp: time,
      connectionId: this.#connectionId,
      direction: observation === "received" ? "incoming" : "outgoing",
      observation,
      observedAt: time,
      sequence: this.#sequence,
      payload,
      ...(remoteEventId === undefined ? {} : { remoteEventId }),
      ...(redactions.length === 0 ? {} : { redactions }),
    };
    this.#sequence += 1;
    const format = observation === "received" ? this.#outputFormat : this.#inputFormat;
    const media = evidence.media.map((item): PendingMedia => {
      const range = item.kind === "audio" && evidence.media.length === 1 ? wav : undefined;
      return { ...item, ...describe(item.kind, format), wav: range };
    });
    return { entry, media, queuedBytes, recordBytes: evidence.recordBytes };
  }

  #noteFormats(frame: JsonObject): void {
    const session = objectOf(frame, "session");
    if (session === undefined) return;
    const audio = objectOf(session, "audio");
    const input = nameOf(objectOf(objectOf(audio, "input"), "format"), "type") ?? nameOf(session, "input_audio_format");
    const output =
      nameOf(objectOf(objectOf(audio, "output"), "format"), "type") ?? nameOf(session, "output_audio_format");
    if (input !== undefined) this.#inputFormat = FORMATS[input] ?? PCM;
    if (output !== undefined) this.#outputFormat = FORMATS[output] ?? PCM;
  }
}

function describe(kind: PendingMedia["kind"], audio: AudioFormat): { mimeType: string; encoding: string | undefined } {
  switch (kind) {
    case "audio":
      return audio;
    case "json":
      return { mimeType: "application/json", encoding: "utf-8" };
    case "text":
      return { mimeType: "text/plain", encoding: "utf-8" };
    case "binary":
      return { mimeType: "application/octet-stream", encoding: undefined };
  }
}
