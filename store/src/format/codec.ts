/** Records as bytes and back (Session file format, Version 1 contract). The only place where parsed JSON gets a type. */
import { type ZodError, type ZodType } from "zod";
import { StoreError } from "../errors";
import { defectMessages, type DefectClass, type FormatDefect } from "./defects";
import { parseStrictJson } from "./json";
import { copyJson } from "./json-copy";
import { type JsonObject } from "./json-value";
import { FORMAT_VERSION, MAX_RECORD_BYTES } from "./names";
import { plainMessageLine } from "./plain-message";
import { type Entry, type EntryType, entrySchemas, headerSchema, isObject, type SessionHeader } from "./schema";

export interface Malformed {
  ok: false;
  code: FormatDefect;
  class: DefectClass;
  /** Names the field, never its content. */
  message: string;
  /** Bytes from the start of the record, where the defect has a place. */
  offset?: number;
}

export type Parsed<T> = { ok: true; value: T } | Malformed;

export interface ParseOptions {
  /** The caller has checked the encoding already. */
  knownUtf8?: boolean;
}

/** Parses the first record of a log, without its LF. */
export function parseHeader(bytes: Buffer, options: ParseOptions = {}): Parsed<SessionHeader> {
  const parsed = parseObject(bytes, options);
  if (!parsed.ok) return parsed;
  const { value } = parsed;
  if (value["type"] !== "session") return malformed("header-missing", "corrupt");
  const { version } = value;
  if (typeof version === "number" && version !== FORMAT_VERSION) return malformed("unsupported-version", "blocked");
  return check<SessionHeader>(headerSchema, value, "header-invalid");
}

/** Parses any later record, without its LF. */
export function parseEntry(bytes: Buffer, options: ParseOptions = {}): Parsed<Entry> {
  const parsed = parseObject(bytes, options);
  return parsed.ok ? checkEntry(parsed.value) : parsed;
}

/** Checks a parsed object against the schema of its type. */
export function checkEntry(value: JsonObject): Parsed<Entry> {
  const { type } = value;
  if (typeof type !== "string") return malformed("field-invalid", "corrupt", "type");
  if (type === "session") return malformed("second-header", "blocked");
  if (!isEntryType(type)) return malformed("unknown-type", "blocked");
  return check<Entry>(entrySchemas[type], value, "field-invalid");
}

export function isEntryType(type: string): type is EntryType {
  return Object.hasOwn(entrySchemas, type);
}

/**
 * Takes a value that was checked when its log was opened, without checking it again. Undefined when it is not JSON any
 * more or not the record it was, so that the caller re-reads the log.
 */
export function reparseEntry(
  bytes: Buffer,
  start: number,
  end: number,
  type: EntryType,
  id: string,
): Entry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8", start, end));
  } catch (error) {
    if (typeof error === "object" && error !== null && "name" in error && error.name === "SyntaxError")
      return undefined;
    throw error;
  }
  if (!isObject(value) || value["type"] !== type || value["id"] !== id) return undefined;
  return value as unknown as Entry;
}

/**
 * The bytes of a record with its LF. The record goes through the reader's own checks first: what this writes, every
 * reader of the format accepts. Throws `record-invalid` or `record-too-large`.
 */
export function encodeRecord(record: SessionHeader | Entry): Buffer {
  const bytes = Buffer.from(`${plainMessageLine(record) ?? checkedLine(record)}\n`);
  if (bytes.length - 1 > MAX_RECORD_BYTES) {
    throw new StoreError("record-too-large", { message: defectMessages["record-too-large"] });
  }
  return bytes;
}

function checkedLine(record: SessionHeader | Entry): string {
  const copied = copyJson(record);
  if (!copied.ok) {
    throw copied.code === "depth-exceeded"
      ? new StoreError("record-too-large", { message: defectMessages["depth-exceeded"] })
      : new StoreError("record-invalid", { message: `${copied.message} (${copied.path})` });
  }
  const { value } = copied;
  if (!isObject(value)) throw new StoreError("record-invalid", { message: defectMessages["not-an-object"] });
  const checked =
    value["type"] === "session" ? check<SessionHeader>(headerSchema, value, "header-invalid") : checkEntry(value);
  if (!checked.ok) throw new StoreError("record-invalid", { message: checked.message });
  return JSON.stringify(value);
}

function parseObject(bytes: Buffer, options: ParseOptions): Parsed<JsonObject> {
  const parsed = parseStrictJson(bytes, options.knownUtf8);
  if (!parsed.ok) {
    const { code, offset } = parsed;
    return { ok: false, code, class: "corrupt", message: defectMessages[code], offset };
  }
  return isObject(parsed.value) ? { ok: true, value: parsed.value } : malformed("not-an-object", "corrupt");
}

/** The value itself, not the schema's copy of it. */
function check<T>(schema: ZodType<T>, value: JsonObject, defect: FormatDefect): Parsed<T> {
  const result = schema.safeParse(value);
  return result.success ? { ok: true, value: value as unknown as T } : explain(result.error, defect);
}

function explain(error: ZodError, defect: FormatDefect): Malformed {
  const wrong = error.issues.find((issue) => issue.code !== "unrecognized_keys");
  if (wrong === undefined) return malformed("extra-field", "blocked");
  return malformed(defect, "corrupt", wrong.path.map(String).join("."));
}

function malformed(code: FormatDefect, defectClass: DefectClass, field?: string): Malformed {
  const message =
    field === undefined || field === "" ? defectMessages[code] : `The field "${field}" is missing or malformed.`;
  return { ok: false, code, class: defectClass, message };
}
