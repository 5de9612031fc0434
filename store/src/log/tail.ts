/**
 * What follows the last LF of a log (Session file format, Native writes, assets and recovery): a whole record that only
 * lacks its LF, the beginning of one, or something that no continuation can make a record.
 */
import { parseEntry, parseHeader } from "../format/codec";
import { defectMessages } from "../format/defects";
import { scanJson } from "../format/json-scan";
import { MAX_RECORD_BYTES } from "../format/names";
import { type LogContents } from "./log-contents";
import { relationDefect } from "./relations";
import { type Recoverable, type Verdict } from "./verdict";

export interface TailJudgement {
  verdict: Exclude<Verdict, "valid">;
  recoverable: Recoverable;
  code: string;
  message: string;
  /** Bytes from the start of the tail. */
  offset: number;
}

/** What a power loss leaves where the size was durable and the bytes were not. */
export const ZERO_FILLED = {
  code: "zero-filled-tail",
  message: "The file ends in zero bytes after its last complete record, as a power loss leaves it.",
} as const;

/** Judges the bytes after the last LF; there is at least one, and at most a record's worth. */
export function judgeTail(log: LogContents, tail: Buffer): TailJudgement {
  const scan = scanJson(tail);
  if (scan.kind === "error") return definite(tail, scan.code, scan.offset);
  if (log.header === null) return judgeHeader(tail);
  if (scan.kind === "prefix") {
    if (tail.length >= MAX_RECORD_BYTES) return corrupt("record-too-large", defectMessages["record-too-large"], 0);
    return {
      verdict: "tail-pending",
      recoverable: "truncate-fragment",
      code: "tail-fragment",
      message: "The file ends in the beginning of a record.",
      offset: 0,
    };
  }
  const parsed = parseEntry(tail);
  if (!parsed.ok) {
    return { ...corrupt(parsed.code, parsed.message, parsed.offset ?? 0), verdict: parsed.class };
  }
  const defect = relationDefect(log.entries, parsed.value);
  if (defect !== undefined) return { ...corrupt(defect.code, defect.message, 0), verdict: "blocked" };
  return {
    verdict: "tail-pending",
    recoverable: "add-newline",
    code: "tail-unterminated",
    message: "The last record lacks its line feed, so it is not committed.",
    offset: 0,
  };
}

/** A session is published with its whole header, so a header without an LF is none. */
function judgeHeader(tail: Buffer): TailJudgement {
  const parsed = parseHeader(tail);
  const known = !parsed.ok && parsed.code !== "invalid-json" ? parsed : undefined;
  if (known !== undefined) return { ...corrupt(known.code, known.message, known.offset ?? 0), verdict: known.class };
  return corrupt("header-unterminated", "The header is not complete.", 0);
}

function definite(tail: Buffer, code: keyof typeof defectMessages, offset: number): TailJudgement {
  if (tail[offset] === 0 && tail.subarray(offset).every((byte) => byte === 0)) {
    return corrupt(ZERO_FILLED.code, ZERO_FILLED.message, offset);
  }
  return corrupt(code, defectMessages[code], offset);
}

function corrupt(code: string, message: string, offset: number): TailJudgement {
  return { verdict: "corrupt", recoverable: "no", code, message, offset };
}
