/**
 * Limits of the session format, and the names that its source leaves open (Session file format, Version 1 contract).
 * Everything invented is here, so that it can be changed in one place.
 */

/** JSON text of one record without its LF, in bytes. The same number for writing and reading. */
export const MAX_RECORD_BYTES = 1_048_576;
/** Nested containers; the record object counts as one. */
export const MAX_DEPTH = 128;
/** One append. */
export const MAX_BATCH_RECORDS = 256;
export const MAX_BATCH_BYTES = 4 * 1_048_576;
/** `customType`, in UTF-16 code units. */
export const MAX_CUSTOM_TYPE_LENGTH = 256;

export const FORMAT_VERSION = 1;

/** Member names that the source describes in words only. */
export const names = {
  asset: "asset",
  status: "status",
  available: "available",
  missing: "missing",
  byteRange: "byteRange",
  start: "start",
  end: "end",
  startMs: "startMs",
  endMs: "endMs",
  outgoing: "outgoing",
  incoming: "incoming",
  redactions: "redactions",
  media: "media",
  source: "source",
} as const;
