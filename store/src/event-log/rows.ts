/** Event-log backend, Packed row codec: a run of streamed deltas stored as one line. */
import { corrupt } from "./errors";
import { isRecord, type JsonRecord, type LogEvent } from "./types";
import { isRowTag, type RowTag } from "./vocabulary";

/** Shorter runs are stored event by event. */
const MIN_RUN = 3;

type DeltaKind = "text-delta" | "reasoning-delta" | "tool-call-delta";

interface Delta {
  readonly kind: DeltaKind;
  readonly seq: number;
  readonly time: number;
  readonly turn: number;
  readonly step: number;
  readonly index: number;
  readonly payload: string;
  readonly id: string | undefined;
  readonly name: string | undefined;
}

const ROW_TAG_OF: Readonly<Record<DeltaKind, RowTag>> = {
  "text-delta": "text-chunks",
  "reasoning-delta": "reasoning-chunks",
  "tool-call-delta": "tool-call-chunks",
};

function hasExactly(value: JsonRecord, keys: readonly string[]): boolean {
  return Object.keys(value).length === keys.length && keys.every((key) => Object.hasOwn(value, key));
}

/** The delta in an event whose whole shape is known; anything else is stored verbatim. */
function deltaOf(event: LogEvent): Delta | undefined {
  if (event.type !== "assistant/chunk") return undefined;
  if (Object.keys(event).length !== 4 || !Number.isSafeInteger(event.seq) || event.seq < 0) return undefined;
  if (!Number.isSafeInteger(event.time)) return undefined;
  const data: unknown = event.data;
  if (!isRecord(data) || !hasExactly(data, ["turn", "step", "chunk"])) return undefined;
  const { turn, step, chunk } = data;
  if (typeof turn !== "number" || typeof step !== "number" || !isRecord(chunk)) return undefined;
  const { type: kind, index, id, name } = chunk;
  if (typeof index !== "number") return undefined;
  const common = { seq: event.seq, time: event.time, turn, step, index };
  if (kind === "text-delta" || kind === "reasoning-delta") {
    const { text } = chunk;
    if (typeof text !== "string" || !hasExactly(chunk, ["type", "index", "text"])) return undefined;
    return { kind, ...common, payload: text, id: undefined, name: undefined };
  }
  if (kind !== "tool-call-delta") return undefined;
  const { argumentsDelta } = chunk;
  if (typeof id !== "string" || typeof argumentsDelta !== "string") return undefined;
  if (hasExactly(chunk, ["type", "index", "id", "argumentsDelta"])) {
    return { kind, ...common, payload: argumentsDelta, id, name: undefined };
  }
  if (typeof name !== "string" || !hasExactly(chunk, ["type", "index", "id", "name", "argumentsDelta"])) {
    return undefined;
  }
  return { kind, ...common, payload: argumentsDelta, id, name };
}

function continues(previous: Delta, next: Delta): boolean {
  return (
    next.kind === previous.kind &&
    next.seq === previous.seq + 1 &&
    Number.isSafeInteger(next.time - previous.time) &&
    next.turn === previous.turn &&
    next.step === previous.step &&
    next.index === previous.index &&
    next.id === previous.id &&
    next.name === previous.name
  );
}

function rowOf(run: readonly Delta[], first: Delta): unknown {
  const { kind, turn, step, index, id, name } = first;
  const dt = run.slice(1).map((delta, before) => delta.time - (run[before]?.time ?? 0));
  const payload = run.map((delta) => delta.payload);
  const data =
    kind === "tool-call-delta"
      ? { turn, step, index, dt, id, ...(name === undefined ? {} : { name }), args: payload }
      : { turn, step, index, dt, texts: payload };
  return { type: ROW_TAG_OF[kind], seq0: first.seq, time0: first.time, data };
}

/** The text of a batch: one line a record, each with its LF, runs packed when asked. */
export function encodeLines(events: readonly LogEvent[], packChunks: boolean): string {
  let text = "";
  let run: Delta[] = [];
  let runEvents: LogEvent[] = [];
  const endRun = (): void => {
    const [first] = run;
    if (first !== undefined && run.length >= MIN_RUN) text += `${JSON.stringify(rowOf(run, first))}\n`;
    else for (const event of runEvents) text += `${JSON.stringify(event)}\n`;
    run = [];
    runEvents = [];
  };
  for (const event of events) {
    const delta = packChunks ? deltaOf(event) : undefined;
    const last = run.at(-1);
    if (delta === undefined || (last !== undefined && !continues(last, delta))) endRun();
    if (delta === undefined) {
      text += `${JSON.stringify(event)}\n`;
    } else {
      run.push(delta);
      runEvents.push(event);
    }
  }
  endRun();
  return text;
}

/** A validated packed row. */
export interface PackedRow {
  readonly tag: RowTag;
  readonly seq0: number;
  readonly time0: number;
  readonly turn: number;
  readonly step: number;
  readonly index: number;
  readonly dt: readonly number[];
  readonly payload: readonly string[];
  readonly id: string | undefined;
  readonly name: string | undefined;
}

/**
 * The packed row in a parsed line, or undefined when the line is no row. Throws `event-log-corrupt` for a line with a
 * row's tag that is no valid row: taking it for an event would lose a whole run without a word.
 */
export function parseRow(value: JsonRecord): PackedRow | undefined {
  const tag = value["type"];
  if (!isRowTag(tag)) return undefined;
  const malformed = (why: string): never => {
    throw corrupt(`malformed ${tag} storage row: ${why}`);
  };
  const { seq0, time0, data } = value;
  if (!hasExactly(value, ["type", "seq0", "time0", "data"])) {
    return malformed("envelope must be exactly {type, seq0, time0, data}");
  }
  if (typeof seq0 !== "number" || !Number.isSafeInteger(seq0) || seq0 < 0) {
    return malformed("seq0 must be a non-negative safe integer");
  }
  if (typeof time0 !== "number" || !Number.isSafeInteger(time0)) return malformed("time0 must be a safe integer");
  if (!isRecord(data)) return malformed("data must be an object");
  const isTool = tag === "tool-call-chunks";
  const payloadKey = isTool ? "args" : "texts";
  const keys = ["turn", "step", "index", "dt", payloadKey, ...(isTool ? ["id"] : [])];
  const { turn, step, index, dt, id, name } = data;
  const payload: unknown = data[payloadKey];
  const withName = isTool && hasExactly(data, [...keys, "name"]);
  if (!withName && !hasExactly(data, keys)) return malformed("data has other keys than it must have");
  if (isTool && (typeof id !== "string" || (withName && typeof name !== "string"))) {
    return malformed("id (and name when present) must be strings");
  }
  if (typeof turn !== "number" || typeof step !== "number" || typeof index !== "number") {
    return malformed("turn/step/index must be numbers");
  }
  if (!isStrings(payload) || payload.length === 0) return malformed(`${payloadKey} must be a non-empty string array`);
  if (!isSafeIntegers(dt)) return malformed("dt must be an array of safe integers");
  if (dt.length !== payload.length - 1) {
    return malformed(`dt length ${dt.length} does not match ${payload.length} members`);
  }
  if (!Number.isSafeInteger(seq0 + payload.length - 1)) return malformed("member seqs must stay safe integers");
  let time = time0;
  for (const gap of dt) {
    time += gap;
    if (!Number.isSafeInteger(time)) return malformed("member times must stay safe integers");
  }
  return {
    tag,
    seq0,
    time0,
    turn,
    step,
    index,
    dt,
    payload,
    id: typeof id === "string" ? id : undefined,
    name: typeof name === "string" ? name : undefined,
  };
}

function isStrings(value: unknown): value is string[] {
  if (!Array.isArray(value)) return false;
  for (const item of value as unknown[]) if (typeof item !== "string") return false;
  return true;
}

function isSafeIntegers(value: unknown): value is number[] {
  if (!Array.isArray(value)) return false;
  for (const item of value as unknown[]) if (!Number.isSafeInteger(item)) return false;
  return true;
}

/** Appends the events of a row to `out`, in order; frozen all the way down when asked. */
export function expandRow(row: PackedRow, out: LogEvent[], freeze: boolean): void {
  const { tag, seq0, turn, step, index, dt, payload, id, name } = row;
  let time = row.time0;
  for (let k = 0; k < payload.length; k += 1) {
    if (k > 0) time += dt[k - 1] ?? 0;
    const text = payload[k] ?? "";
    const chunk =
      tag === "tool-call-chunks"
        ? name === undefined
          ? { type: "tool-call-delta", index, id: id ?? "", argumentsDelta: text }
          : { type: "tool-call-delta", index, id: id ?? "", name, argumentsDelta: text }
        : { type: tag === "text-chunks" ? "text-delta" : "reasoning-delta", index, text };
    const data = { turn, step, chunk };
    const event = { type: "assistant/chunk", seq: seq0 + k, time, data };
    if (freeze) {
      Object.freeze(chunk);
      Object.freeze(data);
      Object.freeze(event);
    }
    out.push(event);
  }
}
