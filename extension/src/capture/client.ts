/**
 * The client of one capture helper: it starts the process, hands it the asset on descriptor 3, checks every line it
 * says, holds it to its deadlines, and ends it by a ladder of growing force. Every wait ends.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { errnoName, errnoNumber } from "./errno";
import { LineReader } from "./lines";
import {
  type CaptureCommand,
  type CaptureDevice,
  type CaptureEvent,
  type CaptureEventOf,
  type CapturePermission,
  encodeLine,
  exitMeanings,
  MAX_LINE_BYTES,
  parseEventLine,
} from "./protocol";

export interface CaptureDeadlines {
  readyMs: number;
  /** From the start, or from the user's permission, to the first buffer. */
  startMs: number;
  /** The same for a Bluetooth device, and for a device that the helper has not described. */
  slowStartMs: number;
  /** For the user to answer the question for the microphone. */
  permissionMs: number;
  /** After `stop`, beyond the tail. */
  finishMs: number;
  /** Between closing standard input, SIGTERM and SIGKILL. */
  rungMs: number;
}

export const captureDeadlines: CaptureDeadlines = {
  readyMs: 2_000,
  startMs: 5_000,
  slowStartMs: 10_000,
  // The helper gives up by itself after 120 s, and knows the reason better.
  permissionMs: 125_000,
  finishMs: 3_000,
  rungMs: 2_000,
};

export interface CaptureLaunch {
  /** The program and its arguments. */
  command: readonly [string, ...string[]];
  /** Descriptor of the new asset; the caller closes its own copy when `launch` has returned. */
  assetFd: number;
  env?: NodeJS.ProcessEnv;
  deadlines?: Partial<CaptureDeadlines>;
  onEvent(event: CaptureEvent): void;
  /** Lines that are not events of this version; never the text itself. */
  onOddity?(detail: string): void;
  /** Starts a process; Node's own when absent. */
  startProcess?: typeof spawn;
}

/** How the helper ended. Everything but `finished` leaves an interrupted recording behind. */
export type CaptureEnd =
  | { kind: "finished"; event: CaptureEventOf<"finished">; exitCode: number | null }
  | { kind: "died"; exitCode: number | null; signal: NodeJS.Signals | null; failure: CaptureFailure };

/** A failure of the capture: a stable code, what happened and what to do about it. */
export class CaptureFailure extends Error {
  override readonly name = "CaptureFailure";
  constructor(
    readonly code: string,
    message: string,
    readonly remedy: string,
  ) {
    super(message);
  }
}

const RECORD_AGAIN = "What was captured so far is kept. Record again.";
/** Kept of the helper's diagnostics, for a failure report. */
const MAX_DIAGNOSTIC_CHARS = 4_096;

export class CaptureClient {
  readonly ended: Promise<CaptureEnd>;
  readonly #child: ChildProcess;
  readonly #deadlines: CaptureDeadlines;
  readonly #waiters = new Set<(event: CaptureEvent) => void>();
  #sequence = 0;
  #permission: CapturePermission | undefined;
  #device: CaptureDevice | undefined;
  /** The device that was asked for; null follows the system. */
  #deviceUid: string | null = null;
  #commandCount = 0;
  #finished: CaptureEventOf<"finished"> | undefined;
  #lastFatal: CaptureEventOf<"error"> | undefined;
  #stopping: Promise<CaptureEnd> | undefined;
  #isOver = false;

  private constructor(
    child: ChildProcess,
    private readonly launched: CaptureLaunch,
  ) {
    this.#child = child;
    this.#deadlines = { ...captureDeadlines, ...launched.deadlines };
    const reader = new LineReader(
      MAX_LINE_BYTES,
      (line) => this.#line(line),
      () => launched.onOddity?.("a line over the limit"),
    );
    child.stdout?.on("data", (bytes: Buffer) => reader.push(bytes));
    // Commands to a helper that is gone: its end says all that is to be said.
    child.stdin?.on("error", () => undefined);
    let diagnostics = 0;
    child.stderr?.on("data", (bytes: Buffer) => {
      if (diagnostics < MAX_DIAGNOSTIC_CHARS) launched.onOddity?.("the helper wrote diagnostics");
      diagnostics += bytes.length;
    });
    this.ended = new Promise((resolve) => {
      const over = (end: CaptureEnd): void => {
        this.#isOver = true;
        resolve(end);
      };
      child.once("error", (error) =>
        over({ kind: "died", exitCode: null, signal: null, failure: spawnFailure(error) }),
      );
      child.once("close", (exitCode, signal) => over(this.#end(exitCode, signal)));
    });
  }

  /** Starts the helper, or throws a CaptureFailure. The asset's lock lives and dies with it, so the caller closes its copy right away. */
  static launch(launch: CaptureLaunch): CaptureClient {
    return new CaptureClient(spawnHelper(launch), launch);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The lock is held and the header is durable. */
  async ready(): Promise<CaptureEventOf<"ready">> {
    const ready = this.#next("ready");
    try {
      return await this.#inTime(ready.event, this.#deadlines.readyMs, "ready", "The capture helper did not get ready.");
    } finally {
      ready.drop();
    }
  }

  configure(options: Omit<Extract<CaptureCommand, { type: "configure" }>, "type" | "id">): void {
    this.#deviceUid = options.deviceUid;
    this.#send({ type: "configure", id: this.#nextId(), ...options });
  }

  /**
   * Starts the capture; resolves at the first real buffer. While the user is being asked for the microphone, the time
   * for that buffer does not run.
   */
  async start(): Promise<CaptureEventOf<"started">> {
    const started = this.#next("started");
    const answered = this.#next("permission");
    const { permissionMs, startMs, slowStartMs } = this.#deadlines;
    try {
      const isAsked = this.#permission === "undetermined";
      this.#send({ type: "start", id: this.#nextId() });
      if (isAsked) {
        const either = Promise.race([started.event, answered.event]);
        await this.#inTime(either, permissionMs, "permission", "The question for the microphone was not answered.");
      }
      const deadlineMs = this.#isSlowDevice() ? slowStartMs : startMs;
      return await this.#inTime(started.event, deadlineMs, "started", "No sound arrived from the input device.");
    } finally {
      started.drop();
      answered.drop();
    }
  }

  #isSlowDevice(): boolean {
    const described = this.#device;
    if (this.#deviceUid !== null && described?.uid !== this.#deviceUid) return true;
    return described?.transport?.startsWith("bluetooth") === true;
  }

  setDevice(deviceUid: string | null): void {
    this.#send({ type: "setDevice", id: this.#nextId(), deviceUid });
  }

  /** Stops by the ladder: `stop`, then the end of standard input, then SIGTERM, then SIGKILL. Always resolves. */
  stop(tailMs = 250): Promise<CaptureEnd> {
    this.#stopping ??= this.#descend(tailMs);
    return this.#stopping;
  }

  /** Ends the helper without a tail. */
  abandon(): Promise<CaptureEnd> {
    this.#child.stdin?.end();
    this.#stopping ??= this.#descend(0);
    return this.#stopping;
  }

  async #descend(tailMs: number): Promise<CaptureEnd> {
    this.#send({ type: "stop", id: this.#nextId(), tailMs });
    const rungs: [number, () => void][] = [
      [tailMs + this.#deadlines.finishMs, () => this.#child.stdin?.end()],
      [this.#deadlines.rungMs, () => this.#child.kill("SIGTERM")],
      [this.#deadlines.rungMs, () => this.#child.kill("SIGKILL")],
    ];
    for (const [waitMs, next] of rungs) {
      const end = await within(this.ended, waitMs);
      if (end !== undefined) return end;
      next();
    }
    return this.ended;
  }

  #line(line: string): void {
    const parsed = parseEventLine(line);
    if (parsed.kind !== "event") {
      this.launched.onOddity?.(parsed.kind === "unknown" ? `unknown event ${parsed.type}` : parsed.detail);
      return;
    }
    const { event } = parsed;
    if (event.seq !== this.#sequence + 1) this.launched.onOddity?.(`event ${event.seq} came after ${this.#sequence}`);
    this.#sequence = event.seq;
    if (event.type === "finished") {
      this.#finished = event;
      // Nothing is left to say to it; a helper that waits for the end of its input can go.
      this.#child.stdin?.end();
    }
    if (event.type === "error" && event.fatal) this.#lastFatal = event;
    if (event.type === "ready") this.#permission = event.permission;
    if (event.type === "permission") this.#permission = event.status;
    if ("device" in event) this.#device = event.device ?? undefined;
    for (const waiter of [...this.#waiters]) waiter(event);
    this.launched.onEvent(event);
  }

  /** The next event of a type. */
  #next<Type extends CaptureEvent["type"]>(type: Type): { event: Promise<CaptureEventOf<Type>>; drop(): void } {
    let drop = (): void => undefined;
    const event = new Promise<CaptureEventOf<Type>>((resolve) => {
      const waiter = (next: CaptureEvent): void => {
        if (isOfType(next, type)) resolve(next);
      };
      this.#waiters.add(waiter);
      drop = () => this.#waiters.delete(waiter);
    });
    return { event, drop };
  }

  /** The event, unless the deadline passes or the helper ends first. */
  async #inTime<Event extends CaptureEvent>(
    event: Promise<Event>,
    deadlineMs: number,
    what: string,
    late: string,
  ): Promise<Event> {
    const outcome = await within(Promise.race([event, this.ended]), deadlineMs);
    if (outcome === undefined) throw new CaptureFailure(`${what}-timeout`, late, RECORD_AGAIN);
    if ("kind" in outcome) throw outcome.kind === "died" ? outcome.failure : endedEarly();
    return outcome;
  }

  #send(command: CaptureCommand): void {
    if (!this.#isOver && this.#child.stdin?.writable === true) this.#child.stdin.write(encodeLine(command));
  }

  #nextId(): string {
    this.#commandCount += 1;
    return `c${this.#commandCount}`;
  }

  #end(exitCode: number | null, signal: NodeJS.Signals | null): CaptureEnd {
    if (this.#finished !== undefined) return { kind: "finished", event: this.#finished, exitCode };
    return { kind: "died", exitCode, signal, failure: this.#failure(exitCode, signal) };
  }

  #failure(exitCode: number | null, signal: NodeJS.Signals | null): CaptureFailure {
    const meaning = exitMeanings.get(exitCode ?? -1);
    if (meaning !== undefined) return new CaptureFailure(meaning.code, meaning.message, meaning.remedy);
    const how = signal === null ? "ended early" : `was ended by ${signal}`;
    const code = this.#lastFatal?.code ?? "helper-died";
    return new CaptureFailure(code, `The capture helper ${how}.`, RECORD_AGAIN);
  }
}

function isOfType<Type extends CaptureEvent["type"]>(event: CaptureEvent, type: Type): event is CaptureEventOf<Type> {
  return event.type === type;
}

function endedEarly(): CaptureFailure {
  return new CaptureFailure("ended-early", "The capture ended before it started.", RECORD_AGAIN);
}

function spawnHelper({ command, assetFd, env, startProcess = spawn }: CaptureLaunch): ChildProcess {
  const [program, ...args] = command;
  try {
    return startProcess(program, args, {
      stdio: ["pipe", "pipe", "pipe", assetFd],
      ...(env === undefined ? {} : { env }),
    });
  } catch (error) {
    // Node tells a few errors of a start by an event and throws all others, that of another processor among them.
    throw errnoName(error) === undefined ? error : spawnFailure(error);
  }
}

/** macOS's "bad CPU type in executable", which Node knows by number only. */
const BAD_CPU_TYPE = -86;

function spawnFailure(error: unknown): CaptureFailure {
  const code = errnoName(error);
  if (errnoNumber(error) === BAD_CPU_TYPE) {
    return new CaptureFailure(
      "wrong-cpu",
      "The capture helper is built for another processor.",
      "Reinstall the extension.",
    );
  }
  if (code === "EACCES") {
    return new CaptureFailure(
      "helper-not-executable",
      "The capture helper may not be run.",
      "Reinstall the extension.",
    );
  }
  return new CaptureFailure("helper-missing", "The capture helper could not be started.", "Reinstall the extension.");
}

/** The value, or undefined when it takes longer. Leaves no timer behind. */
async function within<T>(value: Promise<T>, deadlineMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), deadlineMs);
  });
  try {
    return await Promise.race([value, late]);
  } finally {
    clearTimeout(timer);
  }
}
