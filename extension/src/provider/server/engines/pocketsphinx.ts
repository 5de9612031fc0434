import { type ChildProcess, spawn } from "node:child_process";
import { errnoName } from "../../../capture/errno";
import { Pcm16Resampler } from "../../../capture/pcm16";
import { SAMPLE_RATE } from "../../../capture/protocol";
import { EngineFailure, type EngineTurn, type SpeechEngine, type TurnOptions } from "../speech-engine";

const ENGINE_RATE = 16_000;
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
  readonly #resampler = new Pcm16Resampler(SAMPLE_RATE, ENGINE_RATE);
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
    // A pipe that breaks is an engine that ended early, which its exit says.
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
    this.#write(this.#resampler.push(samples));
  }

  async finish(): Promise<string> {
    this.#write(this.#resampler.drain());
    this.#write(Buffer.alloc(2 * ((ENGINE_RATE * TRAILING_SILENCE_MS) / 1_000)));
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

  #write(samples: Buffer): void {
    if (samples.length > 0 && this.#child.stdin?.writable === true) this.#child.stdin.write(samples);
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
