import { appendFileSync } from "node:fs";
import { errnoName } from "../capture/errno";
import { readIfThere, replaceFile } from "./files";

const MAX_BYTES = 64 * 1024;

/** A small log of what happened, by codes: no text of a recording and no secret has a way into it. */
export class HostLog {
  #bytes: number;

  constructor(private readonly file: string) {
    const before = readIfThere(file) ?? "";
    const kept =
      before.length > MAX_BYTES / 2 ? before.slice(before.indexOf("\n", before.length - MAX_BYTES / 2) + 1) : before;
    if (kept !== before) replaceFile(file, kept);
    this.#bytes = kept.length;
  }

  note(code: string): void {
    const line = `${new Date().toISOString()} ${process.pid} ${/^[a-zA-Z0-9_.: -]{1,120}$/.test(code) ? code : "other"}\n`;
    if (this.#bytes + line.length > MAX_BYTES) return;
    this.#bytes += line.length;
    try {
      appendFileSync(this.file, line, { mode: 0o600 });
    } catch (error) {
      // A full disk must not end a recording for the sake of its log.
      if (errnoName(error) === undefined) throw error;
    }
  }
}
