import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EntryInput } from "../../src/format/schema";
import { LayeredLock } from "../../src/lock/session-lock";
import { defaultStoreContext, type StoreContext } from "../../src/session/store-context";

/** Tests that inject failures sync thousands of times; in memory that costs nothing. */
const MEMORY = fs.existsSync("/dev/shm") ? "/dev/shm" : undefined;

/** A folder of one test with a session root and lock files of its own. */
export class Sandbox {
  readonly folder: string;
  readonly root: string;
  readonly locks: string;
  readonly context: StoreContext;

  constructor(overrides: Partial<StoreContext> = {}) {
    this.folder = fs.realpathSync(fs.mkdtempSync(join(MEMORY ?? tmpdir(), "persyk-store-")));
    this.root = join(this.folder, "sessions");
    this.locks = join(this.folder, "locks");
    fs.mkdirSync(this.root);
    this.context = defaultStoreContext({ lock: new LayeredLock({ directory: this.locks }), ...overrides });
  }

  remove(): void {
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A user message; `id` makes retries recognisable. */
export function message(text: string, id?: string): Extract<EntryInput, { type: "message" }> {
  return {
    type: "message",
    ...(id === undefined ? {} : { id }),
    message: { role: "user", timestamp: 1_767_225_601_000, content: [{ type: "text", text }] },
  };
}

export function readLog(location: string): Buffer {
  return fs.readFileSync(join(location, "session.jsonl"));
}

/** The ids of the complete records in a log, in file order, without the header. */
export function idsIn(log: Buffer): string[] {
  return log
    .toString()
    .split("\n")
    .slice(1, -1)
    .map((line) => {
      const parsed: { id: string } = JSON.parse(line);
      return parsed.id;
    });
}
