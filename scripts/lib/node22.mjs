import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

const [major, minor] = process.versions.node.split(".").map(Number);

/** True when the running Node has everything the project uses (`node:sqlite` without a flag came with 22.13). */
export const runningIsNew = major > 22 || (major === 22 && minor >= 13);

/** Absolute path of a Node 22 or later: the provisioned one when it is installed, else the running one. */
export function node22() {
  const provisioned = path.join(
    root,
    "node_modules",
    "node",
    "bin",
    process.platform === "win32" ? "node.exe" : "node",
  );
  if (existsSync(provisioned)) return provisioned;
  if (runningIsNew) return process.execPath;
  throw new Error("Node 22 is not installed yet: run `npm install` in the project root first.");
}
