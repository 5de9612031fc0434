/// <reference lib="es2024.string" />
/**
 * Strict JSON of one record: the value, or the first defect with its place.
 *
 * The common record takes the fast way: native UTF-8 check, native parse, one bounded walk over the value. The walk
 * also adds up how long the most compact text of the value is. A duplicate key leaves text that the value does not
 * account for, so a record that is exactly as long as its value needs has none; any other record goes through the byte
 * pass.
 */
import { isUtf8 } from "node:buffer";
import { scanJson, type JsonDefect } from "./json-scan";
import { MAX_DEPTH, MAX_RECORD_BYTES } from "./names";

export type RecordDefect = JsonDefect | "blank-line" | "carriage-return" | "record-too-large";

export type StrictJson =
  | { ok: true; value: unknown }
  /** `offset` counts bytes from the start of the record. */
  | { ok: false; code: RecordDefect; offset: number };

/** The least that one more member adds to a text: `"":0,`. */
const SHORTEST_MEMBER = 5;

const CARRIAGE_RETURN = 0x0d;

/** Parses one record without its LF. `knownUtf8` says that the caller has checked the encoding already. */
export function parseStrictJson(bytes: Buffer, knownUtf8 = false): StrictJson {
  const { length } = bytes;
  if (length > MAX_RECORD_BYTES) return { ok: false, code: "record-too-large", offset: 0 };
  if (length === 0) return { ok: false, code: "blank-line", offset: 0 };
  if (!knownUtf8 && !isUtf8(bytes)) return defectOf(bytes);
  if (bytes[length - 1] === CARRIAGE_RETURN) {
    return { ok: false, code: "carriage-return", offset: length - 1 };
  }
  const text = bytes.toString();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!isSyntaxError(error)) throw error;
    return defectOf(bytes);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return defectOf(bytes);
  const compact = compactLength(value, text.includes("\\"));
  if (compact === text.length) return { ok: true, value };
  const scan = scanJson(bytes);
  return scan.kind === "error" ? { ok: false, code: scan.code, offset: scan.offset } : { ok: true, value };
}

/** Asks for the name and not for the class, because the engine's errors may be of another realm. */
function isSyntaxError(error: unknown): boolean {
  return typeof error === "object" && error !== null && "name" in error && error.name === "SyntaxError";
}

function defectOf(bytes: Buffer): StrictJson {
  const scan = scanJson(bytes);
  if (scan.kind === "error") return { ok: false, code: scan.code, offset: scan.offset };
  // The record ended inside a value: the defect is that the rest is not there.
  return { ok: false, code: "invalid-json", offset: bytes.length };
}

/** -1 as soon as the byte pass has to decide. */
const UNDECIDED = -1;

let escapes = false;
/** By how much the numbers of the value could be written shorter than they are counted. */
let slack = 0;

/** The length of the most compact JSON text of a parsed value, or -1 where that proves nothing or shows a defect. */
function compactLength(value: object, hasEscapes: boolean): number {
  escapes = hasEscapes;
  slack = 0;
  const length = containerLength(value, 1);
  return slack < SHORTEST_MEMBER ? length : UNDECIDED;
}

function containerLength(value: object, depth: number): number {
  if (depth > MAX_DEPTH) return UNDECIDED;
  let sum = 1;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const length = valueLength(value[index], depth);
      if (length === UNDECIDED) return UNDECIDED;
      sum += length + 1;
    }
    return sum === 1 ? 2 : sum;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const key in members) {
    const keyLength = escapes ? stringLength(key) : key.length + 2;
    const length = valueLength(members[key], depth);
    if (length === UNDECIDED || keyLength === UNDECIDED) return UNDECIDED;
    sum += keyLength + length + 2;
  }
  return sum === 1 ? 2 : sum;
}

function valueLength(value: unknown, depth: number): number {
  switch (typeof value) {
    case "string":
      return escapes ? stringLength(value) : value.length + 2;
    case "number":
      return numberLength(value);
    case "boolean":
      return value ? 4 : 5;
    default:
      return value === null ? 4 : containerLength(value as object, depth + 1);
  }
}

// eslint-disable-next-line no-control-regex -- control characters are what JSON has to escape
const NEEDS_ESCAPE = /["\\\u0000-\u001f]/;

function stringLength(text: string): number {
  if (!text.isWellFormed()) return UNDECIDED;
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text).length : text.length + 2;
}

function numberLength(value: number): number {
  if (!Number.isFinite(value)) return UNDECIDED;
  const small = Number.isSafeInteger(value) && value > -10 && value < 10;
  if (small) return value < 0 || Object.is(value, -0) ? 2 : 1;
  const text = String(value);
  if (value % 1000 === 0 || !Number.isSafeInteger(value)) slack += savedByExponent(text);
  return text.length;
}

/** A bound of how many characters an exponent saves on the shortest plain or scientific text of a number. */
function savedByExponent(text: string): number {
  // `1.5e+21` is at best `15e20`, and `1.5e-7` at best `15e-8`.
  if (text.includes("e")) return 3;
  const zeros = TRAILING_ZEROS.exec(text)?.[0].length ?? 0;
  // `1000` is at best `1e3`.
  if (!text.includes(".")) return Math.max(0, zeros - 1 - String(zeros).length);
  const leading = LEADING_ZEROS.exec(text)?.[0].length ?? 0;
  // `0.001` is at best `1e-3`.
  return leading === 0 ? 0 : Math.max(0, leading - 3);
}

const TRAILING_ZEROS = /0+$/;
/** The point with the zeros on both sides of it. */
const LEADING_ZEROS = /^-?0\.0*/;
