import { BYTES_PER_MS } from "../../../capture/protocol";
import { EngineFailure, type EngineTurn, type SpeechEngine, type TurnOptions } from "../speech-engine";

/** What is said in a recording, with times in milliseconds of its sound. */
export interface Script {
  turns: readonly ScriptedTurn[];
}

export interface ScriptedTurn {
  startMs: number;
  endMs: number;
  text: string;
  /** The recognition fails instead. */
  failure?: { code: string; message: string };
  /** How long the recognition takes after the end of the turn. */
  latencyMs?: number;
}

/**
 * Replays a known transcript: a turn that hears at least the middle of a scripted one says its text, word by word as the
 * sound comes in. It recognises nothing, and is never passed off as an engine that does.
 */
export class ScriptedEngine implements SpeechEngine {
  readonly name: string;

  constructor(
    private readonly script: Script,
    name = "replayed transcript",
  ) {
    this.name = name;
  }

  openTurn(options: TurnOptions): EngineTurn {
    return new ScriptedTurnRun(this.script, options);
  }

  async close(): Promise<void> {}
}

class ScriptedTurnRun implements EngineTurn {
  #bytes = 0;
  #said = 0;
  #timer: NodeJS.Timeout | undefined;
  #cancel: (() => void) | undefined;

  constructor(
    private readonly script: Script,
    private readonly options: TurnOptions,
  ) {}

  push(samples: Buffer): void {
    this.#bytes += samples.length;
    const { startMs } = this.options;
    const words = this.#heard().flatMap((turn) => {
      const parts = turn.text.split(" ");
      const step = (turn.endMs - turn.startMs) / parts.length;
      return parts.map((word, at) => ({ word, atMs: turn.startMs + step * (at + 1) }));
    });
    const nowMs = startMs + this.#bytes / BYTES_PER_MS;
    const spoken = words.filter(({ atMs }) => atMs <= nowMs).length;
    for (; this.#said < spoken; this.#said += 1) {
      this.options.onPartial(`${this.#said === 0 ? "" : " "}${words[this.#said]?.word ?? ""}`);
    }
  }

  async finish(): Promise<string> {
    const heard = this.#heard();
    const latencyMs = Math.max(0, ...heard.map((turn) => turn.latencyMs ?? 0));
    if (latencyMs > 0) {
      await new Promise<void>((resolve) => {
        this.#cancel = resolve;
        this.#timer = setTimeout(resolve, latencyMs);
      });
    }
    const failure = heard.find((turn) => turn.failure !== undefined)?.failure;
    if (failure !== undefined) throw new EngineFailure(failure.code, failure.message);
    return heard.map((turn) => turn.text).join(" ");
  }

  cancel(): void {
    clearTimeout(this.#timer);
    this.#cancel?.();
  }

  #heard(): ScriptedTurn[] {
    const { startMs } = this.options;
    const endMs = startMs + this.#bytes / BYTES_PER_MS;
    const middle = (turn: ScriptedTurn): number => (turn.startMs + turn.endMs) / 2;
    return this.script.turns.filter((turn) => startMs <= middle(turn) && middle(turn) < endMs);
  }
}
