/**
 * Event-log backend, Events: the surface, the ordered view of the messages that a model sees. Message events append to
 * it or replace a range of it; a log whose surface does not add up is refused.
 *
 * Holds sequence numbers, and of tool results everything but their content, so that a long log folds in little memory.
 */
import { corrupt } from "./errors";
import { equalJson } from "./json-value";
import { SURFACE_TYPES } from "./shape";
import { isRecord, type JsonRecord, type LogEvent, type SurfaceOp } from "./types";

export class Surface {
  #nodes: number[] = [];
  /** Of every tool result: its data without the content, which is all that a replacement may change. */
  readonly #resultFrames = new Map<number, JsonRecord>();
  /** How to take back what was applied since `begin`, newest last. */
  #undo: (() => void)[] | undefined;

  /** From here on `rollback` takes everything back, until `commit`. */
  begin(): void {
    this.#undo = [];
  }

  commit(): void {
    this.#undo = undefined;
  }

  rollback(): void {
    for (const step of (this.#undo ?? []).reverse()) step();
    this.#undo = undefined;
  }

  /** Applies the next event, or throws `event-log-corrupt` and changes nothing. */
  apply(event: LogEvent): void {
    const op = surfaceOpOf(event);
    if (op === undefined) return;
    const cited = event.sourceEventSeqs;
    if (op === "append") {
      assertSources(event, cited, []);
      this.#append(event);
      return;
    }
    const from = this.#place(event, op.start, "start");
    const to = this.#place(event, op.end, "end");
    if (from > to) refuse(event, `replaces from seq ${op.start} to seq ${op.end}, which stands before it`);
    const shadowed = this.#nodes.slice(from, to + 1);
    assertSources(event, cited, shadowed);
    this.#assertResultRewrite(event, shadowed);
    const before = this.#nodes;
    this.#nodes = [...before.slice(0, from), event.seq, ...before.slice(to + 1)];
    this.#undo?.push(() => (this.#nodes = before));
    this.#remember(event);
  }

  #append(event: LogEvent): void {
    this.#nodes.push(event.seq);
    this.#undo?.push(() => this.#nodes.pop());
    this.#remember(event);
  }

  #remember(event: LogEvent): void {
    if (event.type !== "tool/result") return;
    this.#resultFrames.set(event.seq, resultFrame(event));
    this.#undo?.push(() => this.#resultFrames.delete(event.seq));
  }

  #place(event: LogEvent, seq: number, end: string): number {
    const index = this.#nodes.indexOf(seq);
    if (index === -1) refuse(event, `replaces a range whose ${end} seq ${seq} is not on the surface`);
    return index;
  }

  #assertResultRewrite(event: LogEvent, shadowed: readonly number[]): void {
    if (event.type !== "tool/result") return;
    const [target] = shadowed;
    if (shadowed.length !== 1 || target === undefined) refuse(event, "must rewrite exactly one current node");
    const original = this.#resultFrames.get(target ?? -1);
    if (original === undefined) refuse(event, "must target a current tool/result");
    if (!equalJson(original, resultFrame(event))) refuse(event, "may change only content");
  }
}

/**
 * What an event says about the surface, checked as far as it can be without the events before it: message events say
 * how they join, others say nothing. Throws `event-log-corrupt`.
 */
export function assertMarkers(event: LogEvent): void {
  if (surfaceOpOf(event) !== undefined) assertSources(event, event.sourceEventSeqs, []);
}

function surfaceOpOf(event: LogEvent): SurfaceOp | undefined {
  const raw: JsonRecord = { ...event };
  const op: unknown = raw["surfaceOp"];
  if (!SURFACE_TYPES.has(event.type)) {
    for (const field of ["surfaceOp", "sourceEventSeqs"]) {
      if (raw[field] !== undefined) refuse(event, `is not surface-eligible and cannot carry ${field}`);
    }
    return undefined;
  }
  if (op === undefined) refuse(event, "is surface-eligible and requires a surfaceOp marker");
  if (op === "append" || isReplaceOp(op)) return op;
  return refuse(event, "carries an invalid surfaceOp");
}

function refuse(event: LogEvent, problem: string): never {
  throw corrupt(`session event "${event.type}" at seq ${event.seq} ${problem}`);
}

function resultFrame(event: LogEvent): JsonRecord {
  const data: unknown = event.data;
  if (!isRecord(data) || !isRecord(data["message"])) return {};
  const { message } = data;
  const content: unknown = message["content"];
  const block: unknown = Array.isArray(content) ? content[0] : undefined;
  return { ...data, message: { ...message, content: [{ ...(isRecord(block) ? block : {}), content: null }] } };
}

function isSeq(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isReplaceOp(value: unknown): value is { op: "replace"; start: number; end: number } {
  if (!isRecord(value) || Array.isArray(value)) return false;
  const { op, start, end } = value;
  return Object.keys(value).length === 3 && op === "replace" && isSeq(start) && isSeq(end);
}

/** The cited earlier events: dense, unique, earlier, and every shadowed node among them. */
function assertSources(event: LogEvent, cited: unknown, shadowed: readonly number[]): void {
  const sources = new Set<number>();
  if (cited !== undefined) {
    if (!Array.isArray(cited)) return refuse(event, "has sourceEventSeqs that are no array");
    if (cited.length === 0 && event.type !== "assistant/message") refuse(event, "has empty sourceEventSeqs");
    for (const source of cited as unknown[]) {
      if (!isSeq(source)) return refuse(event, "has sourceEventSeqs that are no sequence numbers");
      if (source >= event.seq) refuse(event, `cites seq ${source}, which is not earlier`);
      sources.add(source);
    }
    if (sources.size !== cited.length) refuse(event, "has duplicate sourceEventSeqs");
  }
  const missing = shadowed.filter((seq) => !sources.has(seq));
  if (missing.length > 0) refuse(event, `replaces messages without citing them: ${missing.join(", ")}`);
}
