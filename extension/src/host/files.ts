import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { errnoName } from "../capture/errno";

let count = 0;

/** Replaces a file so that a reader sees the old one or the new one, never a part. Mode 0600. */
export function replaceFile(file: string, text: string): void {
  count += 1;
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.${count}`);
  writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
  try {
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** The text of a file, or undefined when it is not there. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (errnoName(error) === "ENOENT" || errnoName(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Names in a folder, oldest name first; none when it is not there. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (errnoName(error) === "ENOENT") return [];
    throw error;
  }
}

export function privateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}
