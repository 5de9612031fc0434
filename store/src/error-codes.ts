/**
 * Every code that a StoreError can carry, with what it means and what a person can do about it.
 * Codes are stable: tools match on them. Append new ones; never reuse one for something else.
 */
export const errorCodes = {
  usage: { summary: "The call or command was used wrongly.", remedy: "Check the arguments against the help text." },
  aborted: { summary: "The work was cancelled.", remedy: "Start it again when wanted." },
  "not-found": { summary: "No such session.", remedy: "List the sessions and check the id or location." },
  ambiguous: {
    summary: "More than one location holds a session with this id.",
    remedy: "Give the location of the session instead of its id.",
  },
  "entry-not-found": { summary: "The session has no such entry.", remedy: "Check the entry id." },
  "record-invalid": { summary: "The record breaks the session format.", remedy: "Correct the named field." },
  "record-too-large": {
    summary: "The record is larger than one MiB or nested deeper than 128 containers.",
    remedy: "Move the large content into an asset.",
  },
  "session-not-authoritative": {
    summary: "The log is not valid, so nothing may be appended or projected.",
    remedy: "Inspect the session; a torn tail can be recovered explicitly.",
  },
  conflict: {
    summary: "An entry with this id exists with other content.",
    remedy: "Use a new id, or retry with exactly the content that was sent before.",
  },
} as const satisfies Record<string, { summary: string; remedy: string }>;

export type StoreErrorCode = keyof typeof errorCodes;
