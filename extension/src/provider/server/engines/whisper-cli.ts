import { type ChildProcess, spawn } from "node:child_process";
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
const MAX_OUTPUT_CHARS = 1024 * 1024;

/** whisper.cpp's `whisper-cli` with a model file: one run for each turn, one at a time. */
export class WhisperCliEngine implements SpeechEngine {
  readonly name: string;
  #queue: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  readonly #running = new Set<ChildProcess>();

  constructor(
    private readonly program: string,
    private readonly model: string,
  ) {
    this.name = `whisper-cli (${path.basename(model)})`;
  }

  openTurn(options: TurnOptions): EngineTurn {
    const pieces: Buffer[] = [];
    let cancelled = false;
    return {
      push: (samples) => void pieces.push(Buffer.from(samples)),
      finish: () => {
        const result = this.#queue.then(async () => {
          if (cancelled || this.#isClosed) throw new EngineFailure("engine-cancelled", "The recognition was ended.");
          return this.#recognise(Buffer.concat(pieces), options.language);
        });
        this.#queue = result.catch(() => undefined);
        return result;
      },
      cancel: () => {
        cancelled = true;
      },
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const child of this.#running) child.kill("SIGKILL");
    await this.#queue;
  }

  async #recognise(samples: Buffer, language: string | undefined): Promise<string> {
    const folder = await mkdtemp(path.join(tmpdir(), "persyk-turn-"));
    try {
      const file = path.join(folder, "turn.wav");
      await writeFile(file, toEngineWav(samples), { mode: 0o600 });
      const args = ["-m", this.model, "-f", file, "-l", language ?? "auto", "-nt", "-np"];
      return cleaned(await this.#run(args));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  #run(args: readonly string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const child = spawn(this.program, args, { stdio: ["ignore", "pipe", "ignore"] });
      this.#running.add(child);
      let output = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        if (output.length < MAX_OUTPUT_CHARS) output += text;
      });
      child.once("error", () => reject(new EngineFailure("engine-missing", "The speech engine could not be started.")));
      child.once("close", (code) => {
        this.#running.delete(child);
        if (code === 0) resolve(output);
        else reject(new EngineFailure("engine-failed", "The speech engine ended early."));
      });
    });
  }
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
