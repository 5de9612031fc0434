import { accessSync, constants, readdirSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { errnoName } from "../capture/errno";
import { HostError } from "./errors";

/**
 * The Node that runs the host: the launcher's own, which must be a Node by name, or the newest runtime that the launcher
 * has installed. Never a Node of the user's.
 */
export function hostNodePath(execPath = process.execPath, home = os.homedir()): string {
  if (/^node(\.exe)?$/.test(path.basename(execPath)) && isExecutable(execPath)) return execPath;
  const runtimes = path.join(home, "Library/Application Support/com.raycast.macos/NodeJS/runtime");
  for (const version of versionsIn(runtimes)) {
    const candidate = path.join(runtimes, version, "bin/node");
    if (isExecutable(candidate)) return candidate;
  }
  throw new HostError("node-missing", "Raycast's Node runtime was not found.", "Restart Raycast and try again.");
}

function versionsIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort((a, b) => b.localeCompare(a, undefined, { numeric: true }));
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return [];
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return false;
  }
}
