import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { cacheFolder } from "./corpus";

/** Programs that are measured beside ours. They are installed when a benchmark asks for them, and never shipped. */
const peers = {
  pi: "@earendil-works/pi-coding-agent@0.85.1",
  ripgrep: "@vscode/ripgrep@1.18.0",
} as const;

const failed = new Set<string>();

/** The folder of an installed peer's modules; null when it cannot be installed (no network, say). */
export function peerModules(name: keyof typeof peers): string | null {
  const folder = path.join(cacheFolder, "peers", name);
  const modules = path.join(folder, "node_modules");
  if (existsSync(path.join(folder, ".complete"))) return modules;
  if (failed.has(name)) return null;
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "package.json"), '{"private":true}\n');
  process.stderr.write(`installing ${peers[name]} to measure against …\n`);
  const install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", peers[name]];
  const result = spawnSync("npm", install, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  if (result.status !== 0) {
    failed.add(name);
    return null;
  }
  writeFileSync(path.join(folder, ".complete"), "");
  return modules;
}

/** Imports a file of a peer. It is JavaScript of somebody else, so its parts are checked by the caller. */
export async function importPeer(name: keyof typeof peers, file: string): Promise<Record<string, unknown> | null> {
  const modules = peerModules(name);
  if (modules === null) return null;
  const loaded: unknown = await import(pathToFileURL(path.join(modules, file)).href);
  return typeof loaded === "object" && loaded !== null ? { ...loaded } : null;
}

/** The ripgrep program: the one on the path, else the installed one. */
export function ripgrep(): string | null {
  if (spawnSync("rg", ["--version"]).status === 0) return "rg";
  const modules = peerModules("ripgrep");
  if (modules === null) return null;
  const program = path.join(modules, "@vscode", `ripgrep-${process.platform}-${process.arch}`, "bin", "rg");
  return existsSync(program) ? program : null;
}
