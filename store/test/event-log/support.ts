import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { EventLogBackend } from "../../src/event-log/backend";
import { type EventLogOptions } from "../../src/event-log/options";
import { type EventLogMeta, type JsonValue, type LogEvent } from "../../src/event-log/types";

export const FIXTURES = join(__dirname, "../../../fixtures/event-log");

const scratch = mkdtempSync(join(tmpdir(), "persyk-event-log-"));
export const LOCKS = join(scratch, "locks");
mkdirSync(LOCKS);
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

let counter = 0;

/** A fresh path for a root; nothing is there yet. */
export function freshRoot(): string {
  counter += 1;
  return join(scratch, `root-${counter}`);
}

/** A writable copy of a stored root. */
export function copyRoot(from: string): string {
  const root = freshRoot();
  cpSync(from, root, { recursive: true });
  return root;
}

const open: EventLogBackend[] = [];
afterEach(async () => {
  for (const backend of open.splice(0)) await Promise.allSettled([backend.dispose()]);
});

/** A backend that is disposed after the test. */
export function backend(root: string, options: Partial<EventLogOptions> = {}): EventLogBackend {
  const made = new EventLogBackend({ root, lockDirectory: LOCKS, leaseWaitMs: 0, ...options });
  open.push(made);
  return made;
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Path below the root → SHA-256, of every file. */
export function treeOf(root: string): Record<string, string> {
  const tree: Record<string, string> = {};
  const walk = (directory: string): void => {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) walk(path);
      else tree[relative(root, path)] = sha256(readFileSync(path));
    }
  };
  if (statSync(root, { throwIfNoEntry: false }) !== undefined) walk(root);
  return tree;
}

/** The one log file below a root. */
export function onlyLog(root: string): string {
  const [path] = Object.keys(treeOf(root)).filter((name) => /session\.jsonl(\.zstd)?$/.test(name));
  if (path === undefined) throw new Error("no log");
  return join(root, path);
}

export const meta = (id: string, more: Partial<EventLogMeta> = {}): EventLogMeta => ({
  id,
  cwd: "/srv/alpha",
  createdAt: 1_700_000_000_000,
  ...more,
});

let time = 1_700_000_000_000;

export function event(seq: number, type: string, data: JsonValue, more: Partial<LogEvent> = {}): LogEvent {
  time += 1;
  return { type, seq, time, data, ...more };
}

export function userMessage(seq: number, text: string): LogEvent {
  const data = { id: `u${seq}`, role: "user", content: [{ type: "text", text }], source: { kind: "user" } };
  return event(seq, "user/message", data, { surfaceOp: "append" });
}

export function assistantMessage(seq: number, turn: number, content: JsonValue[]): LogEvent {
  const source = { kind: "model", provider: "p", model: "m" };
  const data = { turn, step: 1, message: { id: `a${seq}`, role: "assistant", source, content } };
  return event(seq, "assistant/message", data, { surfaceOp: "append" });
}

export function delta(seq: number, turn: number, text: string): LogEvent {
  return event(seq, "assistant/chunk", { turn, step: 1, chunk: { type: "text-delta", index: 0, text } });
}

/** A closed turn of 6 + deltas events. */
export function turn(start: number, number: number, deltas = 0): LogEvent[] {
  const events = [
    event(start, "turn/start", { turn: number }),
    userMessage(start + 1, `question ${number}`),
    event(start + 2, "step/start", { turn: number, step: 1 }),
  ];
  for (let index = 0; index < deltas; index += 1) events.push(delta(start + 3 + index, number, `word${index} `));
  const at = start + 3 + deltas;
  events.push(
    assistantMessage(at, number, [{ type: "text", text: `answer ${number}` }]),
    event(at + 1, "step/end", { turn: number, step: 1 }),
    event(at + 2, "turn/end", { turn: number, reason: { kind: "completed" } }),
  );
  return events;
}

/** An open turn: start, step, and an answer that is not there yet. */
export function openTurn(start: number, number: number): LogEvent[] {
  return [
    event(start, "turn/start", { turn: number }),
    userMessage(start + 1, "and now?"),
    event(start + 2, "step/start", { turn: number, step: 1 }),
  ];
}
