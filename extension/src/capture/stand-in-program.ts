/**
 * A stand-in for the capture helper that needs no native code: it speaks `capture/1`, writes and locks the WAV on
 * descriptor 3, and plays an existing WAV instead of a microphone.
 *
 *   capture-stand-in capture --source file --input FILE.wav [--pace N] [--then silence]
 *   capture-stand-in capture --source silence
 *
 * `--pace` is how many seconds of sound one second brings, 0 as many as can be written. A file that ends ends the capture, or is followed by digital
 * silence with `--then silence`.
 */
import { parseArgs } from "node:util";
import { type z } from "zod";
import { errnoName } from "./errno";
import { lockDescriptor } from "./descriptor-lock";
import { LineReader } from "./lines";
import { PcmSource, UnreadableWav } from "./pcm-source";
import {
  BYTES_PER_MS,
  CAPTURE_PROTOCOL_VERSION,
  commandSchema,
  DATA_OFFSET,
  encodeLine,
  MAX_LINE_BYTES,
  SAMPLE_RATE,
} from "./protocol";
import { levelOf, SilenceWatch } from "./sound-level";
import { WavFile } from "./wav-file";

const ASSET_FD = 3;
const LEVEL_INTERVAL_MS = 100;
/** A timer never comes earlier than this; several chunks are written at once at high paces. */
const TICK_MS = 5;

interface Configuration {
  chunkMs: number;
  syncMs: number;
  tailMs: number;
  maxDurationMs: number;
}

class StandIn {
  readonly #wav = new WavFile(ASSET_FD);
  readonly #bornAt = performance.now();
  #sequence = 0;
  #configuration: Configuration = { chunkMs: 100, syncMs: 1_000, tailMs: 250, maxDurationMs: Infinity };
  #state: "ready" | "capturing" | "finished" = "ready";
  #startedAt = 0;
  #lastSyncAt = 0;
  #lastLevelAt = -Infinity;
  readonly #silence = new SilenceWatch();
  #stop: { reason: string; atBytes: number } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #busy = false;

  constructor(
    private readonly source: PcmSource | undefined,
    private readonly pace: number,
    private readonly thenSilence: boolean,
    private readonly name: string,
  ) {}

  async open(): Promise<number> {
    if (!this.#wav.isPristine()) return 66;
    const lock = await lockDescriptor(ASSET_FD);
    if (lock !== "locked") {
      this.#error(lock === "busy" ? "asset-locked" : "internal", "the file could not be locked");
      return lock === "busy" ? 75 : 70;
    }
    this.#wav.checkpoint();
    this.#emit("ready", {
      helper: "stand-in",
      os: process.platform,
      arch: process.arch,
      pid: process.pid,
      permission: "granted",
      device: this.#device(),
      format: { encoding: "pcm_s16le", rate: SAMPLE_RATE, channels: 1 },
      dataOffset: DATA_OFFSET,
    });
    return 0;
  }

  command(line: string): void {
    const parsed = parseCommand(line);
    if (parsed === undefined) {
      this.#emit("error", { code: "bad-command", fatal: false, message: "unknown command" });
      return;
    }
    if (parsed.type === "configure") {
      const { chunkMs, syncMs, tailMs, maxDurationMs } = parsed;
      this.#configuration = { chunkMs, syncMs, tailMs, maxDurationMs: maxDurationMs ?? Infinity };
    }
    if (parsed.type === "start") return this.#start();
    if (parsed.type === "stop") return this.#requestStop("stop", parsed.tailMs ?? this.#configuration.tailMs);
    this.#emit("result", { id: parsed.id, ok: parsed.type !== "setDevice" || parsed.deviceUid === null });
  }

  /** Standard input ended, or a signal came: whoever started this is gone, so the file is finished at once. */
  abandon(reason: "parent-exit" | "signal"): void {
    if (this.#state === "capturing") this.#requestStop(reason, 0);
    else if (this.#state === "ready") this.#finish(reason);
  }

  #start(): void {
    if (this.#state !== "ready") return;
    this.#state = "capturing";
    this.#startedAt = performance.now();
    this.#lastSyncAt = this.#startedAt;
    this.#schedule();
  }

  #requestStop(reason: string, tailMs: number): void {
    if (this.#state !== "capturing") return this.#finish(reason);
    const again = this.#stop !== undefined;
    if (!again) this.#emit("finishing", { reason });
    this.#stop = { reason, atBytes: again ? this.#wav.dataBytes : this.#wav.dataBytes + tailMs * BYTES_PER_MS };
    this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#state !== "capturing") return;
    this.#timer = setTimeout(() => void this.#tick(), this.#wav.dataBytes === 0 ? 0 : TICK_MS);
  }

  async #tick(): Promise<void> {
    if (this.#busy || this.#state !== "capturing") return;
    this.#busy = true;
    try {
      await this.#capture();
    } catch (error) {
      if (errnoName(error) === undefined) throw error;
      const code = errnoName(error) === "ENOSPC" ? "disk-full" : "write-failed";
      this.#error(code === "disk-full" ? code : "asset-write-failed", "the samples could not be written");
      this.#finish(code, 74);
    } finally {
      this.#busy = false;
      this.#schedule();
    }
  }

  async #capture(): Promise<void> {
    const now = performance.now();
    const chunkBytes = this.#configuration.chunkMs * BYTES_PER_MS;
    const limit = Math.min(this.#stop?.atBytes ?? Infinity, this.#configuration.maxDurationMs * BYTES_PER_MS);
    // The first chunk comes at once, so that "started" means a real buffer and not a promise of one.
    const played = this.pace === 0 ? Infinity : Math.floor((now - this.#startedAt) * BYTES_PER_MS * this.pace);
    const due = played + chunkBytes;
    while (this.#wav.dataBytes < limit && this.#wav.dataBytes + chunkBytes <= due) {
      const wanted = Math.min(chunkBytes, limit - this.#wav.dataBytes);
      const samples = await this.#read(wanted - (wanted % 2));
      if (samples.length === 0) return this.#finish("stop");
      this.#write(samples);
      if (this.#stop?.atBytes === this.#wav.dataBytes) break;
      if (performance.now() - now > 50) break;
    }
    if (now - this.#lastSyncAt >= this.#configuration.syncMs) {
      this.#lastSyncAt = now;
      this.#sync();
    }
    if (this.#wav.dataBytes >= limit) this.#finish(this.#stop?.reason ?? "max-duration");
  }

  async #read(bytes: number): Promise<Buffer> {
    const samples = this.source === undefined ? Buffer.alloc(0) : await this.source.next(bytes);
    if (samples.length === bytes || !this.thenSilence) return samples;
    return Buffer.concat([samples, Buffer.alloc(bytes - samples.length)]);
  }

  #write(samples: Buffer): void {
    const offset = DATA_OFFSET + this.#wav.dataBytes;
    const captureMs = this.#wav.dataBytes / BYTES_PER_MS;
    if (this.#wav.dataBytes === 0) {
      this.#emit("started", { wallTime: new Date().toISOString(), offset: DATA_OFFSET, device: this.#device() });
    }
    this.#wav.append(samples);
    this.#emit("chunk", { offset, bytes: samples.length, captureMs });
    this.#level(samples);
  }

  #level(samples: Buffer): void {
    const level = levelOf(samples);
    if (this.#silence.add(level.zero, samples.length)) {
      this.#emit("warning", { code: "silent-input", atOffset: DATA_OFFSET + this.#wav.dataBytes });
    }
    const now = performance.now();
    if (now - this.#lastLevelAt < LEVEL_INTERVAL_MS) return;
    this.#lastLevelAt = now;
    this.#emit("level", level);
  }

  #sync(): void {
    this.#wav.checkpoint();
    this.#emit("synced", { dataBytes: this.#wav.dataBytes });
  }

  #finish(reason: string, exitCode = 0): void {
    if (this.#state === "finished") return;
    if (this.#state === "ready" || this.#stop === undefined) this.#emit("finishing", { reason });
    this.#state = "finished";
    clearTimeout(this.#timer);
    try {
      this.#sync();
    } catch (error) {
      if (errnoName(error) === undefined) throw error;
      exitCode = 74;
    }
    const { dataBytes } = this.#wav;
    this.#emit("finished", {
      reason,
      dataBytes,
      frames: dataBytes / 2,
      durationMs: Math.round(dataBytes / BYTES_PER_MS),
      gaps: 0,
      overrunFrames: 0,
    });
    process.exitCode = exitCode;
    // Whatever is still buffered for a reader is written before the process ends; without a reader it ends too.
    process.stdout.write("", () => process.exit());
  }

  #device(): object {
    return { uid: `file:${this.name}`, name: this.name, transport: "file", rate: SAMPLE_RATE, channels: 1 };
  }

  #error(code: string, message: string): void {
    this.#emit("error", { code, fatal: true, message });
  }

  #emit(type: string, fields: object): void {
    this.#sequence += 1;
    const t = Math.round(performance.now() - this.#bornAt);
    if (!process.stdout.destroyed) {
      process.stdout.write(encodeLine({ v: CAPTURE_PROTOCOL_VERSION, type, seq: this.#sequence, t, ...fields }));
    }
  }
}

function parseCommand(line: string): z.infer<typeof commandSchema> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const parsed = commandSchema.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

/** Runs the stand-in on this process's own descriptors. */
export async function runStandIn(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      source: { type: "string", default: "file" },
      input: { type: "string" },
      pace: { type: "string", default: "1" },
      then: { type: "string", default: "end" },
      name: { type: "string", default: "Recording from a file" },
    },
  });
  const pace = Number(values.pace);
  const isFile = values.source === "file";
  const usable =
    positionals[0] === "capture" && pace >= 0 && (isFile ? values.input !== undefined : values.source === "silence");
  if (!usable) return exit(64, "usage: capture-stand-in capture --source file --input FILE.wav [--pace N]");
  let source: PcmSource | undefined;
  try {
    source = isFile ? await PcmSource.open(values.input ?? "") : undefined;
  } catch (error) {
    if (!(error instanceof UnreadableWav) && errnoName(error) === undefined) throw error;
    return exit(69, error instanceof UnreadableWav ? error.message : "The recording could not be opened.");
  }
  process.stdout.on("error", () => process.stdout.destroy());
  const standIn = new StandIn(source, pace, !isFile || values.then === "silence", values.name);
  const status = await standIn.open();
  if (status !== 0) return exit(status, "the descriptor 3 is not a new file of its own");
  const reader = new LineReader(
    MAX_LINE_BYTES,
    (line) => standIn.command(line),
    () => standIn.command("{}"),
  );
  process.stdin.on("data", (bytes: Buffer) => reader.push(bytes));
  process.stdin.on("end", () => standIn.abandon("parent-exit"));
  process.stdin.on("error", () => standIn.abandon("parent-exit"));
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => standIn.abandon("signal"));
}

function exit(code: number, message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = code;
}
