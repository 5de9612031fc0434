/** A capture helper under test: any program that speaks `capture/1`, driven by hand and watched line by line. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type CaptureEvent, type CaptureEventOf, encodeLine, parseEventLine } from "../../src/capture/protocol";

export const DATA_OFFSET = 44;
export const BYTES_PER_MS = 48;
/** How long anything may take on a loaded machine; no test measures time. */
const PATIENCE_MS = 60_000;

export interface HelperTarget {
  name: string;
  command: readonly [string, ...string[]];
}

/** The Node stand-in, bundled as it ships beside the host. */
export function standInTarget(folder: string): HelperTarget {
  const project = path.resolve(__dirname, "../../..");
  const outfile = path.join(folder, "stand-in.cjs");
  const built = spawnSync(
    path.join(project, "node_modules/.bin/esbuild"),
    [
      path.join(project, "extension/src/capture/stand-in.ts"),
      "--bundle",
      "--platform=node",
      "--target=node22",
      `--outfile=${outfile}`,
      "--log-level=error",
    ],
    { encoding: "utf8" },
  );
  if (built.status !== 0) throw new Error(`the stand-in could not be bundled: ${built.stderr}`);
  return { name: "stand-in", command: [process.execPath, outfile] };
}

export function temporaryFolder(): string {
  return mkdtempSync(path.join(tmpdir(), "persyk-conformance-"));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** PCM16 samples in a WAV of one format; `samples` are interleaved. */
export function writeWav(file: string, samples: Int16Array, rate = 24_000, channels = 1): void {
  const header = Buffer.alloc(DATA_OFFSET);
  const bytes = samples.length * 2;
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(36 + bytes, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * channels * 2, 28);
  header.writeUInt16LE(channels * 2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(bytes, 40);
  writeFileSync(file, Buffer.concat([header, Buffer.from(samples.buffer, samples.byteOffset, bytes)]));
}

/** Sound in which no two stretches are alike, so that a misplaced byte shows. */
export function noisySamples(ms: number, rate = 24_000): Int16Array {
  const samples = new Int16Array(Math.round((ms * rate) / 1_000));
  let state = 12_345;
  for (let index = 0; index < samples.length; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    samples[index] = (state >> 18) + 1;
  }
  return samples;
}

/** Data size that the header of a canonical WAV claims; RIFF and data size must agree. */
export function claimedBytes(file: string): number {
  const bytes = readFileSync(file);
  expect(bytes.toString("latin1", 0, 4)).toBe("RIFF");
  expect(bytes.toString("latin1", 36, 40)).toBe("data");
  const data = bytes.readUInt32LE(40);
  expect(bytes.readUInt32LE(4)).toBe(data + 36);
  return data;
}

/** Takes `flock` on a file with a language that every Mac and Linux machine has; then does what `then` says. */
function locker(then: string): string {
  return `use Fcntl ":flock"; open(my $f, "+<", $ARGV[0]) or exit 2; flock($f, LOCK_EX | LOCK_NB) or exit 1; ${then}`;
}

/** Whether anybody holds the capture lock (`flock`) on a file. */
export function isLocked(file: string): boolean {
  const { status } = spawnSync("perl", ["-e", locker("exit 0"), file]);
  if (status !== 0 && status !== 1) throw new Error(`the lock could not be looked at: ${String(status)}`);
  return status === 1;
}

/** Another process that holds the lock until its standard input ends. */
export function holdLock(file: string): ChildProcess {
  return spawn("perl", ["-e", locker("<STDIN>"), file], { stdio: ["pipe", "ignore", "ignore"] });
}

export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export class HelperProcess {
  readonly events: CaptureEvent[] = [];
  readonly oddities: string[] = [];
  readonly child: ChildProcess;
  exit: { code: number | null; signal: NodeJS.Signals | null } | undefined;
  #rest = "";

  /** Starts `capture` with the asset on descriptor 3; the own copy is closed at once, as a host does. */
  constructor(
    target: HelperTarget,
    readonly asset: string,
    args: readonly string[],
    options: { flags?: string; subcommand?: string } = {},
  ) {
    const [program, ...before] = target.command;
    const descriptor = openSync(asset, options.flags ?? "wx+", 0o600);
    this.child = spawn(program, [...before, options.subcommand ?? "capture", ...args], {
      stdio: ["pipe", "pipe", "pipe", descriptor],
    });
    closeSync(descriptor);
    this.child.stdin?.on("error", () => undefined);
    this.child.stdout?.on("data", (bytes: Buffer) => this.#read(bytes));
    this.child.stderr?.resume();
    this.child.on("exit", (code, signal) => (this.exit = { code, signal }));
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error("the helper was not started");
    return this.child.pid;
  }

  send(command: object): void {
    this.child.stdin?.write(encodeLine(command));
  }

  sendText(text: string): void {
    this.child.stdin?.write(text);
  }

  endInput(): void {
    this.child.stdin?.end();
  }

  all<Type extends CaptureEvent["type"]>(type: Type): CaptureEventOf<Type>[] {
    return this.events.filter((event): event is CaptureEventOf<Type> => event.type === type);
  }

  /** The first event of a type, waited for. */
  async first<Type extends CaptureEvent["type"]>(type: Type): Promise<CaptureEventOf<Type>> {
    await until(() => this.all(type).length > 0 || this.exit !== undefined, `event ${type}`);
    await until(() => this.all(type).length > 0, `event ${type}`);
    const [event] = this.all(type);
    if (event === undefined) throw new Error(`no ${type}`);
    return event;
  }

  async result(id: string): Promise<CaptureEventOf<"result">> {
    await until(() => this.all("result").some((event) => event.id === id), `result of ${id}`);
    const found = this.all("result").find((event) => event.id === id);
    if (found === undefined) throw new Error(`no result of ${id}`);
    return found;
  }

  async exited(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    await until(() => this.exit !== undefined, "the exit");
    // What the pipe still holds arrives with its end.
    await until(
      () => this.child.stdout?.readableEnded !== false || this.child.stdout.destroyed,
      "the end of the events",
    );
    if (this.exit === undefined) throw new Error("no exit");
    return this.exit;
  }

  get announcedBytes(): number {
    return this.all("chunk").reduce((sum, chunk) => sum + chunk.bytes, 0);
  }

  #read(bytes: Buffer): void {
    const lines = (this.#rest + bytes.toString("utf8")).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const parsed = parseEventLine(line);
      if (parsed.kind === "event") this.events.push(parsed.event);
      else this.oddities.push(parsed.kind === "unknown" ? parsed.type : parsed.detail);
    }
  }
}

/** What holds for every capture that ended with `finished`, whatever happened in it. */
export function expectWholeBooks(helper: HelperProcess): CaptureEventOf<"finished"> {
  expect(helper.oddities).toEqual([]);
  expect(helper.events.map((event) => event.seq)).toEqual(helper.events.map((_, index) => index + 1));
  let lastT = 0;
  let next = DATA_OFFSET;
  for (const event of helper.events) {
    expect(event.t).toBeGreaterThanOrEqual(lastT);
    lastT = event.t;
    if (event.type === "chunk") {
      expect(event.offset).toBe(next);
      next += event.bytes;
    }
    if (event.type === "gap") expect(event.atOffset).toBe(next);
    if (event.type === "synced") expect(event.dataBytes).toBeLessThanOrEqual(next - DATA_OFFSET);
  }
  expect(helper.events[0]?.type).toBe("ready");
  const finished = helper.events.at(-1);
  if (finished?.type !== "finished") throw new Error(`the last event is ${String(finished?.type)}`);
  expect(helper.all("finishing").length).toBe(1);
  expect(finished.dataBytes).toBe(next - DATA_OFFSET);
  expect(finished.frames * 2).toBe(finished.dataBytes);
  expect(Math.abs(finished.durationMs - finished.frames / 24)).toBeLessThanOrEqual(1);
  expect(claimedBytes(helper.asset)).toBe(finished.dataBytes);
  expect(readFileSync(helper.asset).length).toBe(DATA_OFFSET + finished.dataBytes);
  return finished;
}
