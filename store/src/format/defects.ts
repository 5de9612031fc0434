import { type RecordDefect } from "./json";

/** What is wrong with a whole record on its own. */
export type FormatDefect =
  | RecordDefect
  | "header-missing"
  | "header-invalid"
  | "unsupported-version"
  | "field-invalid"
  | "extra-field"
  | "second-header"
  | "unknown-type";

/**
 * `blocked`: the record is sound JSON whose meaning this version must not guess; raw reading goes on. `corrupt`: it is
 * not a record of the format at all.
 */
export type DefectClass = "blocked" | "corrupt";

/** Words for each defect; they never quote the record. */
export const defectMessages: Readonly<Record<FormatDefect, string>> = {
  "blank-line": "The line is empty; every line is one record.",
  "byte-order-mark": "The record begins with a byte order mark.",
  "carriage-return": "The record ends in a carriage return; only a line feed separates records.",
  "depth-exceeded": "The record nests more than 128 containers.",
  "duplicate-key": "An object of the record has the same key twice.",
  "extra-field": "The record has a field that its type does not have.",
  "field-invalid": "A field of the record is missing or malformed.",
  "header-invalid": "The header is malformed.",
  "header-missing": "The file does not begin with a session header.",
  "invalid-json": "The record is not JSON.",
  "invalid-utf8": "The record is not UTF-8.",
  "lone-surrogate": "A string or key of the record has half a surrogate pair.",
  "not-an-object": "The record is not a JSON object.",
  "number-out-of-range": "A number of the record is too large.",
  "record-too-large": "The record is larger than 1 048 576 bytes.",
  "second-header": "A header follows the first record.",
  "unknown-type": "The entry is of a type that this version does not know.",
  "unsupported-version": "The session is of a version that this program does not read.",
};
