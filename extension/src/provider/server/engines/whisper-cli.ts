import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { wavHeader } from "@persyk/store";
import { Pcm16Resampler } from "../../../capture/pcm16";
import { SAMPLE_RATE } from "../../../capture/protocol";
import { EngineFailure, type EngineTurn, type SpeechEngine, type TurnOptions } from "../speech-engine";

const ENGINE_RATE = 16_000;
/** The model hallucinates on less than 1.1 s. */
const MIN_BYTES = 2 * ENGINE_RATE * 1.1;
/** A turn is less than a minute long; this catches a recognition that hangs, not one on a slow machine. */
const HANG_MS = 600_000;
const MAX_OUTPUT_CHARS = 1024 * 1024;

/** whisper.cpp's `whisper-cli` with a model file: one run for each turn, one at a time. */
export class WhisperCliEngine implements SpeechEngine {
  readonly name: string;
  #queue: Promise<unknown> = Promise.resolve();
  readonly #closing = new AbortController();

  constructor(
    private readonly program: string,
    private readonly model: string,
  ) {
    this.name = `whisper-cli (${path.basename(model)})`;
  }

  openTurn(options: TurnOptions): EngineTurn {
    const pieces: Buffer[] = [];
    const cancelling = new AbortController();
    const ended = AbortSignal.any([cancelling.signal, this.#closing.signal]);
    return {
      push: (samples) => void pieces.push(Buffer.from(samples)),
      finish: () => {
        const result = this.#queue.then(() => this.#recognise(Buffer.concat(pieces), options.language, ended));
        // A failure belongs to its own turn; the next one only waits for its end.
        this.#queue = result.catch(() => undefined);
        return result;
      },
      cancel: () => cancelling.abort(),
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#queue;
  }

  async #recognise(samples: Buffer, language: string | undefined, ended: AbortSignal): Promise<string> {
    if (ended.aborted) throw cancelled();
    const folder = await mkdtemp(path.join(tmpdir(), "persyk-turn-"));
    try {
      const file = path.join(folder, "turn.wav");
      await writeFile(file, toEngineWav(samples), { mode: 0o600 });
      const args = ["-m", this.model, "-f", file, "-l", language ?? "auto", "-nt", "-np"];
      return cleaned(await this.#run(args, ended));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  #run(args: readonly string[], signal: AbortSignal): Promise<string> {
    return new Promise((resolve, reject) => {
      const child = spawn(this.program, args, {
        stdio: ["ignore", "pipe", "ignore"],
        signal,
        timeout: HANG_MS,
        killSignal: "SIGKILL",
      });
      let output = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        if (output.length < MAX_OUTPUT_CHARS) output += text;
      });
      child.once("error", () =>
        reject(
          signal.aborted ? cancelled() : new EngineFailure("engine-missing", "The speech engine could not be started."),
        ),
      );
      child.once("close", (code) => {
        if (code === 0) resolve(output);
        else reject(new EngineFailure("engine-failed", "The speech engine ended early."));
      });
    });
  }
}

function cancelled(): EngineFailure {
  return new EngineFailure("engine-cancelled", "The recognition was ended.");
}

/** One line; marks such as [BLANK_AUDIO] or (music) are the engine's remarks, not speech. */
function cleaned(output: string): string {
  return output
    .replace(/\[[A-Z_ ]+\]/g, " ")
    .replace(/^\s*\([^)]*\)\s*$/gm, " ")
    .replace(/\s+/g, " ")
    .trim();
}

function toEngineWav(samples: Buffer): Buffer {
  const resampler = new Pcm16Resampler(SAMPLE_RATE, ENGINE_RATE);
  const sound = Buffer.concat([resampler.push(samples), resampler.drain()]);
  const silence = Buffer.alloc(Math.max(0, MIN_BYTES - sound.length));
  return Buffer.concat([wavHeader(sound.length + silence.length, ENGINE_RATE), sound, silence]);
}
