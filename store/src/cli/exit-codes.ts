import { isStoreError, type StoreErrorCode } from "../errors";

/**
 * - 0: done.
 * - 1: the answer is negative: not valid, nothing found, refused for what the data says.
 * - 2: wrong usage.
 * - 3: could not: files, locks, an unexpected failure.
 * - 130: cancelled, with Ctrl-C or by SIGTERM or SIGHUP.
 */
export type ExitCode = 0 | 1 | 2 | 3 | 130;

/** The failures that are an answer about the data, not an inability to give one. */
const negativeAnswers: ReadonlySet<StoreErrorCode> = new Set<StoreErrorCode>([
  "not-found",
  "ambiguous",
  "entry-not-found",
  "record-invalid",
  "record-too-large",
  "batch-too-large",
  "parent-not-found",
  "session-not-authoritative",
  "conflict",
  "already-exists",
  "already-removed",
  "recovery-refused",
  "asset-invalid",
  "asset-missing",
  "digest-mismatch",
  "event-log-corrupt",
  "event-log-unsupported",
  "event-log-identity-mismatch",
  "event-log-duplicate",
  "event-log-encoding-mismatch",
  "event-log-flat-layout",
  "event-log-too-large",
  "event-log-damaged",
]);

export function exitCodeOf(error: unknown): ExitCode {
  if (!isStoreError(error)) return 3;
  if (error.code === "usage" || error.code === "not-confirmed") return 2;
  if (error.code === "aborted") return 130;
  return negativeAnswers.has(error.code) ? 1 : 3;
}
