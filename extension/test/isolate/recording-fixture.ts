import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { z } from "zod";
import { ScriptedEngine, type Script } from "../../src/provider/server/engines/scripted";
import { startRealtimeServer, type RealtimeServer, type ServerHooks } from "../../src/provider/server/realtime-server";
import { Isolate, processesWith, type LaunchOptions } from "./isolate";

const root = path.join(__dirname, "../../..");
const DEADLINE_MS = 60_000;
export const BYTES_PER_SECOND = 48_000;
export const HEADER_BYTES = 44;

export const sample = path.join(root, "assets/sample.wav");
export const script: Script = JSON.parse(readFileSync(path.join(root, "assets/sample.transcript.json"), "utf8"));
export const words = script.turns.map((turn) => turn.text);

const messageRecord = z.object({ message: z.object({ content: z.object({ text: z.string().optional() }).array() }) });

/** A folder, a realtime server with a known transcript, and commands that record the sample in place of the microphone. */
export class RecordingBench {
  readonly folder = mkdtempSync(path.join(os.tmpdir(), "persyk-recording-"));
  readonly sessions = path.join(this.folder, "sessions");
  readonly support = path.join(this.folder, "support");
  #server: RealtimeServer | undefined;
  readonly #open = new Set<Isolate>();

  async start(options: { hooks?: ServerHooks; key?: string; script?: Script } = {}): Promise<void> {
    mkdirSync(this.sessions);
    mkdirSync(this.support);
    const { hooks, key } = options;
    this.#server = await startRealtimeServer({
      engine: new ScriptedEngine(options.script ?? script),
      ...(hooks === undefined ? {} : { hooks }),
      ...(key === undefined ? {} : { key }),
    });
  }

  get server(): RealtimeServer {
    if (this.#server === undefined) throw new Error("The server was not started.");
    return this.#server;
  }

  preferences(more: Record<string, unknown> = {}): Record<string, unknown> {
    return {
      sessionsDirectory: this.sessions,
      provider: "compatible",
      endpoint: this.server.url,
      authStyle: "none",
      ...more,
    };
  }

  /** A command in a worker of its own, that captures the sample at the given pace. */
  isolate(options: Partial<LaunchOptions> & { pace?: number; source?: string } = {}): Isolate {
    const { pace = 1, source = sample, preferences, env, ...rest } = options;
    const isolate = new Isolate({
      supportPath: this.support,
      preferences: this.preferences(preferences),
      localStorage: { welcomed: "yes" },
      ...rest,
      env: {
        PERSYK_AUDIO_SOURCE: source,
        PERSYK_AUDIO_PACE: String(pace),
        PERSYK_NODE: process.execPath,
        PERSYK_LOCK_DIRECTORY: path.join(this.folder, "locks"),
        ...env,
      },
    });
    this.#open.add(isolate);
    return isolate;
  }

  /** The records of the only session. */
  records(): Record<string, unknown>[] {
    const [session] = this.locations();
    if (session === undefined) throw new Error("There is no session.");
    const log = path.join(session, "session.jsonl");
    // The folder of a session is there before its log, and a line that is being written has no end yet.
    const lines = existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(0, -1) : [];
    return lines.map((line) => JSON.parse(line));
  }

  locations(): string[] {
    return readdirSync(this.sessions)
      .filter((name) => !name.startsWith("."))
      .map((name) => path.join(this.sessions, name));
  }

  /** The WAV files of the only session, or of another. */
  wavPaths(session = this.locations()[0]): string[] {
    const assets = path.join(session ?? this.sessions, "assets");
    if (!existsSync(assets)) return [];
    return readdirSync(assets)
      .filter((name) => name.endsWith(".wav"))
      .map((name) => path.join(assets, name));
  }

  wavPath(): string {
    const [wav] = this.wavPaths();
    if (wav === undefined) throw new Error("There is no recording.");
    return wav;
  }

  wavBytes(): number {
    const [wav] = this.wavPaths();
    return wav === undefined ? 0 : statSync(wav).size;
  }

  /** How much sound is in it. */
  soundBytes(): number {
    return Math.max(0, this.wavBytes() - HEADER_BYTES);
  }

  /** The text of every message of the only session, in their order. */
  said(): string[] {
    const messages = messageRecord.array().parse(this.records().filter(({ type }) => type === "message"));
    return messages.map(({ message: { content } }) => content.map(({ text = "" }) => text).join(""));
  }

  /** Processes that belong to a recording of this bench. */
  processes(): ReturnType<typeof processesWith> {
    return processesWith(this.folder).filter(({ zombie }) => !zombie);
  }

  /** Processes that capture for it: its hosts have started them, and the name of its folder is not in their arguments. */
  captures(): ReturnType<typeof processesWith> {
    const hosts = new Set(this.processes().map(({ pid }) => pid));
    const found = processesWith("capture-stand-in").filter(({ parent }) => hosts.has(parent));
    if (found.length === 0) throw new Error("Nothing is being captured.");
    return found;
  }

  async stop(): Promise<void> {
    for (const isolate of this.#open) await isolate.closeWindow();
    await until("no process of the recording is left", () => this.processes().length === 0);
    await this.#server?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`Waited in vain until ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
