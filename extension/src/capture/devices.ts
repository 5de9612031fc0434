/**
 * The input devices that the capture helper names (`devices`, one JSON line). Asking needs no permission for the
 * microphone and opens no device.
 */
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { CaptureFailure } from "./client";
import { errnoName } from "./errno";
import { parseJson } from "./json-text";
import { CAPTURE_PROTOCOL_VERSION, captureDeviceSchema, exitMeanings, MAX_LINE_BYTES } from "./protocol";

const inputDeviceSchema = captureDeviceSchema.extend({ isDefault: z.boolean().default(false) });
const answerSchema = z.object({
  v: z.literal(CAPTURE_PROTOCOL_VERSION),
  type: z.literal("devices"),
  devices: z.array(inputDeviceSchema),
});

/** An input device of this machine, and whether it is the system's default. */
export type InputDevice = z.infer<typeof inputDeviceSchema>;

export interface DevicesOptions {
  signal?: AbortSignal;
  /** After this the helper is killed. */
  deadlineMs?: number;
}

const DEADLINE_MS = 5_000;
const POLL_MS = 20;
/** Where the caller is gone, nobody else ends a helper that hangs. */
const GUARD_GRACE_SECONDS = 1;
const REINSTALL = "Reinstall the extension.";

/**
 * Raycast may end the caller's thread at any moment, and a child that ends after that stays a zombie. So a shell puts
 * the helper into the background and ends at once, as for the session host: the system adopts and reaps the rest. Its
 * group is killed in any case; `sleep` ends a helper that hangs where nobody is left to do so.
 */
const SCRIPT = `{
  "$0" devices & helper=$!
  { /bin/sleep "$1"; kill -9 $helper; } >/dev/null & guard=$!
  wait $helper; code=$?
  kill $guard
  printf '\\nexit %s\\n' "$code"
} </dev/null 2>/dev/null &`;
const END = /\nexit (\d+)\n$/;

/**
 * Asks the helper for the input devices. Rejects with a CaptureFailure, or with the signal's reason; the helper is gone
 * in every case.
 */
export async function listInputDevices(helper: string, options: DevicesOptions = {}): Promise<InputDevice[]> {
  const { signal, deadlineMs = DEADLINE_MS } = options;
  signal?.throwIfAborted();
  const output = openUnnamedFile();
  try {
    const group = startGroup(helper, output, deadlineMs);
    try {
      return devicesOf(await wholeOutput(output, deadlineMs, signal));
    } finally {
      killGroup(group);
    }
  } finally {
    closeSync(output);
  }
}

/** A file that is gone when its descriptor is closed, whoever closes it. */
function openUnnamedFile(): number {
  const file = path.join(tmpdir(), `persyk-devices-${randomUUID()}`);
  const fd = openSync(file, "wx+", 0o600);
  rmSync(file);
  return fd;
}

/** Starts the helper in a process group of its own, and says which. */
function startGroup(helper: string, output: number, deadlineMs: number): number {
  const guardSeconds = String(Math.ceil(deadlineMs / 1_000) + GUARD_GRACE_SECONDS);
  // Node's declarations leave `detached` out of the synchronous form, which honours it all the same.
  const options = { detached: true, stdio: ["ignore" as const, output, "ignore" as const], cwd: "/" };
  const { error, status, pid } = spawnSync("/bin/sh", ["-c", SCRIPT, helper, guardSeconds], options);
  if (error !== undefined || status !== 0) throw failed("The capture helper could not be started.", "Try again.");
  return pid;
}

function killGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch (error) {
    // All of it has ended; macOS refuses a group whose processes wait to be reaped.
    const code = errnoName(error);
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

async function wholeOutput(
  output: number,
  deadlineMs: number,
  signal: AbortSignal | undefined,
): Promise<{ text: string; exitCode: number }> {
  const deadline = performance.now() + deadlineMs;
  while (performance.now() < deadline) {
    const text = readAll(output);
    const [end, exitCode] = END.exec(text) ?? [];
    if (end !== undefined) return { text: text.slice(0, -end.length), exitCode: Number(exitCode) };
    await sleep(POLL_MS, undefined, signal === undefined ? {} : { signal });
  }
  throw new CaptureFailure(
    "devices-timeout",
    "The capture helper did not say which input devices there are.",
    "Try again. If it stays so, restart the Mac: its sound system does not answer.",
  );
}

function readAll(output: number): string {
  const { size } = fstatSync(output);
  if (size > 2 * MAX_LINE_BYTES) throw notUnderstood();
  const bytes = Buffer.alloc(size);
  // Read at a place, because the position is shared with those who write.
  const length = readSync(output, bytes, 0, size, 0);
  return bytes.toString("utf8", 0, length);
}

function devicesOf({ text, exitCode }: { text: string; exitCode: number }): InputDevice[] {
  if (exitCode !== 0) throw failureOf(exitCode);
  const answer = answerSchema.safeParse(parseJson(text));
  if (!answer.success) throw notUnderstood();
  return answer.data.devices;
}

/** What the shell says of a program that it cannot find, or not run. */
const SHELL_NOT_RUNNABLE = 126;
const SHELL_NOT_FOUND = 127;
/** Exit codes that mean the same here as in a capture. */
const SHARED_EXITS: ReadonlySet<number> = new Set([69, 77]);

function failureOf(exitCode: number): CaptureFailure {
  if (exitCode === SHELL_NOT_FOUND) {
    return new CaptureFailure("helper-missing", "The capture helper is not installed.", REINSTALL);
  }
  if (exitCode === SHELL_NOT_RUNNABLE) {
    return new CaptureFailure(
      "helper-not-executable",
      "The capture helper may not be run, or is built for another processor.",
      REINSTALL,
    );
  }
  const meaning = SHARED_EXITS.has(exitCode) ? exitMeanings.get(exitCode) : undefined;
  if (meaning !== undefined) return new CaptureFailure(meaning.code, meaning.message, meaning.remedy);
  return failed(`The capture helper ended with ${exitCode}.`, "Try again. If it stays so, reinstall the extension.");
}

function notUnderstood(): CaptureFailure {
  return failed("The capture helper's answer was not understood.", REINSTALL);
}

function failed(message: string, remedy: string): CaptureFailure {
  return new CaptureFailure("devices-failed", message, remedy);
}
