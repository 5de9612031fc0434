/** What the expressions for plain records are made of: JSON as writers spell it, without a `\u` escape. */

/** Longer lines are parsed: as strings they would cost the system new memory each. */
export const MAX_PLAIN_BYTES = 64 * 1024;

export const ID = "[A-Za-z0-9][A-Za-z0-9._-]{0,127}";
export const PARENT_ID = `(?:null|"${ID}")`;

const DAY =
  "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))";
/** Every day but the one that only some years have, which is checked the long way. */
export const TIME = `\\d{4}-${DAY}T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?Z`;

/** A count that every number holds exactly. */
export const COUNT = "(?:0|[1-9]\\d{0,14})";

/** Written as runs between escapes, which is what an engine of expressions reads fastest. */
export const STRING = '"[^"\\\\\\x00-\\x1f]*(?:\\\\["\\\\/bfnrt][^"\\\\\\x00-\\x1f]*)*"';
/** A string without escapes that is not empty. */
export const SOME_STRING = '"[^"\\\\\\x00-\\x1f]+"';
