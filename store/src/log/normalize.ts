import { type EntryInput } from "../format/schema";

/**
 * The form in which writers store an entry: names on one line, no label as null, an endpoint without query and
 * fragment, which may hold a credential. Applied before an entry is compared with a committed one.
 */
export function normalize(input: EntryInput): EntryInput {
  switch (input.type) {
    case "session_info":
      return input.name === undefined ? input : { ...input, name: input.name.replace(/[\r\n]+/g, " ").trim() };
    case "label":
      return input.label === "" ? { ...input, label: null } : input;
    case "api_connection":
      return { ...input, endpoint: input.endpoint.replace(/[?#].*$/s, "") };
    default:
      return input;
  }
}
