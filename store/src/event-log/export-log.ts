/** A session as a document for people and other tools. */
import { isoTime } from "../clock";
import { messageTextOf, titleOf } from "./message-text";
import { type EventLogHeader, type LogEvent } from "./types";

/**
 * - `jsonl`: the header and then every event, one JSON object a line, nothing packed;
 * - `json`: one document `{meta, events}`;
 * - `md`: the transcript.
 */
export type LogExportFormat = (typeof FORMATS)[number];

const FORMATS = ["jsonl", "json", "md"] as const;

/** True for a format that there is; the name may come from a command line. */
export function isExportFormat(format: unknown): format is LogExportFormat {
  return FORMATS.some((known) => known === format);
}

/** The export in pieces of text. Only a piece is in memory at a time. */
export async function* exportEvents(
  meta: EventLogHeader,
  events: AsyncIterable<LogEvent>,
  format: LogExportFormat,
): AsyncGenerator<string, void> {
  switch (format) {
    case "jsonl":
      yield `${JSON.stringify({ type: "session", ...meta })}\n`;
      for await (const event of events) yield `${JSON.stringify(event)}\n`;
      return;
    case "json": {
      yield `{"meta":${JSON.stringify(meta)},"events":[`;
      let separator = "";
      for await (const event of events) {
        yield `${separator}${JSON.stringify(event)}`;
        separator = ",";
      }
      yield "]}\n";
      return;
    }
    case "md":
      yield `# Agent session ${meta.id}\n\nStarted ${timeOf(meta.createdAt)}${meta.cwd === undefined ? "" : ` in \`${meta.cwd}\``}\n`;
      for await (const event of events) {
        const title = titleOf(event);
        if (title !== undefined) yield `\n## ${title}\n`;
        const message = messageTextOf(event);
        if (message === undefined) continue;
        yield `\n**${message.role === "user" ? "User" : "Assistant"}** (${timeOf(message.time)})\n\n${message.text}\n`;
      }
  }
}

/** A time beyond the calendar is shown as its number. */
function timeOf(epochMs: number): string {
  return Math.abs(epochMs) <= 8.64e15 ? isoTime(epochMs) : String(epochMs);
}
