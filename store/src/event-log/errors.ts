import { StoreError, type ErrorPlace } from "../errors";

/** Where in a log something is: the path, and the line or byte as far as they are known. */
export interface LogPlace {
  /** Path of the log file. */
  readonly path?: string;
  readonly sessionId?: string;
  /** 1-based line of the log; the header is line 1. */
  readonly line?: number;
  /** Byte offset in the file. */
  readonly offset?: number;
}

export function placeOf({ path, sessionId, line, offset }: LogPlace): ErrorPlace {
  return {
    ...(path === undefined ? {} : { location: path }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(line === undefined ? {} : { line }),
    ...(offset === undefined ? {} : { offset }),
  };
}

/** The one error for damage of any kind. */
export function corrupt(message: string, place: LogPlace = {}, cause?: unknown): StoreError {
  return new StoreError("event-log-corrupt", { ...placeOf(place), message, cause });
}

/** The log is sound, but this reader must not interpret it. */
export function unsupported(message: string, place: LogPlace = {}): StoreError {
  return new StoreError("event-log-unsupported", { ...placeOf(place), message });
}

/** The same error with the path and session it was found in. */
export function at(error: unknown, path: string, sessionId?: string): unknown {
  if (!(error instanceof StoreError) || error.place.location !== undefined) return error;
  return new StoreError(error.code, {
    ...error.place,
    location: path,
    ...(sessionId === undefined ? {} : { sessionId }),
    message: error.message,
    remedy: error.remedy,
    cause: error.cause,
  });
}
