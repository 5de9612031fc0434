import { StoreError, type ErrorPlace, type StoreErrorCode } from "../errors";

/**
 * The symbolic name of a system error (`ENOSPC`), or undefined for anything else. Asks for the property and not for the
 * class, because an error may come from another realm of the same process.
 */
export function errnoName(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** The number of a system error, negative as Node reports it, or undefined. */
export function errnoNumber(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("errno" in error)) return undefined;
  return typeof error.errno === "number" ? error.errno : undefined;
}

/** macOS answers EDEADLK (errno 11) for a file whose content a sync provider has not downloaded; Node knows no name. */
const MACOS_EDEADLK = -11;

const CODES: Readonly<Record<string, StoreErrorCode>> = {
  ENOSPC: "disk-full",
  EDQUOT: "quota-exceeded",
  EFBIG: "file-too-large",
  EROFS: "read-only",
  EACCES: "access-denied",
  EPERM: "access-denied",
  EIO: "io-error",
  ENOENT: "location-gone",
  ENOTDIR: "location-gone",
  ESTALE: "location-gone",
  ELOOP: "unsafe-path",
  EMLINK: "unsafe-path",
  ENXIO: "unsafe-path",
  EISDIR: "unsafe-path",
  EDEADLK: "unavailable",
  EMFILE: "too-many-open-files",
  ENFILE: "too-many-open-files",
};

/** The store's code for a system error: which resource gave out, as far as the system says. */
export function codeOfSystemError(error: unknown): StoreErrorCode {
  const name = errnoName(error);
  const known = name === undefined ? undefined : CODES[name];
  if (known !== undefined) return known;
  return errnoNumber(error) === MACOS_EDEADLK && name !== "EAGAIN" ? "unavailable" : "io-error";
}

/** Turns a system error into a typed one; a StoreError is passed through unchanged. The path is never in the message. */
export function asStoreError(error: unknown, place: ErrorPlace, doing: string): StoreError {
  if (error instanceof StoreError) return error;
  const name = errnoName(error);
  return new StoreError(codeOfSystemError(error), {
    ...place,
    message: `Could not ${doing}${name === undefined ? "" : ` (${name})`}.`,
    cause: error,
  });
}
