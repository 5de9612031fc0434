/** A stored log that a test takes apart and writes again with something wrong in it. */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import * as zlib from "node:zlib";
import { type Compression } from "../../src/event-log/types";
import { backend, copyRoot, freshRoot, meta, turn } from "./support";

const CHECKSUM = { params: { [zlib.constants.ZSTD_c_checksumFlag]: 1 } };

/** Two closed turns of six events each: `header` is line 1, the events are lines 2 to 13. */
export class FaultLog {
  readonly root: string;
  readonly path: string;
  readonly compression: Compression;
  /** Lines without their LF. */
  readonly header: string;
  readonly events: readonly string[];

  private constructor(root: string, path: string, compression: Compression, lines: readonly string[]) {
    this.root = root;
    this.path = path;
    this.compression = compression;
    const [header = "", ...events] = lines;
    this.header = header;
    this.events = events;
  }

  static readonly #templates = new Map<Compression, { root: string; lines: readonly string[] }>();

  static async of(compression: Compression): Promise<FaultLog> {
    const template = FaultLog.#templates.get(compression) ?? (await FaultLog.#make(compression));
    FaultLog.#templates.set(compression, template);
    const root = copyRoot(template.root);
    const { path } = backend(root, { compression }).locate(meta("s"));
    return new FaultLog(root, path, compression, template.lines);
  }

  static async #make(compression: Compression): Promise<{ root: string; lines: readonly string[] }> {
    const root = freshRoot();
    const store = backend(root, { compression, packChunks: false });
    await store.create(meta("s"));
    await store.append("s", turn(0, 1));
    await store.append("s", turn(6, 2));
    const text = (await store.readRaw("s"))?.content ?? "";
    await store.release("s");
    return { root, lines: text.trimEnd().split("\n") };
  }

  get directory(): string {
    return dirname(this.path);
  }

  get bytes(): Buffer {
    return readFileSync(this.path);
  }

  set bytes(bytes: Buffer) {
    writeFileSync(this.path, bytes);
  }

  /** Writes the log anew, each part a frame where there are frames; gives where each part starts in the file. */
  write(...parts: readonly string[]): number[] {
    const starts: number[] = [];
    const stored: Buffer[] = [];
    let at = 0;
    for (const part of parts) {
      const bytes =
        this.compression === "zstd" ? zlib.zstdCompressSync(Buffer.from(part), CHECKSUM) : Buffer.from(part);
      starts.push(at);
      stored.push(bytes);
      at += bytes.length;
    }
    this.bytes = Buffer.concat(stored);
    return starts;
  }

  /**
   * Writes the log with another line in the place of one (1 is the header), the rest as it was: the header, and the
   * events of each turn, are a part of their own. Gives the line, and its byte: of the frame that holds it where there
   * are frames.
   */
  replaceLine(line: number, text: string): { line: number; offset: number } {
    const lines = [this.header, ...this.events];
    lines[line - 1] = text;
    const parts = [lines.slice(0, 1), lines.slice(1, 7), lines.slice(7)];
    const starts = this.write(...parts.map((part) => part.map((one) => `${one}\n`).join("")));
    if (this.compression === "none") {
      const before = lines.slice(0, line - 1).map((one) => `${one}\n`);
      return { line, offset: Buffer.byteLength(before.join("")) };
    }
    return { line, offset: starts[line === 1 ? 0 : line <= 7 ? 1 : 2] ?? -1 };
  }

  /** The header with some fields changed. */
  headerWith(change: Record<string, unknown>): string {
    const header: Record<string, unknown> = JSON.parse(this.header);
    return JSON.stringify({ ...header, ...change });
  }

  /** The event of a line with some fields changed. */
  eventWith(line: number, change: Record<string, unknown>): string {
    const event: Record<string, unknown> = JSON.parse(this.events[line - 2] ?? "{}");
    return JSON.stringify({ ...event, ...change });
  }
}
