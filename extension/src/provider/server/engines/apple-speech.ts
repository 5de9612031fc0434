import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Readable } from "node:stream";
import { wavHeader } from "@persyk/store";
import * as z from "zod";
import { errnoName } from "../../../capture/errno";
import { parseJson } from "../../../capture/json-text";
import { LineReader } from "../../../capture/lines";
import { EngineFailure, type EngineTurn, type SpeechEngine, type TurnOptions } from "../speech-engine";

const MAX_LINE_BYTES = 64 * 1024;
const VERSION_MS = 5_000;
/** Without a line for so long after the turn's end the recogniser hangs; while a model is installed it speaks every second. */
const HANG_MS = 120_000;

const line = z.discriminatedUnion("type", [
  z.object({ type: z.literal("progress") }),
  z.object({ type: z.literal("partial") }),
  z.object({ type: z.literal("final"), text: z.string() }),
  z.object({ type: z.literal("transcribed") }),
  z.object({ type: z.literal("error"), code: z.string(), message: z.string() }),
]);

/** True when the helper at a path says that this machine's own recogniser is there (`version`, macOS 26). */
export async function hasAppleSpeech(helper: string): Promise<boolean> {
  let answer = "";
  let child: ChildProcessByStdio<null, Readable, null>;
  try {
    child = spawn(helper, ["version"], {
      stdio: ["ignore", "pipe", "ignore"],
      timeout: VERSION_MS,
      killSignal: "SIGKILL",
    });
  } catch (error) {
    // Node throws what keeps a program from being run at all, such as another processor.
    if (errnoName(error) === undefined) throw error;
    return false;
  }
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (answer.length < MAX_LINE_BYTES) answer += text;
  });
  const isDone = await new Promise<boolean>((resolve) => {
    child.once("error", () => resolve(false));
    child.once("close", (code) => resolve(code === 0));
  });
  const version = z.object({ type: z.literal("version"), speech: z.boolean() }).safeParse(parseJson(answer));
  return isDone && version.success && version.data.speech;
}

/** Apple's SpeechAnalyzer through the capture helper: `transcribe --follow` on one private file for each turn. */
export class AppleSpeechEngine implements SpeechEngine {
  readonly name = "Apple speech recognition";
  readonly #running = new Set<AppleSpeechTurn>();

  constructor(private readonly helper: string) {}

  openTurn(options: TurnOptions): EngineTurn {
    const file = openTurnFile();
    if (file === undefined) return failedTurn("The speech engine's temporary file could not be made.");
    let child: ChildProcess;
    try {
      child = startTranscription(this.helper, file.path, options.language);
    } catch (error) {
      if (errnoName(error) === undefined) throw error;
      removeTurnFile(file);
      return failedTurn("The speech engine could not be started.");
    }
    const turn = new AppleSpeechTurn(child, file, options, () => this.#running.delete(turn));
    this.#running.add(turn);
    return turn;
  }

  async close(): Promise<void> {
    for (const turn of this.#running) turn.cancel();
    await Promise.all([...this.#running].map((turn) => turn.ended));
  }
}

interface TurnFile {
  readonly folder: string;
  readonly path: string;
  readonly fd: number;
}

/** A private file for the sound of one turn; undefined when the system refuses it. */
function openTurnFile(): TurnFile | undefined {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(path.join(tmpdir(), "persyk-turn-"));
    const file = path.join(folder, "turn.wav");
    const fd = openSync(file, "wx", 0o600);
    // While a file is followed its header says nothing of its length.
    writeSync(fd, wavHeader(0));
    return { folder, path: file, fd };
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
}

function removeTurnFile({ fd, folder }: TurnFile): void {
  closeSync(fd);
  rmSync(folder, { recursive: true, force: true });
}

function startTranscription(helper: string, file: string, language: string | undefined): ChildProcess {
  const locale = language === undefined ? [] : ["--locale", language];
  return spawn(helper, ["transcribe", "--input", file, ...locale, "--follow"], { stdio: ["pipe", "pipe", "ignore"] });
}

function failedTurn(message: string): EngineTurn {
  return {
    push: () => undefined,
    finish: () => Promise.reject(new EngineFailure("engine-failed", message)),
    cancel: () => undefined,
  };
}

class AppleSpeechTurn implements EngineTurn {
  readonly ended: Promise<void>;
  #text = "";
  #isTranscribed = false;
  #failure: EngineFailure | undefined;
  #watchdog: NodeJS.Timeout | undefined;
  #isFinishing = false;

  constructor(
    private readonly child: ChildProcess,
    private readonly file: TurnFile,
    private readonly options: TurnOptions,
    onEnd: () => void,
  ) {
    this.child.stdin?.on("error", () => undefined);
    const reader = new LineReader(
      MAX_LINE_BYTES,
      (text) => this.#heard(text),
      () => this.#fail("engine-failed", "The speech engine said what is no line of its protocol."),
    );
    this.child.stdout?.on("data", (bytes: Buffer) => reader.push(bytes));
    this.ended = new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(this.#watchdog);
        removeTurnFile(file);
        onEnd();
        resolve();
      };
      this.child.once("error", () => {
        if (this.child.pid !== undefined) return;
        this.#failure ??= new EngineFailure("engine-missing", "The speech engine could not be started.");
        end();
      });
      this.child.once("close", () => {
        if (!this.#isTranscribed)
          this.#failure ??= new EngineFailure("engine-failed", "The speech engine ended early.");
        end();
      });
    });
  }

  push(samples: Buffer): void {
    if (this.#failure !== undefined || this.child.exitCode !== null) return;
    try {
      for (let at = 0; at < samples.length;) at += writeSync(this.file.fd, samples, at);
    } catch (error) {
      if (errnoName(error) === undefined) throw error;
      this.#fail("engine-failed", "The sound could not be given to the speech engine.");
    }
  }

  async finish(): Promise<string> {
    this.#isFinishing = true;
    this.#watch();
    this.child.stdin?.end();
    await this.ended;
    if (this.#failure !== undefined) throw this.#failure;
    return this.#text.trim();
  }

  cancel(): void {
    this.#fail("engine-cancelled", "The recognition was ended.");
  }

  #heard(text: string): void {
    if (this.#isFinishing) this.#watch();
    const parsed = line.safeParse(parseJson(text));
    if (!parsed.success) return this.#fail("engine-failed", "The speech engine said what is no line of its protocol.");
    switch (parsed.data.type) {
      case "progress":
        return;
      case "partial":
        // Replaces the one before it, while what is shown of a turn only grows.
        return;
      case "final":
        return this.#add(parsed.data.text);
      case "transcribed":
        this.#isTranscribed = true;
        return;
      case "error":
        // The helper's own sentences hold no text of the recording.
        return this.#fail(`engine-${parsed.data.code}`, parsed.data.message);
    }
  }

  #add(text: string): void {
    const delta = needsSpace(this.#text, text) ? ` ${text}` : text;
    this.#text += delta;
    this.options.onPartial(delta);
  }

  #watch(): void {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => this.#fail("engine-hangs", "The speech engine did not answer."), HANG_MS);
  }

  #fail(code: string, message: string): void {
    this.#failure ??= new EngineFailure(code, message);
    this.child.kill("SIGKILL");
  }
}

/** Scripts that are written without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/** Pieces of a turn come with or without the space between them; never two words in one, never two spaces. */
function needsSpace(before: string, after: string): boolean {
  if (before === "" || after === "" || /\s$/u.test(before) || /^[\s\p{Pf}.,;:!?…。、]/u.test(after)) return false;
  return !UNSPACED.test(before.slice(-2)) || !UNSPACED.test(after.slice(0, 2));
}
