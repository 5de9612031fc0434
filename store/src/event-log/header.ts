/** Event-log backend, On-disk layout: the header line, and the three strictnesses with which it is read and written. */
import path from "node:path";
import { StoreError } from "../errors";
import { corrupt, unsupported } from "./errors";
import { NotLosslessJson, snapshotJson } from "./json-value";
import { encodeSegment, MAX_ENCODED_ID_LENGTH } from "./paths";
import { asObject, type EventLogHeader, type EventLogMeta, type JsonRecord } from "./types";

/** The one format version that is read and written. */
export const FORMAT_VERSION = 0;

/** A header line has no reason to be long; reading stops here. */
export const MAX_HEADER_BYTES = 1024 * 1024;

const RETIRED_FIELDS = ["sandboxMode", "approvalPolicy"];
const HEADER_PLACE = { line: 1, offset: 0 };

/** A header that is good enough to be listed, and what would still keep its log from being loaded. */
export interface ParsedHeader {
  readonly header: EventLogHeader;
  /** The first field that only loading rejects; undefined when the header is sound. */
  readonly problem: string | undefined;
}

/** The header as its line, without LF, keys in the order of the format; absent fields are left out. */
export function headerLine(header: EventLogHeader): string {
  const { version, id, createdAt, cwd, parentSession, seedLength, origin, delegationDepth, agentPreset } = header;
  const line = { type: "session", version, id, createdAt, cwd, parentSession, seedLength, origin };
  return JSON.stringify({ ...line, delegationDepth, agentPreset });
}

/**
 * Reads a header line (without LF) as far as listing needs it. Does not compare the version.
 * Throws `event-log-corrupt`.
 */
export function parseHeader(line: Uint8Array): ParsedHeader {
  return pickHeader(parseHeaderJson(line));
}

/** Reads a header line for a read of the log: a foreign version is refused before anything else is looked at. */
export function parseHeaderToRead(line: Uint8Array): ParsedHeader {
  const parsed = parseHeaderJson(line);
  const version = asObject(parsed)?.["version"];
  if (typeof version === "number") assertVersion(String(asObject(parsed)?.["id"]), version);
  return pickHeader(parsed);
}

function parseHeaderJson(line: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString("utf8"));
  } catch (error) {
    throw corrupt("corrupt session log: header line is not valid JSON", HEADER_PLACE, error);
  }
}

/** Throws `event-log-unsupported` for every version but 0. */
export function assertVersion(id: string, version: number): void {
  if (version === FORMAT_VERSION) return;
  const relation =
    version > FORMAT_VERSION
      ? `uses log format v${version}, but only v${FORMAT_VERSION} is read here: the log was written by a newer program`
      : `uses log format v${version}, older than the supported v${FORMAT_VERSION}, and there is no upgrade path for it`;
  throw unsupported(`session "${id}" ${relation}`, HEADER_PLACE);
}

function pickHeader(parsed: unknown): ParsedHeader {
  const record = asObject(parsed);
  const notHeader = (): never => {
    throw corrupt("corrupt session log: first line is not a session header", HEADER_PLACE);
  };
  if (record === undefined || record["type"] !== "session") return notHeader();
  const { version, id, createdAt, delegationDepth, origin, agentPreset } = record;
  if (typeof version !== "number" || typeof id !== "string") return notHeader();
  if (!isCount(createdAt) || !isCount(delegationDepth)) return notHeader();
  if (origin !== undefined && origin !== "subagent") return notHeader();
  if (agentPreset !== undefined && typeof agentPreset !== "string") return notHeader();
  if (RETIRED_FIELDS.some((field) => Object.hasOwn(record, field))) {
    throw corrupt("session header uses retired policy baseline fields", HEADER_PLACE);
  }
  const { cwd, parentSession, seedLength } = record;
  if (cwd !== undefined && typeof cwd !== "string") {
    throw new StoreError("event-log-identity-mismatch", {
      ...HEADER_PLACE,
      message: "session header cwd is no string, so it identifies no place",
    });
  }
  const header: EventLogHeader = {
    version,
    id,
    createdAt,
    ...(cwd === undefined ? {} : { cwd }),
    ...(typeof parentSession === "string" ? { parentSession } : {}),
    ...(isCount(seedLength) ? { seedLength } : {}),
    ...(origin === undefined ? {} : { origin }),
    delegationDepth,
    ...(agentPreset === undefined ? {} : { agentPreset }),
  };
  return { header, problem: problemOf(cwd, parentSession, seedLength) };
}

/**
 * What loading checks beyond listing. A project directory of another platform is fine to read: the reference refuses
 * it only because of the computer it happens to run on.
 */
function problemOf(cwd: string | undefined, parentSession: unknown, seedLength: unknown): string | undefined {
  if (cwd !== undefined && !path.posix.isAbsolute(cwd) && !path.win32.isAbsolute(cwd)) {
    return `session header cwd must be an absolute path, got "${cwd}"`;
  }
  if (parentSession !== undefined && typeof parentSession !== "string") {
    return "session header parentSession must be a string";
  }
  if (seedLength !== undefined && !isWholeNumber(seedLength)) {
    return "session header seedLength must be a non-negative safe integer";
  }
  return undefined;
}

function isWholeNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isCount(value: unknown): value is number {
  return isWholeNumber(value) && !Object.is(value, -0);
}

/**
 * The header of a session that is to be created. Everything that a later read would refuse, here or in the reference,
 * is refused now: `event-log-header-invalid`, with the field.
 */
export function newHeader(meta: EventLogMeta): EventLogHeader {
  const fields = snapshotMeta(meta);
  const { id, createdAt, cwd } = fields;
  if (typeof id !== "string" || id === "") throw invalid("id must be a non-empty string");
  if (encodeSegment(id).length > MAX_ENCODED_ID_LENGTH) {
    throw invalid(`id takes ${encodeSegment(id).length} characters on disk, more than ${MAX_ENCODED_ID_LENGTH}`);
  }
  if (fields["version"] !== undefined && fields["version"] !== FORMAT_VERSION) throw invalid("version must be 0");
  if (!isCount(createdAt)) throw invalid("createdAt must be a non-negative safe integer");
  if (cwd !== undefined && (typeof cwd !== "string" || !path.isAbsolute(cwd))) {
    throw invalid("cwd must be an absolute path of this computer");
  }
  const known = ["version", "id", "createdAt", "cwd", "parentSession", "seedLength", "origin"];
  const unknown = Object.keys(fields).find((key) => ![...known, "delegationDepth", "agentPreset"].includes(key));
  if (unknown !== undefined) throw invalid(`${unknown} is not a field of a header`);
  const parsed = pickNew({ type: "session", version: FORMAT_VERSION, delegationDepth: 0, ...fields });
  if (parsed.problem !== undefined) throw invalid(parsed.problem.replace("session header ", ""));
  return Object.freeze(parsed.header);
}

function snapshotMeta(meta: EventLogMeta): JsonRecord {
  const given = Object.fromEntries(Object.entries(meta).filter(([, value]) => value !== undefined));
  try {
    return asObject(snapshotJson(given)) ?? {};
  } catch (error) {
    if (error instanceof NotLosslessJson) throw invalid(`session metadata ${error.message}`, error);
    throw error;
  }
}

function pickNew(line: JsonRecord): ParsedHeader {
  try {
    return pickHeader(line);
  } catch (error) {
    const { delegationDepth, origin } = line;
    if (!isCount(delegationDepth)) throw invalid("delegationDepth must be a non-negative safe integer", error);
    if (origin !== undefined && origin !== "subagent") throw invalid('origin must be "subagent"', error);
    throw invalid("agentPreset must be a string", error);
  }
}

function invalid(problem: string, cause?: unknown): StoreError {
  return new StoreError("event-log-header-invalid", { message: `session header: ${problem}`, cause });
}
