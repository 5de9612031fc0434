import path from "node:path";
import { Readable } from "node:stream";
import { type Command } from "commander";
import type { Colors } from "picocolors/types";
import { StoreError, toErrorDocument } from "../errors";
import { Library } from "../library/library";
import { resolveRoots } from "../library/roots";
import { type Appender } from "../session/mutate";
import { type Session } from "../session/session";
import { type StoreContext } from "../session/store-context";
import { exitCodeOf, type ExitCode } from "./exit-codes";
import { createProgress, type Progress } from "./output/progress";
import { createStyle } from "./output/style";

/** Where text goes: a terminal, a pipe, or a test's buffer. */
export interface Output {
  write(text: string): unknown;
  isTTY?: boolean | undefined;
  columns?: number | undefined;
}

/** Everything that a command touches of its process, so that tests can run it in theirs. */
export interface CliIo {
  stdin: AsyncIterable<Uint8Array | string>;
  stdout: Output;
  stderr: Output;
  env: Readonly<Record<string, string | undefined>>;
  /** Absolute; relative arguments are resolved against it. */
  cwd: string;
  /** Aborts at Ctrl-C. Long work takes it and leaves nothing half done. */
  signal: AbortSignal;
  /** Clock, ids, locks and files; the real ones when absent. */
  store?: StoreContext;
}

/** The option that commands which look sessions up share: `--root DIR`, repeatable. */
export interface RootOptions {
  root?: string[];
}

/**
 * What a command gets: its streams, one way to print a result (text for people, one JSON document on one line with
 * `--json`), and the library that its roots name. A command is done (0) unless it says otherwise in `exitCode` or
 * throws.
 */
export class CliContext {
  readonly io: CliIo;
  /** Colours, all of them off unless standard output is a terminal. */
  readonly style: Colors;
  /** `--json` was given. */
  json = false;
  exitCode: ExitCode = 0;
  /** What a cancelled command has done, in one sentence. Commands that write in several steps keep it up to date. */
  ifCancelled = "Nothing was changed.";

  constructor(io: CliIo) {
    this.io = io;
    this.style = createStyle(io);
  }

  get signal(): AbortSignal {
    return this.io.signal;
  }

  /** Standard output is a terminal that a person reads. */
  get isTty(): boolean {
    return this.io.stdout.isTTY === true;
  }

  /** Columns of the terminal; 100 where there is none. */
  get columns(): number {
    const { columns } = this.io.stdout;
    return this.isTty && columns !== undefined && columns > 0 ? columns : 100;
  }

  /** Prints the result of a command: the document with `--json`, else the text for people (without its last LF). */
  result(document: unknown, text: () => string): void {
    this.io.stdout.write(`${this.json ? JSON.stringify(document) : text()}\n`);
  }

  /** Prints text to standard output exactly as it is. */
  write(text: string): void {
    this.io.stdout.write(text);
  }

  /** One line beside the result, on standard error. */
  note(line: string): void {
    this.io.stderr.write(`${line}\n`);
  }

  /** A warning beside the result; silent with `--json`, whose document carries the diagnostics itself. */
  warn(line: string): void {
    if (!this.json) this.note(`${this.style.yellow("warning:")} ${line}`);
  }

  /** A progress bar on standard error for work that can exceed a second; nothing where no person watches. */
  progress(label: string, unit: "bytes" | "sessions" | "records" = "bytes"): Progress {
    return createProgress(this.io, label, unit, this.json);
  }

  /** The library of the given roots, or of the configured ones. */
  library(options: RootOptions = {}): Library {
    const { store } = this.io;
    return new Library({
      ...resolveRoots(this.io.env, this.io.cwd, options.root ?? []),
      ...(store === undefined ? {} : { ctx: store }),
    });
  }

  /** The location of SESSION, which is a location or a unique session id. */
  locate(reference: string, options: RootOptions = {}): Promise<string> {
    return this.library(options).locate(this.reference(reference), { signal: this.signal });
  }

  /** What adds single entries to a session and stops waiting for its lock when the command is cancelled. */
  appender(session: Session): Appender {
    return { append: (entries, options) => session.append(entries, { ...options, signal: this.signal }) };
  }

  /** Opens SESSION, hands it to the body and closes it whatever happens. */
  async withSession<T>(reference: string, options: RootOptions, body: (session: Session) => Promise<T>): Promise<T> {
    const location = await this.locate(reference, options);
    const progress = this.progress("reading");
    const session = await this.library(options)
      .open(location, { signal: this.signal, onProgress: ({ bytes, size }) => progress.update(bytes, size) })
      .finally(progress.stop);
    try {
      return await body(session);
    } finally {
      await session.close();
    }
  }

  /** A path argument made absolute. */
  resolve(argument: string): string {
    return path.resolve(this.io.cwd, argument);
  }

  /** A location argument made absolute; an id stays as it is. */
  private reference(argument: string): string {
    return argument.includes("/") || argument.includes(path.sep) || argument === "." || argument === ".."
      ? this.resolve(argument)
      : argument;
  }

  /** Reads all of standard input, at most `maxBytes`. */
  async readStdin(maxBytes: number): Promise<Buffer> {
    const { stdin } = this.io;
    const chunks: Buffer[] = [];
    let size = 0;
    // Nothing may ever come: a terminal, or a pipe that stays open.
    const stop = (): void => void (stdin instanceof Readable && stdin.destroy());
    this.signal.addEventListener("abort", stop, { once: true });
    try {
      for await (const chunk of stdin) {
        this.signal.throwIfAborted();
        const bytes = typeof chunk === "string" ? Buffer.from(chunk, "utf8") : Buffer.from(chunk);
        size += bytes.length;
        if (size > maxBytes)
          throw new StoreError("usage", { message: `Standard input holds more than ${maxBytes} bytes.` });
        chunks.push(bytes);
      }
    } catch (error) {
      // What was destroyed in the middle is reported as closed too early.
      this.signal.throwIfAborted();
      throw error;
    } finally {
      this.signal.removeEventListener("abort", stop);
    }
    this.signal.throwIfAborted();
    return Buffer.concat(chunks);
  }

  /** The failure comes from the cancellation, in its own form or as the cause of another. */
  private isCancellation(error: unknown): boolean {
    if (!this.signal.aborted) return false;
    return error === this.signal.reason || (error instanceof Error && this.isCancellation(error.cause));
  }

  /** Prints a failure and sets the exit code that belongs to it. */
  fail(error: unknown): void {
    const failure = this.isCancellation(error)
      ? new StoreError("aborted", { message: `The work was cancelled. ${this.ifCancelled}` })
      : error;
    const document = toErrorDocument(failure);
    if (this.json) this.io.stdout.write(`${JSON.stringify({ error: document })}\n`);
    const place = document.line === undefined ? "" : ` (line ${document.line})`;
    const where = document.location === undefined ? "" : ` ${this.style.dim(document.location)}`;
    const remedy = document.remedy === undefined ? "" : ` ${document.remedy}`;
    this.note(`${this.style.red("error:")} ${oneLine(document.message)}${place}${where}${remedy} [${document.code}]`);
    this.exitCode = exitCodeOf(failure);
  }
}

/** A command module: adds its command to the program. One command (or command group) a file. */
export type Register = (program: Command, cli: CliContext) => void;

function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, " ");
}
