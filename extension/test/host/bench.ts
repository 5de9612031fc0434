/** What the tests of the recording share: the stand-in as a built program, the sample, a session folder of their own. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type Entry, openSession } from "@persyk/store";
import { ScriptedEngine, type Script } from "../../src/provider/server/engines/scripted";
import { runRecording, type RecordDeps, type RecordingResult } from "../../src/host/record";
import { type HostOptions, type HostState } from "../../src/host/state";
import { buildProgram } from "./build-program";

const project = path.join(__dirname, "../../..");
export const samplePath = path.join(project, "assets/sample.wav");
export const sampleBytes = readFileSync(samplePath).subarray(44);

function isScript(value: unknown): value is Script {
  return typeof value === "object" && value !== null && "turns" in value && Array.isArray(value.turns);
}
const transcript: unknown = JSON.parse(readFileSync(path.join(project, "assets/sample.transcript.json"), "utf8"));
if (!isScript(transcript)) throw new Error("the sample's transcript is not readable");
export const script: Script = transcript;
export const spoken = script.turns.map((turn) => turn.text);

/** A folder that is removed when the test file is done. */
export class Workbench {
  readonly folder = mkdtempSync(path.join(os.tmpdir(), "persyk-host-"));
  readonly root = path.join(this.folder, "sessions");
  readonly supportPath = path.join(this.folder, "support");

  constructor() {
    mkdirSync(this.root);
    mkdirSync(this.supportPath);
  }

  clear(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  options(changes: Partial<HostOptions> = {}): HostOptions {
    return {
      supportPath: this.supportPath,
      root: this.root,
      source: { kind: "file", path: samplePath, pace: 20 },
      provider: { kind: "on-device" },
      maxDurationMs: 600_000,
      ...changes,
    };
  }

  /** Every file below a folder. */
  files(folder = this.folder): string[] {
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((name) => path.join(folder, name))
      .filter((file) => statSync(file).isFile());
  }
}

let built: string | undefined;

/** Builds a program of the extension once a test file; returns its path. */
export function build(name: "host" | "capture-stand-in"): string {
  built ??= mkdtempSync(path.join(os.tmpdir(), "persyk-built-"));
  const outfile = path.join(built, `${name}.cjs`);
  const entry = name === "host" ? "src/host/main.ts" : "src/capture/stand-in.ts";
  buildProgram(project, entry, outfile);
  return outfile;
}

export function removeBuilt(): void {
  if (built !== undefined) rmSync(built, { recursive: true, force: true });
  built = undefined;
}

let player: readonly [string, ...string[]] | undefined;

/** What plays the sample: the capture helper where PERSYK_CAPTURE_HELPER names it, else the stand-in. */
function capturePlayer(): readonly [string, ...string[]] {
  const helper = process.env["PERSYK_CAPTURE_HELPER"];
  if (helper !== undefined && helper !== "") return [helper];
  return [process.execPath, build("capture-stand-in")];
}

export function deps(changes: Partial<RecordDeps> = {}): RecordDeps {
  player ??= capturePlayer();
  return {
    standIn: player,
    findEngine: async () => new ScriptedEngine(script),
    ...changes,
  };
}

export interface Finished {
  result: Extract<RecordingResult, { kind: "finished" }>;
  states: HostState[];
  entries: Entry[];
}

/** Runs a recording to its end and reads what is on disk. */
export async function record(options: HostOptions, changes: Partial<RecordDeps> = {}): Promise<Finished> {
  const states: HostState[] = [];
  const result = await runRecording(
    options,
    deps({
      ...changes,
      onState: (state) => {
        states.push(state);
        changes.onState?.(state);
      },
    }),
  );
  if (result.kind !== "finished") throw new Error("the recording was discarded");
  return { result, states, entries: await readEntries(result.session.location) };
}

export async function readEntries(location: string): Promise<Entry[]> {
  const session = await openSession(location);
  try {
    const entries: Entry[] = [];
    for (let after: string | null | undefined; after !== null;) {
      const page = await session.entries(after === undefined ? {} : { after });
      entries.push(...page.entries);
      after = page.next;
    }
    return entries;
  } finally {
    await session.close();
  }
}

export function wavOf(location: string): Buffer {
  const folder = path.join(location, "assets");
  const name = readdirSync(folder).find((file) => file.endsWith(".wav"));
  return readFileSync(path.join(folder, name ?? "missing"));
}
