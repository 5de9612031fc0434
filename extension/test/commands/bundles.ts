import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createElement, type ComponentType } from "react";
import { errorCode } from "../../src/lib/error-code";
import { Screen } from "../raycast-api/screen";
import { enterCommand } from "../raycast-api/world";

const root = path.join(__dirname, "../../..");
const output = process.env["PERSYK_RAYCAST_BUILD"] ?? path.join(root, ".cache/raycast");
const lock = `${output}.lock`;
const marker = path.join(output, ".built");
const BUILD_DEADLINE_MS = 300_000;

/** The folder with the bundles that `ray build -e dist` makes; built once, and again when a source is newer. */
export function bundleFolder(): string {
  if (process.env["PERSYK_RAYCAST_BUILD"] !== undefined || fresh()) return output;
  mkdirSync(path.dirname(output), { recursive: true });
  const deadline = Date.now() + BUILD_DEADLINE_MS;
  // Test files may run side by side: one of them builds.
  while (!take()) {
    if (Date.now() > deadline) throw new Error(`Somebody holds ${lock}; remove it if nobody builds.`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
  try {
    if (fresh()) return output;
    const built = spawnSync(process.execPath, [path.join(root, "scripts/ray-build.mjs"), "--output", output], {
      cwd: root,
      encoding: "utf8",
    });
    if (built.status !== 0) throw new Error(`ray build failed:\n${built.stdout}\n${built.stderr}`);
    writeFileSync(marker, "");
    return output;
  } finally {
    rmSync(lock, { force: true });
  }
}

/** The lock is a file with its holder's pid: one whose holder was killed is nobody's. */
function take(): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
  if (!isHeld()) rmSync(lock, { force: true });
  return false;
}

function isHeld(): boolean {
  try {
    process.kill(Number(readFileSync(lock, "utf8")), 0);
    return true;
  } catch (error) {
    // The holder has ended, or has released it just now.
    const code = errorCode(error);
    if (code === "ESRCH" || code === "ENOENT") return false;
    throw error;
  }
}

function fresh(): boolean {
  const builtMs = modified(marker);
  const sources = ["extension/src", "extension/assets", "store/src"].map((folder) => path.join(root, folder));
  return builtMs !== null && [...sources, path.join(root, "extension")].every((folder) => newest(folder) < builtMs);
}

function newest(folder: string): number {
  const deep = path.basename(folder) !== "extension";
  const entries = readdirSync(folder, { withFileTypes: true, recursive: deep }).filter((entry) => entry.isFile());
  const times = entries.map((entry) => modified(path.join(entry.parentPath, entry.name)) ?? 0);
  return Math.max(0, ...times);
}

function modified(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;
}

function load(name: string): { default: unknown } {
  // The bundles are CommonJS, and what they ask for outside themselves is the double.
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- a built file, known by its path only
  return require(path.join(bundleFolder(), `${name}.js`));
}

/** Launches a view or menu-bar command from its bundle. */
export function launchView(name: string, props: object = {}): Promise<Screen> {
  enterCommand(name);
  const command = load(name).default as ComponentType<Record<string, unknown>>;
  return Screen.mount(createElement(command, { launchType: "userInitiated", arguments: {}, ...props }));
}

/** Runs a no-view command from its bundle until it settles. */
export async function runCommand(name: string): Promise<void> {
  enterCommand(name);
  const command = load(name).default as (props: object) => Promise<void>;
  await command({ launchType: "userInitiated", arguments: {} });
}

/** Calls an AI tool from its bundle. */
export async function callTool<Result>(name: string, input: object): Promise<Result> {
  const tool = load(`tools/${name}`).default as (input: object) => Promise<Result>;
  return tool(input);
}
