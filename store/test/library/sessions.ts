import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";

const made: string[] = [];

afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A fresh folder that is removed after the tests of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), "persyk-library-"));
  made.push(folder);
  return folder;
}

export type Fields = Record<string, unknown>;

/** A log as it lies on disk, written without the product's writer. */
export class LogText {
  readonly #lines: string[];
  #last: string | null = null;
  #count = 0;
  readonly #startMs: number;

  constructor(id: string, startMs = Date.parse("2026-01-01T00:00:00.000Z")) {
    this.#startMs = startMs;
    this.#lines = [JSON.stringify({ type: "session", version: 1, id, timestamp: new Date(startMs).toISOString() })];
  }

  /** Adds an entry after the last one, or after the given parent; gives its id. */
  entry(type: string, fields: Fields, parentId: string | null = this.#last): string {
    this.#count += 1;
    const id = `e${this.#count}`;
    const timestamp = new Date(this.#startMs + this.#count * 1000).toISOString();
    this.#lines.push(JSON.stringify({ type, id, parentId, timestamp, ...fields }));
    this.#last = id;
    return id;
  }

  message(
    role: string,
    content: string | readonly unknown[],
    parentId: string | null = this.#last,
    extra: Fields = {},
  ): string {
    const timestamp = this.#startMs + (this.#count + 1) * 1000;
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    return this.entry("message", { message: { role, timestamp, content: blocks, ...extra } }, parentId);
  }

  user(content: string | readonly unknown[], parentId?: string | null): string {
    return this.message("user", content, parentId === undefined ? this.#last : parentId);
  }

  remove(targetId: string): string {
    return this.entry("message.removed", { targetId });
  }

  /** Adds a line as it is. */
  raw(line: string): void {
    this.#lines.push(line);
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  toString(): string {
    return `${this.#lines.join("\n")}\n`;
  }
}

/** Writes a session folder; gives its location. */
export function writeSession(root: string, name: string, log: string | LogText | Buffer): string {
  const location = path.join(root, name);
  mkdirSync(path.join(location, "assets"), { recursive: true });
  writeFileSync(path.join(location, "session.jsonl"), Buffer.isBuffer(log) ? log : log.toString());
  return location;
}

/** 16-bit mono PCM in a WAV file: a tone in each of the given ranges, silence elsewhere. */
export function wav(durationMs: number, tones: readonly [number, number][], sampleRate = 24_000): Buffer {
  const frames = Math.round((durationMs * sampleRate) / 1000);
  const bytes = Buffer.alloc(44 + frames * 2);
  bytes.write("RIFF", 0, "latin1");
  bytes.writeUInt32LE(36 + frames * 2, 4);
  bytes.write("WAVEfmt ", 8, "latin1");
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(sampleRate, 24);
  bytes.writeUInt32LE(sampleRate * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36, "latin1");
  bytes.writeUInt32LE(frames * 2, 40);
  for (const [startMs, endMs] of tones) {
    for (let frame = (startMs * sampleRate) / 1000; frame < (endMs * sampleRate) / 1000; frame += 1) {
      bytes.writeInt16LE(Math.round(20_000 * Math.sin(frame / 8)), 44 + Math.floor(frame) * 2);
    }
  }
  return bytes;
}
