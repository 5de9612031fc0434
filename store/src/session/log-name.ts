/** The log's name in a session folder (Session file format, Identity and layout). */
export const LOG_NAME = "session.jsonl";
