/** A local recogniser behind the loopback server. */
export interface SpeechEngine {
  /** As it is told to the user. */
  readonly name: string;
  /** Starts the recognition of one turn. */
  openTurn(options: TurnOptions): EngineTurn;
  /** Ends whatever is still running. */
  close(): Promise<void>;
}

export interface TurnOptions {
  /** ISO-639-1, when the session names one. */
  language?: string;
  /** Where the turn starts, in milliseconds of the session's audio. */
  startMs: number;
  /** More text of this turn that may still change; pieces join without anything between them. */
  onPartial(delta: string): void;
}

export interface EngineTurn {
  /** Takes 24 kHz mono PCM16 in order. */
  push(samples: Buffer): void;
  /** The whole text of the turn; empty when nothing was said. Rejects with EngineFailure. */
  finish(): Promise<string>;
  cancel(): void;
}

/** A recogniser that could not do its work. The message holds no text of the recording. */
export class EngineFailure extends Error {
  override readonly name = "EngineFailure";
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}
