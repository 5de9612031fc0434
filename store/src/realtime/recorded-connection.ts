import { type JsonObject } from "../format/schema";
import { type OrderGap, type PublishedTurn } from "./actions";
import { AudioClock, type AudioRange } from "./audio-clock";
import { type Evidence, evidenceOfEvent, evidenceOfFrame } from "./evidence";
import { stringOf } from "./fields";
import { type EvidenceJob } from "./log-writer";
import { Observations } from "./observations";
import { type RecorderConnection, type SendObservation } from "./recorder-types";
import { plainEndpoint } from "./secrets";

/** One connection of a recording: what is kept of its frames, and where in the recording its audio lies. */
export class RecordedConnection {
  /** As it is kept: the endpoint without user info, query and fragment. */
  readonly origin: RecorderConnection;
  readonly #observations: Observations;
  readonly #audio = new AudioClock();

  constructor(origin: RecorderConnection, newId: () => string) {
    this.origin = { ...origin, endpoint: plainEndpoint(origin.endpoint) };
    this.#observations = new Observations(origin.connectionId, newId);
  }

  /** The evidence of an event that the client sends, or could not. */
  sent(event: JsonObject, { observation, wav }: SendObservation, nowMs: number): EvidenceJob {
    const evidence = evidenceOfEvent(event);
    if (observation !== "send_failed") this.#noteAudio(event, evidence, wav);
    return this.#observations.next(evidence, observation, sizeOf(evidence), nowMs, wav);
  }

  /** The evidence of a frame as it came over the wire, and what it says when it is a JSON object. */
  received(data: string | Uint8Array, nowMs: number): { job: EvidenceJob; frame: JsonObject | undefined } {
    const evidence = evidenceOfFrame(data);
    const queuedBytes = typeof data === "string" ? Buffer.byteLength(data) : data.byteLength;
    return { job: this.#observations.next(evidence, "received", queuedBytes, nowMs), frame: evidence.frame };
  }

  /** Where in the recording a turn was said. */
  rangeOf(turn: PublishedTurn): AudioRange | undefined {
    return this.#audio.rangeOf(turn);
  }

  /** The part of the recording that a gap leaves without text: to the end of what was sent when it never ended. */
  gapRangeOf(gap: OrderGap): AudioRange | undefined {
    return this.#audio.rangeOf(gap, { isOpenEnded: true });
  }

  #noteAudio(event: JsonObject, evidence: Evidence, wav: { start: number; end: number } | undefined): void {
    const type = stringOf(event, "type");
    if (type === "input_audio_buffer.append") this.#audio.sent(wav, evidence.media[0]?.bytes.length ?? 0);
    if (type === "input_audio_buffer.commit") this.#audio.committed();
  }
}

/** Bytes that an observed send holds in memory until it is durable. */
function sizeOf(evidence: Evidence): number {
  return evidence.recordBytes + evidence.media.reduce((sum, media) => sum + media.bytes.length, 0);
}
