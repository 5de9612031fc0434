import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { root } from "../lib/node22.mjs";
import { toolEnvironment } from "../lib/run.mjs";

export { root };

let failures = 0;

/** Notes one thing that must hold; the script goes on so that one run shows everything that is wrong. */
export function check(name, holds, detail = "") {
  console.log(`${holds ? "ok  " : "FAIL"} ${name}${holds || detail === "" ? "" : `\n     ${detail}`}`);
  if (!holds) failures += 1;
}

export function finish() {
  process.exitCode = failures === 0 ? 0 : 1;
}

export function temporaryFolder(name) {
  const folder = mkdtempSync(path.join(os.tmpdir(), `persyk-${name}-`));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a program in its own process group and collects what it prints. */
export function start(command, args, options = {}) {
  const child = spawn(command, args, {
    cwd: root,
    env: toolEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    ...options,
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (data) => (output.stdout += data));
  child.stderr.on("data", (data) => (output.stderr += data));
  const done = new Promise((resolve) =>
    child.on("close", (code, signal) => resolve({ code, signal, stdout: output.stdout, stderr: output.stderr })),
  );
  return { child, output, done };
}

/** Runs a program to its end. */
export function runToEnd(command, args, options = {}) {
  return start(command, args, options).done;
}

/** Resolves when condition() holds; rejects after a generous deadline, which says that it never will. */
export async function until(what, condition, deadlineMs = 60_000) {
  const end = Date.now() + deadlineMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
