/**
 * What a log is fit for.
 * - `valid`: everything.
 * - `tail-pending`: its committed part reads and projects; nothing is appended before an explicit recovery.
 * - `blocked`: sound records whose meaning this version must not guess; raw records only.
 * - `corrupt`: not a log of the format; raw records only.
 */
export type Verdict = "valid" | "tail-pending" | "blocked" | "corrupt";

/** Whether the committed part may be projected: history, context, labels. */
export function isProjectable(verdict: Verdict): boolean {
  return verdict === "valid" || verdict === "tail-pending";
}

/** What an explicit recovery would do to the end of the log. */
export type Recoverable = "no" | "add-newline" | "truncate-fragment";

/** A finding about a log. Never holds text of a record. */
export interface Diagnostic {
  code: string;
  message: string;
  /** 1-based. */
  line?: number;
  /** Bytes from the start of the file: of the defect where it has a place, else of its record. */
  offset?: number;
}

/** How many findings are kept of one log, of each kind. */
export const MAX_DIAGNOSTICS = 100;
