import { Pcm16Resampler } from "../capture/pcm16";
import { SAMPLE_RATE } from "../capture/protocol";
import { type RealtimeConnection } from "./connection";
import { type JsonRecord, recordAt, textAt } from "./json";
import { TurnLedger } from "./turn-ledger";
import { TurnDetector } from "./vad/turn-detector";
import { type VoiceActivity } from "./vad/voice-activity";

export interface LiveConnectionOptions {
  /** The position in the recording, in bytes of samples, of the first sample it is sent. */
  origin: number;
  openedAtMs: number;
  activity: VoiceActivity;
  /** What the provider takes, in Hz. */
  sampleRate: number;
  connect(live: LiveConnection): RealtimeConnection;
}

/** A connection with what was sent on it: its turns, the answers it owes, and where speech was in its sound. */
export class LiveConnection {
  readonly connection: RealtimeConnection;
  readonly origin: number;
  readonly openedAtMs: number;
  readonly ledger: TurnLedger;
  readonly detector: TurnDetector;
  /** Ends a replaced connection that does not answer. */
  drainTimer: NodeJS.Timeout | undefined;
  readonly #resampler: Pcm16Resampler | undefined;
  /** An answer was refused because another one was running: it is asked for when that one is done. */
  #owesReply = false;
  /** An answer was asked for that has not ended. */
  #awaitsReply = false;

  constructor(options: LiveConnectionOptions) {
    this.origin = options.origin;
    this.openedAtMs = options.openedAtMs;
    this.ledger = new TurnLedger(options.origin);
    this.detector = new TurnDetector(options.activity);
    this.#resampler =
      options.sampleRate === SAMPLE_RATE ? undefined : new Pcm16Resampler(SAMPLE_RATE, options.sampleRate);
    this.connection = options.connect(this);
  }

  /** Turns, and answers asked for, that have not ended. */
  get openTurns(): number {
    return this.ledger.openTurns + (this.#awaitsReply ? 1 : 0);
  }

  /** Whether what is sent is the recording's own bytes. */
  get sendsRecordedBytes(): boolean {
    return this.#resampler === undefined;
  }

  /** Samples of the recording as the provider takes them. */
  encode(samples: Buffer): Buffer {
    return this.#resampler?.push(samples) ?? samples;
  }

  replyRequested(): void {
    this.#awaitsReply = true;
  }

  /** True when a refused answer is to be asked for again: once, after the answer that stood in its way. */
  replyIsDue(event: JsonRecord): boolean {
    if (textAt(recordAt(event, "error"), "code") === "conversation_already_has_active_response") this.#owesReply = true;
    if (event["type"] !== "response.done") return false;
    this.#awaitsReply = false;
    const isDue = this.#owesReply;
    this.#owesReply = false;
    return isDue;
  }
}
