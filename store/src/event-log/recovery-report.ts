import { type LogTail } from "./scan-log";

/** What an explicit recovery did, or would do. */
export interface LogRecovery {
  readonly action: "none" | "append-closers" | "terminate-line" | "cut-torn-tail" | "salvage";
  /** Where the bytes that were cut off are kept; null when none were. */
  readonly kept: string | null;
  readonly bytesBefore: number;
  /** Null for a recovery that was only asked about. */
  readonly bytesAfter: number | null;
  /** Events before and after, the synthetic ones included. */
  readonly eventsBefore: number;
  readonly eventsAfter: number;
}

/** The report of a recovery from what was read, and what became of it. */
export function recoveryOf(
  tail: LogTail,
  nextSeq: number,
  closers: number,
  kept: string | null,
  bytesAfter: number | null,
): LogRecovery {
  return {
    action: actionOf(tail, closers),
    kept,
    bytesBefore: tail.end,
    bytesAfter,
    eventsBefore: nextSeq,
    eventsAfter: nextSeq + closers,
  };
}

function actionOf(tail: LogTail, closers: number): LogRecovery["action"] {
  switch (tail.kind) {
    case "clean":
      return closers > 0 ? "append-closers" : "none";
    case "unterminated":
      return "terminate-line";
    case "torn":
      return "cut-torn-tail";
    case "damaged":
      return "salvage";
  }
}
