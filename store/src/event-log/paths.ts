/** Event-log backend, On-disk layout: where a session's log is, computed from its id and its project directory. */
import { join } from "node:path";
import { type Compression } from "./types";

/** A directory name holds 255 bytes; the reference also probes `<id>.jsonl.zstd` beside it, so that must fit too. */
export const MAX_ENCODED_ID_LENGTH = 255 - ".jsonl.zstd".length;
const MAX_PROJECT_KEY_LENGTH = 251;
const NO_CWD_DIRECTORY = "_no-cwd";

const SUFFIXES: Readonly<Record<Compression, string>> = { zstd: ".jsonl.zstd", none: ".jsonl" };

export function logSuffix(compression: Compression): string {
  return SUFFIXES[compression];
}

export function oppositeCompression(compression: Compression): Compression {
  return compression === "zstd" ? "none" : "zstd";
}

/** True for a file name that the abandoned flat layout would have used. */
export function isFlatLogName(name: string): boolean {
  return flatLogName(name) !== undefined;
}

/** The encoded id in a file name of the abandoned flat layout, or undefined for another name. */
export function flatLogName(name: string): string | undefined {
  const suffix = Object.values(SUFFIXES).find((one) => name.endsWith(one));
  return suffix === undefined ? undefined : name.slice(0, -suffix.length);
}

function isSafeUnit(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x2e ||
    code === 0x5f ||
    code === 0x2d
  );
}

function escapeUnit(code: number): string {
  return `~${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/**
 * A session id as one directory name, injective over all UTF-16 strings: units outside `A-Za-z0-9._-` become `~XXXX`,
 * and the names `.` and `..` are escaped whole. Throws RangeError for the empty string.
 */
export function encodeSegment(id: string): string {
  if (id.length === 0) throw new RangeError("cannot encode an empty path segment");
  if (id === "." || id === "..") return escapeUnit(0x2e).repeat(id.length);
  let name = "";
  for (let index = 0; index < id.length; index += 1) {
    const code = id.charCodeAt(index);
    name += isSafeUnit(code) ? id.charAt(index) : escapeUnit(code);
  }
  return name;
}

/**
 * The readable directory name of a project: runs of separators become one hyphen, the rest is escaped as in an id, and
 * the whole is cut to fit. Lossy by intention. Throws RangeError for the empty string.
 */
function projectKey(cwd: string): string {
  if (cwd.length === 0) throw new RangeError("cannot encode an empty project path");
  let readable = "";
  let inSeparators = false;
  for (let index = 0; index < cwd.length; index += 1) {
    const code = cwd.charCodeAt(index);
    const isSeparator = code === 0x2f || code === 0x5c || code === 0x3a;
    if (!isSeparator) readable += isSafeUnit(code) ? cwd.charAt(index) : escapeUnit(code);
    else if (!inSeparators) readable += "-";
    inSeparators = isSeparator;
  }
  const trimmed = readable.replace(/^-+/, "");
  return `--${(trimmed === "" ? "root" : trimmed).slice(0, MAX_PROJECT_KEY_LENGTH)}--`;
}

/** The directory of a project below a root. */
export function projectDirectory(root: string, cwd: string | undefined): string {
  return join(root, cwd === undefined ? NO_CWD_DIRECTORY : projectKey(cwd));
}

/** The directory that belongs to one session. */
export function sessionDirectory(root: string, cwd: string | undefined, id: string): string {
  return join(projectDirectory(root, cwd), encodeSegment(id));
}

/** The name of the log inside its session directory. */
export function logName(compression: Compression): string {
  return `session${SUFFIXES[compression]}`;
}

/** The path of a session's log. */
export function logPath(root: string, cwd: string | undefined, id: string, compression: Compression): string {
  return join(sessionDirectory(root, cwd, id), logName(compression));
}
