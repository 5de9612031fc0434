import { type ChildProcess, spawn } from "node:child_process";
import { errnoName } from "../../../capture/errno";
import { Resampler } from "../../../capture/resampler";
import { EngineFailure, type EngineTurn, type SpeechEngine, type TurnOptions } from "../speech-engine";

const ENGINE_RATE = 16_000;
const CAPTURE_RATE = 24_000;
/** The engine flushes its last words only when it has heard that the speech is over. */
const TRAILING_SILENCE_MS = 300;
/** A recognition takes less than the sound's own length; this catches one that hangs. */
const HANG_MS = 120_000;

/** `pocketsphinx_continuous` reading one turn from its standard input: English only, one line for each utterance. */
export class PocketsphinxEngine implements SpeechEngine {
  readonly name = "pocketsphinx_continuous";
  readonly #running = new Set<PocketsphinxTurn>();

  constructor(private readonly program: string) {}

  openTurn(options: TurnOptions): EngineTurn {
    const turn = new PocketsphinxTurn(this.program, options, () => this.#running.delete(turn));
    this.#running.add(turn);
    return turn;
  }

  async close(): Promise<void> {
    for (const turn of this.#running) turn.cancel();
    await Promise.all([...this.#running].map((turn) => turn.ended));
  }
}

class PocketsphinxTurn implements EngineTurn {
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  readonly #resampler = new Resampler(CAPTURE_RATE, ENGINE_RATE);
  #output = "";
  #failure: EngineFailure | undefined;

  constructor(
    program: string,
    private readonly options: TurnOptions,
    onEnd: () => void,
  ) {
    // The engine opens the device of its standard input by name, which a pipe allows and Node's socket does not.
    const args = ["-c", 'cat | "$0" -infile /dev/stdin -logfn /dev/null', program];
    this.#child = spawn("/bin/sh", args, { stdio: ["pipe", "pipe", "ignore"], detached: true });
    this.#child.stdin?.on("error", () => undefined);
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => this.#heard(text));
    this.ended = new Promise((resolve) => {
      this.#child.once("error", () => {
        this.#failure ??= new EngineFailure("engine-missing", "The speech engine could not be started.");
        onEnd();
        resolve();
      });
      this.#child.once("close", (code) => {
        if (code !== 0) this.#failure ??= new EngineFailure("engine-failed", "The speech engine ended early.");
        onEnd();
        resolve();
      });
    });
  }

  push(samples: Buffer): void {
    const values = new Float64Array(samples.length / 2);
    for (let at = 0; at < values.length; at += 1) values[at] = samples.readInt16LE(at * 2);
    this.#write(this.#resampler.push(values));
  }

  async finish(): Promise<string> {
    this.#write(this.#resampler.drain());
    this.#write(new Array<number>((ENGINE_RATE * TRAILING_SILENCE_MS) / 1_000).fill(0));
    this.#child.stdin?.end();
    const watchdog = setTimeout(() => this.cancel(), HANG_MS);
    await this.ended;
    clearTimeout(watchdog);
    if (this.#failure !== undefined) throw this.#failure;
    return utterances(this.#output).join(" ");
  }

  cancel(): void {
    this.#failure ??= new EngineFailure("engine-cancelled", "The recognition was ended.");
    this.#child.stdin?.destroy();
    // The whole group: the shell, the pipe and the engine.
    if (this.#child.pid !== undefined && this.#child.exitCode === null) killGroup(this.#child.pid);
  }

  #heard(text: string): void {
    const before = utterances(this.#output).length;
    this.#output += text;
    // A line is final for the engine, and one turn may have several.
    for (const [at, line] of utterances(this.#output.slice(0, this.#output.lastIndexOf("\n") + 1)).entries()) {
      if (at >= before) this.options.onPartial(`${at === 0 ? "" : " "}${line}`);
    }
  }

  #write(values: readonly number[]): void {
    if (values.length === 0 || this.#child.stdin?.writable !== true) return;
    const bytes = Buffer.alloc(values.length * 2);
    for (const [at, value] of values.entries()) {
      bytes.writeInt16LE(Math.max(-32_768, Math.min(32_767, Math.round(value))), at * 2);
    }
    this.#child.stdin.write(bytes);
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (errnoName(error) !== "ESRCH") throw error;
  }
}

function utterances(output: string): string[] {
  return output
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
