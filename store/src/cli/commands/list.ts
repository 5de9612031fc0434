import { type Command } from "commander";
import { formatDuration } from "../../library/duration";
import { type SessionSummary } from "../../library/types";
import { type CliContext, type RootOptions } from "../context";
import { addRootOption, wholeNumber } from "../options";
import { printDiagnostics } from "../output/diagnostics";
import { cell, formatTime, plural } from "../output/format";
import { renderTable } from "../output/table";

interface ListOptions extends RootOptions {
  limit: number;
  cursor?: string;
}

export function register(program: Command, cli: CliContext): void {
  const command = program.command("list").alias("ls").description("all sessions, newest first");
  addRootOption(command)
    .option("--limit <n>", "at most so many sessions", wholeNumber(1), 50)
    .option("--cursor <cursor>", "continue after the page that gave this cursor")
    .addHelpText(
      "after",
      "\nExamples:\n  persyk list\n  persyk list --limit 10 --json\n  persyk list --root ~/Backup/sessions",
    )
    .action(async (options: ListOptions) => {
      const { limit, cursor = null } = options;
      const progress = cli.progress("reading", "sessions");
      const page = await cli
        .library(options)
        .list({ limit, cursor, signal: cli.signal, onProgress: progress.update })
        .finally(progress.stop);
      cli.result(page, () => table(cli, page.sessions, page.cursor));
      printDiagnostics(cli, page.diagnostics);
    });
}

function table(cli: CliContext, sessions: readonly SessionSummary[], cursor: string | null): string {
  const { style } = cli;
  if (sessions.length === 0) return "No sessions yet.";
  const rows = sessions.map((session) => [
    session.createdAt === null ? style.dim("unknown") : formatTime(session.createdAt),
    `${stateOf(session)}${cell(session.label) || style.dim(session.verdict === "valid" ? "(no text)" : "")}`,
    session.messages === 0 ? style.dim("-") : `${session.messages}`,
    session.recordings === 0 ? style.dim("-") : formatDuration(session.durationMs),
    style.dim(session.id ?? session.location),
  ]);
  function stateOf(session: SessionSummary): string {
    if (session.verdict === "tail-pending") return `${style.yellow("torn tail")} `;
    if (session.verdict !== "valid") return `${style.red(session.verdict)} `;
    return `${session.interrupted ? `${style.yellow("interrupted")} ` : ""}${session.archived ? `${style.dim("archived")} ` : ""}`;
  }
  const text = renderTable(
    cli,
    [
      { head: "created" },
      { head: "label", flexible: true },
      { head: "messages", align: "right" },
      { head: "recorded", align: "right" },
      { head: "session" },
    ],
    rows,
  );
  const more = cursor === null ? "" : `\n\nMore: persyk list --cursor ${cursor}`;
  return `${text}\n\n${plural(sessions.length, "session")}${more}`;
}
