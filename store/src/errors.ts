import { errorCodes, type StoreErrorCode } from "./error-codes";

export type { StoreErrorCode } from "./error-codes";

/** Where a failure is, as far as it is known. Never holds message bodies or secret values. */
export interface ErrorPlace {
  sessionId?: string;
  location?: string;
  /** 1-based line of the log. */
  line?: number;
  /** Byte offset in the file. */
  offset?: number;
}

export interface StoreErrorOptions extends ErrorPlace {
  /** One sentence of detail; the code's own summary when absent. */
  message?: string;
  /** What a person can do; the code's own remedy when absent. */
  remedy?: string;
  cause?: unknown;
}

/** The one error type of the store: a stable code, a place and a remedy. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;
  readonly remedy: string;
  readonly place: ErrorPlace;

  constructor(code: StoreErrorCode, options: StoreErrorOptions = {}) {
    super(
      options.message ?? errorCodes[code].summary,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.remedy = options.remedy ?? errorCodes[code].remedy;
    const { sessionId, location, line, offset } = options;
    this.place = {
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(location === undefined ? {} : { location }),
      ...(line === undefined ? {} : { line }),
      ...(offset === undefined ? {} : { offset }),
    };
  }
}

/** True for a StoreError, optionally of one code. */
export function isStoreError(error: unknown, code?: StoreErrorCode): error is StoreError {
  return error instanceof StoreError && (code === undefined || error.code === code);
}

/** The machine-readable form of any failure, as the command line prints it with `--json`. */
export interface ErrorDocument extends ErrorPlace {
  code: string;
  message: string;
  remedy?: string;
}

export function toErrorDocument(error: unknown): ErrorDocument {
  if (error instanceof StoreError) {
    return { code: error.code, message: error.message, remedy: error.remedy, ...error.place };
  }
  return { code: "internal", message: error instanceof Error ? error.message : "unknown failure" };
}
