import { BYTES_PER_MS } from "../../capture/protocol";
import { VAD_FRAME_BYTES, type VoiceActivity } from "./voice-activity";

export interface TurnDetectorOptions {
  /** Silence that ends a turn. */
  silenceMs: number;
  /** Sound before the first speech frame that belongs to the turn. */
  prefixMs: number;
  /** Speech needed within the last frames before a turn begins: a click is not a turn. */
  minSpeechMs: number;
}

export const turnDefaults: TurnDetectorOptions = { silenceMs: 500, prefixMs: 300, minSpeechMs: 60 };

/** Byte positions count from the first byte pushed. */
export type TurnEvent = { kind: "started"; atByte: number } | { kind: "stopped"; atByte: number };

/**
 * Finds turns in a stream of 24 kHz mono PCM16, whatever the size of the pieces it comes in. A turn starts `prefixMs`
 * before its first speech and stops at the end of its last speech plus the silence that proved it.
 */
export class TurnDetector {
  readonly #options: TurnDetectorOptions;
  #rest: Buffer = Buffer.alloc(0);
  #position = 0;
  #speaking = false;
  #speechBytes = 0;
  #silenceBytes = 0;
  #lastSpeechEnd = 0;
  #turnEnd = 0;

  constructor(
    private readonly activity: VoiceActivity,
    options: Partial<TurnDetectorOptions> = {},
  ) {
    this.#options = { ...turnDefaults, ...options };
  }

  get isSpeaking(): boolean {
    return this.#speaking;
  }

  /** End of the last frame that was speech; 0 when there was none. */
  get lastSpeechEnd(): number {
    return this.#lastSpeechEnd;
  }

  push(samples: Buffer): TurnEvent[] {
    const input = this.#rest.length === 0 ? samples : Buffer.concat([this.#rest, samples]);
    const events: TurnEvent[] = [];
    let at = 0;
    for (; at + VAD_FRAME_BYTES <= input.length; at += VAD_FRAME_BYTES) {
      const event = this.#frame(this.activity.isSpeech(input.subarray(at, at + VAD_FRAME_BYTES)));
      if (event !== undefined) events.push(event);
    }
    this.#rest = input.subarray(at);
    return events;
  }

  /** Forgets a running turn, as after a commit that the detector did not ask for. */
  endTurn(): void {
    this.#speaking = false;
    this.#speechBytes = 0;
    this.#silenceBytes = 0;
    this.#turnEnd = this.#position;
  }

  #frame(speech: boolean): TurnEvent | undefined {
    this.#position += VAD_FRAME_BYTES;
    if (speech) {
      this.#lastSpeechEnd = this.#position;
      this.#speechBytes += VAD_FRAME_BYTES;
      this.#silenceBytes = 0;
      return this.#speaking ? undefined : this.#begin();
    }
    this.#silenceBytes += VAD_FRAME_BYTES;
    if (!this.#speaking) {
      // Speech frames count together only while they are near each other.
      if (this.#silenceBytes > this.#options.minSpeechMs * BYTES_PER_MS) this.#speechBytes = 0;
      return undefined;
    }
    if (this.#silenceBytes < this.#options.silenceMs * BYTES_PER_MS) return undefined;
    this.#speaking = false;
    this.#speechBytes = 0;
    this.#turnEnd = this.#position;
    return { kind: "stopped", atByte: this.#position };
  }

  #begin(): TurnEvent | undefined {
    if (this.#speechBytes < this.#options.minSpeechMs * BYTES_PER_MS) return undefined;
    this.#speaking = true;
    const start = this.#position - this.#speechBytes - this.#options.prefixMs * BYTES_PER_MS;
    return { kind: "started", atByte: Math.max(start, this.#turnEnd, 0) };
  }
}
