/**
 * The session host as commands see it: started detached and re-parented, watched through its state file, asked through
 * request files. A command may end at any moment without the host noticing.
 */
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { rmSync, watch } from "node:fs";
import path from "node:path";
import { HostError } from "./errors";
import { namesIn, privateFolder, readIfThere, replaceFile } from "./files";
import { hostNodePath } from "./node-path";
import { hostPaths } from "./paths";
import { sameProcess } from "./process-start";
import { type HostOptions, type HostRequest, type HostState, hostStateSchema } from "./state";

export type { HostOptions } from "./state";

export type HostView =
  | { kind: "none" }
  | { kind: "live"; state: HostState }
  | { kind: "ended"; state: HostState }
  /** The process is gone without an end: the recording waits for its explicit recovery. */
  | { kind: "dead"; state: HostState };

export interface HostLaunch {
  /** The Node to run it on; the launcher's own when absent. */
  nodePath?: string;
  /** The host's bundle. */
  hostPath?: string;
  /** How long it is waited for: a host that says nothing until then has failed, one that still starts goes on. */
  startMs?: number;
}

const START_MS = 20_000;
const POLL_MS = 150;
const isRunning = sameProcess();

/** The state as it is on disk, checked against the process that wrote it. */
export async function readHostState(supportPath: string): Promise<HostView> {
  return viewOf(supportPath);
}

function viewOf(supportPath: string): HostView {
  const paths = hostPaths(supportPath);
  const text = readIfThere(paths.state);
  const state = text === undefined ? undefined : parseState(text);
  if (state === undefined) return { kind: "none" };
  if (state.phase === "finished" || state.phase === "failed") {
    const announced = readIfThere(paths.announced) === state.instanceId;
    const { result } = state;
    return { kind: "ended", state: result === undefined ? state : { ...state, result: { ...result, announced } } };
  }
  return isRunning(state.pid, state.processStart) ? { kind: "live", state } : { kind: "dead", state };
}

function parseState(text: string): HostState | undefined {
  try {
    const parsed = hostStateSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Starts a recording and resolves when it listens, when it has failed, or, while it waits for the user to allow the
 * microphone, with the phase `starting`: it ends by itself when nobody answers. Refuses with `already-recording` while one is
 * running: there are never two microphones.
 */
export async function startHost(options: HostOptions, launch: HostLaunch = {}): Promise<HostState> {
  const before = viewOf(options.supportPath);
  if (before.kind === "live") throw alreadyRecording();
  const instanceId = randomUUID();
  const paths = hostPaths(options.supportPath);
  privateFolder(paths.folder);
  for (const name of namesIn(paths.requests)) rmSync(path.join(paths.requests, name), { force: true });
  const startFile = path.join(paths.folder, `start-${instanceId}.json`);
  // Holds the key for as long as the host needs to read it: private, and deleted by the reader.
  replaceFile(startFile, JSON.stringify(options));
  try {
    doubleFork(launch.nodePath ?? hostNodePath(), launch.hostPath ?? defaultHostPath(), [
      "--support",
      options.supportPath,
      "--instance",
      instanceId,
    ]);
    return await started(options.supportPath, instanceId, launch.startMs ?? START_MS);
  } finally {
    rmSync(startFile, { force: true });
  }
}

function alreadyRecording(): HostError {
  return new HostError("already-recording", "A recording is running already.", "Stop it first.");
}

function defaultHostPath(): string {
  return path.join(__dirname, "assets", "session-host.cjs");
}

/**
 * A shell in a session of its own puts the host into the background and ends, so that the system adopts it: it outlives
 * the command, and nobody is left with a zombie when it ends. Waiting for the shell is synchronous (it takes
 * milliseconds): a command that is ended in between could not reap it.
 */
function doubleFork(nodePath: string, hostPath: string, args: readonly string[]): void {
  const { NODE_OPTIONS: _options, NODE_PATH: _path, ...env } = process.env;
  // Node's declarations leave `detached` out of the synchronous form, which honours it all the same.
  const options = { detached: true, stdio: "ignore" as const, cwd: "/", env };
  const command = '"$0" "$@" </dev/null >/dev/null 2>&1 &';
  const { error, status } = spawnSync("/bin/sh", ["-c", command, nodePath, hostPath, ...args], options);
  if (error !== undefined || status !== 0) {
    throw new HostError("host-not-started", "The recording process could not be started.", "Try again.");
  }
}

async function started(supportPath: string, instanceId: string, startMs: number): Promise<HostState> {
  const deadline = Date.now() + startMs;
  for (;;) {
    const view = viewOf(supportPath);
    if (view.kind !== "none" && view.state.instanceId === instanceId) {
      if (view.kind === "dead") break;
      if (view.state.phase !== "starting" || Date.now() >= deadline) return view.state;
    }
    const refused = path.join(hostPaths(supportPath).folder, `refused-${instanceId}`);
    if (readIfThere(refused) !== undefined) {
      rmSync(refused, { force: true });
      throw alreadyRecording();
    }
    if (Date.now() >= deadline) break;
    await pause(20);
  }
  throw new HostError("host-not-started", "The recording process did not start.", "Try again.");
}

export function requestStop(supportPath: string): Promise<void> {
  return request(supportPath, { kind: "stop" });
}

export function requestDiscard(supportPath: string): Promise<void> {
  return request(supportPath, { kind: "discard" });
}

export function requestRemove(supportPath: string, entryId: string): Promise<void> {
  return request(supportPath, { kind: "remove", entryId });
}

async function request(supportPath: string, what: HostRequest): Promise<void> {
  const view = viewOf(supportPath);
  if (view.kind !== "live")
    throw new HostError("not-recording", "Nothing is being recorded.", "Start a recording first.");
  const { requests } = hostPaths(supportPath);
  privateFolder(requests);
  // Names sort by time, so that requests are read in the order in which they were made.
  const name = `${String(Date.now()).padStart(15, "0")}-${randomUUID()}.json`;
  replaceFile(path.join(requests, name), JSON.stringify(what));
}

/** Resolves when nothing is recorded any more, or rejects with the signal's reason. */
export async function waitForEnd(supportPath: string, options: { signal?: AbortSignal } = {}): Promise<HostView> {
  for (;;) {
    options.signal?.throwIfAborted();
    const view = viewOf(supportPath);
    if (view.kind !== "live") return view;
    await pause(50);
  }
}

/** Calls back with every change. Stop it with what it returns. */
export function watchHost(supportPath: string, onChange: (view: HostView) => void): () => void {
  let last = "";
  const look = (): void => {
    const view = viewOf(supportPath);
    const text = JSON.stringify(view);
    if (text === last) return;
    last = text;
    onChange(view);
  };
  const { folder } = hostPaths(supportPath);
  privateFolder(folder);
  const watcher = watch(folder, () => look());
  watcher.on("error", () => watcher.close());
  // A death writes nothing, and some file systems report nothing.
  const timer = setInterval(look, POLL_MS);
  look();
  return () => {
    clearInterval(timer);
    watcher.close();
  };
}

/** The user has been told of the end: no later command announces it again. */
export async function markAnnounced(supportPath: string): Promise<void> {
  const view = viewOf(supportPath);
  if (view.kind === "ended") replaceFile(hostPaths(supportPath).announced, view.state.instanceId);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
