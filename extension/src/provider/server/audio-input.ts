import { BYTES_PER_MS } from "../../capture/protocol";
import { TurnDetector } from "../vad/turn-detector";
import { VAD_FRAME_BYTES, type VoiceActivity } from "../vad/voice-activity";
import { type ServerVad } from "./session-config";

/** The least audio that makes a turn. */
const MIN_COMMIT_BYTES = 100 * BYTES_PER_MS;

/** What happens to the input buffer, in order. Times are milliseconds of all audio of the session. */
export interface AudioInputEvents {
  /** Sound of a turn that has begun: at its start, then as it comes in. */
  turnStarted(startMs: number, samples: Buffer): void;
  turnAudio(samples: Buffer): void;
  /** The end of speech; the turn is then committed. */
  speechStopped(endMs: number): void;
  /** Only with voice detection. */
  speechStarted(startMs: number): void;
  committed(): void;
}

/**
 * The input audio buffer of one session. With voice detection a turn begins when speech does; without, it begins with
 * the first sample after the last commit.
 */
export class AudioInput {
  #vad: ServerVad | null = null;
  #detector: TurnDetector | undefined;
  /** Where the detector's positions start, in bytes of the session's audio. */
  #detectorOrigin = 0;
  /** Uncommitted audio that no turn has taken yet; only its end is kept while nobody speaks. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  #received = 0;
  #turnOpen = false;
  #uncommitted = 0;

  constructor(
    private readonly activity: VoiceActivity,
    private readonly events: AudioInputEvents,
  ) {}

  configure(vad: ServerVad | null): void {
    const changed = JSON.stringify(vad) !== JSON.stringify(this.#vad);
    if (!changed) return;
    this.#vad = vad;
    this.#detectorOrigin = this.#received;
    this.#detector =
      vad === null ? undefined : new TurnDetector(this.activity, { silenceMs: vad.silenceMs, prefixMs: vad.prefixMs });
  }

  append(samples: Buffer): void {
    const detector = this.#detector;
    if (detector === undefined) {
      this.#received += samples.length;
      this.#uncommitted += samples.length;
      if (this.#turnOpen) this.events.turnAudio(samples);
      else {
        this.#turnOpen = true;
        this.events.turnStarted((this.#received - samples.length) / BYTES_PER_MS, samples);
      }
      return;
    }
    // Small steps, so that a turn's end inside a large piece does not swallow the start of the next.
    for (let at = 0; at < samples.length; at += VAD_FRAME_BYTES)
      this.#detect(detector, samples.subarray(at, at + VAD_FRAME_BYTES));
  }

  #detect(detector: TurnDetector, samples: Buffer): void {
    this.#received += samples.length;
    this.#uncommitted += samples.length;
    if (this.#turnOpen) this.events.turnAudio(samples);
    else this.#hold(samples);
    for (const event of detector.push(samples)) {
      const atByte = this.#detectorOrigin + event.atByte;
      if (event.kind === "started" && !this.#turnOpen) this.#begin(atByte);
      if (event.kind === "stopped" && this.#turnOpen) {
        this.events.speechStopped(Math.round(atByte / BYTES_PER_MS));
        this.#settle();
        this.events.committed();
      }
    }
  }

  #begin(atByte: number): void {
    const keep = Math.min(this.#heldBytes, this.#received - atByte);
    const held = Buffer.concat(this.#held);
    this.#turnOpen = true;
    this.#held = [];
    this.#heldBytes = 0;
    const startMs = Math.round((this.#received - keep) / BYTES_PER_MS);
    this.events.speechStarted(startMs);
    this.events.turnStarted(startMs, held.subarray(held.length - keep));
  }

  /** Commits by hand. False when there is less than 100 ms of audio. */
  commit(): boolean {
    if (this.#uncommitted < MIN_COMMIT_BYTES) return false;
    if (!this.#turnOpen) {
      const held = Buffer.concat(this.#held);
      this.events.turnStarted(Math.round((this.#received - held.length) / BYTES_PER_MS), held);
    }
    this.#detector?.endTurn();
    this.#settle();
    this.events.committed();
    return true;
  }

  get uncommittedMs(): number {
    return this.#uncommitted / BYTES_PER_MS;
  }

  clear(): void {
    this.#detector?.endTurn();
    this.#settle();
  }

  #settle(): void {
    this.#turnOpen = false;
    this.#held = [];
    this.#heldBytes = 0;
    this.#uncommitted = 0;
  }

  /** Without speech, five seconds before now are more than any turn reaches back. */
  #hold(samples: Buffer): void {
    this.#held.push(samples);
    this.#heldBytes += samples.length;
    while (this.#heldBytes > 5_000 * BYTES_PER_MS) this.#heldBytes -= this.#held.shift()?.length ?? 0;
  }
}
