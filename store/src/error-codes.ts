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
  // Writing, locks, assets and recovery.
  "disk-full": { summary: "The disk is full.", remedy: "Free some space, then try again." },
  "quota-exceeded": { summary: "The disk quota is used up.", remedy: "Free some of your own files, then try again." },
  "file-too-large": { summary: "The file has reached the largest size allowed here.", remedy: "Start a new session." },
  "read-only": { summary: "The medium is read-only.", remedy: "Use a session root that can be written to." },
  "access-denied": {
    summary: "The system refuses access.",
    remedy: "Check the permissions of the folder, and the access granted to the app that runs this.",
  },
  "io-error": { summary: "The disk reported an error.", remedy: "Check the disk; keep a copy of the session folder." },
  "location-gone": { summary: "The folder or file is no longer there.", remedy: "List the sessions again." },
  "unsafe-path": {
    summary: "Something else than a plain file or folder is in this place.",
    remedy: "Look at the session folder; symbolic links and special files are never followed.",
  },
  unavailable: {
    summary: "The content of the file is not on this computer at the moment.",
    remedy: "Let the sync service download the file, then try again.",
  },
  "too-many-open-files": { summary: "Too many files are open.", remedy: "Close some sessions, then try again." },
  "already-exists": { summary: "The name is taken.", remedy: "Use another id or name." },
  "handle-poisoned": {
    summary: "An earlier write could not be undone, so this handle accepts no more.",
    remedy: "Open the session again and inspect it.",
  },
  "handle-revoked": {
    summary: "The session was deleted, closed or replaced since this handle was opened.",
    remedy: "Open the session again.",
  },
  "outcome-unknown": {
    summary: "The disk did not confirm the write, so it may or may not be durable.",
    remedy: "Open the session again and retry with the same entry ids; what is there already is not written twice.",
  },
  "batch-too-large": {
    summary: "A batch holds at most 256 records and 4 MiB.",
    remedy: "Split it; parents may name entries of an earlier batch.",
  },
  "parent-not-found": { summary: "The parent is not an earlier entry.", remedy: "Check the parent id." },
  "already-removed": { summary: "The message is removed on this branch already.", remedy: "Nothing needs to be done." },
  "lock-busy": {
    summary: "Another program is writing to this session.",
    remedy: "Wait until it has finished, then try again.",
  },
  "lock-lost": {
    summary: "The lock was taken over by another program before the write.",
    remedy: "Try again with the same entry ids.",
  },
  "lock-unsupported": {
    summary: "The folder for locks has no working operating system locks.",
    remedy: "Use Node 22.13 or newer, and set PERSYK_LOCK_DIRECTORY to a folder on a local disk.",
  },
  "capture-live": {
    summary: "A recording of this session is still running.",
    remedy: "Stop the recording first.",
  },
  "capture-lock-unsupported": {
    summary: "There is no way here to tell whether a recording is still running.",
    remedy: "Use the capture helper, or install flock (util-linux).",
  },
  "recovery-refused": {
    summary: "The damage is not a torn tail, so it is not repaired.",
    remedy: "Inspect the session; the valid records can be exported.",
  },
  "not-confirmed": { summary: "A deletion needs a confirmation.", remedy: "Confirm it." },
  "asset-invalid": { summary: "The asset is not what its reference says.", remedy: "Check the asset file." },
  "asset-missing": { summary: "The asset is not there.", remedy: "Check the assets folder of the session." },
  "digest-mismatch": {
    summary: "The bytes of the asset do not have the recorded digest.",
    remedy: "Restore the asset from a copy.",
  },
  // The command line.
  "clipboard-unavailable": {
    summary: "The text could not be put on the clipboard.",
    remedy: "On Linux this needs a desktop session; print the text instead and copy it from there.",
  },
  // Event logs.
  "event-log-corrupt": {
    summary: "The event log is damaged.",
    remedy: "Export what can be read, or salvage the log; nothing is changed before that.",
  },
  "event-log-unsupported": {
    summary: "The event log was written in a format that is not read here.",
    remedy: "Read it with the program that wrote it, or a newer one.",
  },
  "event-log-identity-mismatch": {
    summary: "The header of the event log names another place than where it was found.",
    remedy: "Move the log back to the folder of its session, or copy the root as a whole.",
  },
  "event-log-duplicate": {
    summary: "Several project folders hold a log of this session.",
    remedy: "Move all but one of them out of the root.",
  },
  "event-log-encoding-mismatch": {
    summary: "The event log is stored in the other encoding of its root.",
    remedy: "Use a separate root, or select the matching compression.",
  },
  "event-log-flat-layout": {
    summary: "A log file lies in the project folder itself, as an abandoned layout had it.",
    remedy: "Move it into a folder of its own, or out of the root.",
  },
  "event-log-too-large": {
    summary: "A part of the event log decodes to more than is accepted.",
    remedy: "Check where the log comes from; a larger limit can be given.",
  },
  "event-log-header-invalid": {
    summary: "The session could be written with this header, but never read again.",
    remedy: "Correct the named field.",
  },
  "event-log-event-invalid": {
    summary: "The event could be written, but the log never read again.",
    remedy: "Correct the named event; none of its batch was written.",
  },
  "event-log-seq-mismatch": {
    summary: "The events do not continue the log.",
    remedy: "Load the session and continue from its last event.",
  },
  "event-log-changed": {
    summary: "The event log was changed by somebody else.",
    remedy: "Load the session again and continue from its last event.",
  },
  "event-log-damaged": {
    summary: "Whole lines at the end of the event log cannot be read.",
    remedy: "Salvage the log; what is cut off is kept beside it.",
  },
  "event-log-live": {
    summary: "A turn of this session is still being written.",
    remedy: "Wait until the turn has ended, or inspect the session.",
  },
  "event-log-backlog-full": {
    summary: "Too many events wait to be written.",
    remedy: "Wait for a flush before giving more.",
  },
  // Reading.
  "log-replaced": {
    summary: "The log is another file, or has other content, than when it was opened.",
    remedy: "Open the session again.",
  },
  "log-shrank": {
    summary: "The log lost records that it had when it was opened.",
    remedy: "Open the session again, and compare it with a copy.",
  },
} as const satisfies Record<string, { summary: string; remedy: string }>;

export type StoreErrorCode = keyof typeof errorCodes;
