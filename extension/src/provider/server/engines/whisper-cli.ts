import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Resampler } from "../../../capture/resampler";
import { EngineFailure, type EngineTurn, type SpeechEngine, type TurnOptions } from "../speech-engine";

const ENGINE_RATE = 16_000;
const CAPTURE_RATE = 24_000;
/** The model hallucinates on less. */
const MIN_SECONDS = 1.1;
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
  const resampler = new Resampler(CAPTURE_RATE, ENGINE_RATE);
  const values = new Float64Array(samples.length / 2);
  for (let at = 0; at < values.length; at += 1) values[at] = samples.readInt16LE(at * 2);
  const resampled = [...resampler.push(values), ...resampler.drain()];
  const frames = Math.max(resampled.length, Math.ceil(MIN_SECONDS * ENGINE_RATE));
  const wav = Buffer.alloc(44 + frames * 2);
  wav.write("RIFF", 0, "latin1");
  wav.writeUInt32LE(36 + frames * 2, 4);
  wav.write("WAVEfmt ", 8, "latin1");
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(ENGINE_RATE, 24);
  wav.writeUInt32LE(ENGINE_RATE * 2, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write("data", 36, "latin1");
  wav.writeUInt32LE(frames * 2, 40);
  for (const [at, value] of resampled.entries()) {
    wav.writeInt16LE(Math.max(-32_768, Math.min(32_767, Math.round(value))), 44 + at * 2);
  }
  return wav;
}
