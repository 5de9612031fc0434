/**
 * The session host: the one process that owns a recording. Started by `startHost`, which hands it its options in a file
 * that is read once.
 */
import { spawn } from "node:child_process";
import { statSync, unlinkSync } from "node:fs";
import path from "node:path";
import * as z from "zod";
import { errnoName } from "../capture/errno";
import { parseJson } from "../capture/json-text";
import { findSpeechEngine } from "../provider/server/engines/find-engine";
import { RecordingControl } from "./control";
import { namesIn, privateFolder, readIfThere, replaceFile } from "./files";
import { HostLog } from "./log";
import { hostPaths } from "./paths";
import { processStart } from "./process-start";
import { runRecording } from "./record";
import { claim } from "./single";
import { hostOptionsSchema, hostRequestSchema, type HostState } from "./state";

const STATE_INTERVAL_MS = 100;
const WATCH_MS = 100;

/** `standIn`: the program that plays files, and its arguments. */
export async function runHost(
  supportPath: string,
  instanceId: string,
  standIn: readonly [string, ...string[]],
): Promise<void> {
  const paths = hostPaths(supportPath);
  privateFolder(paths.requests);
  const options = takeOptions(path.join(paths.folder, `start-${instanceId}.json`));
  if (options === undefined) {
    process.exitCode = 64;
    return;
  }
  const release = await claim(paths.lock);
  if (release === undefined) {
    replaceFile(path.join(paths.folder, `refused-${instanceId}`), "");
    return;
  }
  const log = new HostLog(paths.log);
  const states = new StateFile(paths.state);
  const control = new RecordingControl();
  const stop = (): void => control.push({ kind: "stop" });
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, stop);
  const lockIdentity = identityOf(paths.lock);
  const watching = setInterval(() => {
    readRequests(paths.requests, control, log);
    // Without its lock file another host could start: then this one ends.
    if (identityOf(paths.lock) !== lockIdentity) stop();
  }, WATCH_MS);
  const awake = stayAwake();
  log.note("start");
  try {
    let location: string | undefined;
    let gone = false;
    await runRecording(options, {
      control,
      identity: { instanceId, pid: process.pid, processStart: processStart(process.pid) },
      standIn,
      findEngine: () =>
        findSpeechEngine({
          searchPath: process.env["PATH"],
          whisperModel: process.env["WHISPER_MODEL"],
          helperPath: options.helperPath,
        }),
      onFault: (error) => log.note(`provider-failed ${codeOf(error)}`),
      onState: (state) => {
        location = state.session?.location ?? location;
        // A session that was deleted or moved away under the recording ends it.
        if (!gone && location !== undefined && state.phase === "recording" && !isThere(location)) {
          gone = true;
          log.note("session-gone");
          stop();
        }
        states.write(state);
      },
    });
    log.note("end");
  } catch (error) {
    log.note(`failed ${codeOf(error)}`);
  } finally {
    clearInterval(watching);
    states.flush();
    for (const name of namesIn(paths.requests)) remove(path.join(paths.requests, name));
    awake?.kill();
    await release();
  }
}

type Options = z.infer<typeof optionsWithKey>;
const optionsWithKey = hostOptionsSchema.and(z.object({ apiKey: z.string().optional() }));

/** Reads the options once: the file, which may hold the key, is gone before anything else happens. */
function takeOptions(file: string): (Omit<Options, "apiKey"> & { apiKey?: string }) | undefined {
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  remove(file);
  const parsed = optionsWithKey.safeParse(parseJson(text));
  if (!parsed.success) return undefined;
  const { apiKey, ...options } = parsed.data;
  return apiKey === undefined ? options : { ...options, apiKey };
}

function readRequests(folder: string, control: RecordingControl, log: HostLog): void {
  for (const name of namesIn(folder)) {
    if (!name.endsWith(".json") || name.startsWith(".")) continue;
    const file = path.join(folder, name);
    const request = hostRequestSchema.safeParse(parseJson(readIfThere(file) ?? ""));
    remove(file);
    if (!request.success) log.note("request-invalid");
    else control.push(request.data);
  }
}

/** Writes the state at most ten times a second, and always the last one. */
class StateFile {
  #next: HostState | undefined;
  #timer: NodeJS.Timeout | undefined;
  #phase = "";

  constructor(private readonly file: string) {}

  write(state: HostState): void {
    this.#next = state;
    if (state.phase !== this.#phase) return this.flush();
    this.#timer ??= setTimeout(() => this.flush(), STATE_INTERVAL_MS);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#next === undefined) return;
    this.#phase = this.#next.phase;
    try {
      replaceFile(this.file, JSON.stringify(this.#next));
    } catch (error) {
      // The recording matters more than its display: a full disk ends it through the capture.
      if (errnoName(error) === undefined) throw error;
    }
    this.#next = undefined;
  }
}

/** Keeps a Mac from idle sleep for as long as this process lives. */
function stayAwake(): { kill(): void } | undefined {
  if (process.platform !== "darwin") return undefined;
  const child = spawn("/usr/bin/caffeinate", ["-i", "-w", String(process.pid)], { stdio: "ignore" });
  child.on("error", () => undefined);
  return { kill: () => void child.kill() };
}

function identityOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? "" : `${stat.dev}:${stat.ino}`;
}

function isThere(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
}

function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (errnoName(error) !== "ENOENT") throw error;
  }
}

function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "internal";
}
