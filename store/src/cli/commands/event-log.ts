import { type Command } from "commander";
import { EventLogBackend } from "../../event-log/backend";
import { type LogEntry, type LogProblem } from "../../event-log/discovery";
import { messageTextOf } from "../../event-log/message-text";
import { type LogRecovery } from "../../event-log/recovery-report";
import { type Compression, type EventLogHeader, type LogEvent } from "../../event-log/types";
import { StoreError } from "../../errors";
import { type CliContext } from "../context";
import { wholeNumber } from "../options";
import { cell, formatTime, plural } from "../output/format";
import { renderTable } from "../output/table";

interface LogOptions {
  root: string;
  compression: string;
}

interface SessionOptions extends LogOptions {
  id: string;
}

export function register(program: Command, cli: CliContext): void {
  const group = program.command("event-log").description("DSH-compatible event logs of agent sessions");
  group.addHelpText(
    "after",
    "\nExamples:\n  persyk event-log list --root ~/agent/sessions\n  persyk event-log inspect --root ~/agent/sessions --id 4f1a",
  );
  command(group, "list", "every session of a root, and what is wrong with the rest of it").action(
    async (options: LogOptions) => {
      await withBackend(cli, options, async (store) => {
        const { sessions, problems } = await store.list({ signal: cli.signal });
        const document = { sessions: sessions.map(({ header, revision }) => ({ header, revision })), problems };
        cli.result(document, () => listing(cli, sessions));
        for (const problem of problems) cli.warn(lineOf(problem));
        if (sessions.length === 0) cli.exitCode = 1;
      });
    },
  );
  sessionCommand(group, "inspect", "a session as it would be recovered; changes nothing").action(
    async (options: SessionOptions) => {
      await withBackend(cli, options, async (store) => {
        const { meta, events } = await store.inspect(options.id, { signal: cli.signal });
        cli.result({ meta, events }, () => transcript(cli, meta, events));
      });
    },
  );
  sessionCommand(group, "load", "a session, its recovery made durable").action(async (options: SessionOptions) => {
    await withBackend(cli, options, async (store) => {
      const { meta, events, warnings } = await store.load(options.id, { signal: cli.signal });
      cli.result({ meta, events }, () => transcript(cli, meta, events));
      for (const warning of warnings) cli.warn(warning.message);
    });
  });
  sessionCommand(group, "read", "the stored events, without any recovery")
    .option("--from <seq>", "from this event on", wholeNumber(0), 0)
    .action(async (options: SessionOptions & { from: number }) => {
      await withBackend(cli, options, async (store) => {
        const { meta, events } = await store.readFrom(options.id, options.from, { signal: cli.signal });
        cli.result({ meta, events }, () => events.map((event) => JSON.stringify(event)).join("\n"));
      });
    });
  sessionCommand(group, "recover", "recover a log, also from damage at its end; what is cut off is kept beside it")
    .option("--dry-run", "only say what would be done")
    .action(async (options: SessionOptions & { dryRun?: boolean }) => {
      await withBackend(cli, options, async (store) => {
        const { id } = options;
        const recovery =
          options.dryRun === true
            ? (await store.verify(id, { signal: cli.signal })).plan
            : await store.recover(id, { salvage: true });
        cli.result(recovery, () => recoveryText(recovery, options.dryRun === true));
      });
    });
}

function command(group: Command, name: string, description: string): Command {
  return group
    .command(name)
    .description(description)
    .requiredOption("--root <dir>", "the folder of the logs")
    .option("--compression <kind>", "how the logs are stored: zstd or none", "zstd");
}

function sessionCommand(group: Command, name: string, description: string): Command {
  return command(group, name, description).requiredOption("--id <id>", "the session");
}

async function withBackend(
  cli: CliContext,
  options: LogOptions,
  body: (store: EventLogBackend) => Promise<void>,
): Promise<void> {
  const store = new EventLogBackend({
    root: cli.resolve(options.root),
    compression: compressionOf(options.compression),
  });
  try {
    await body(store);
  } finally {
    await store.dispose();
  }
}

function compressionOf(kind: string): Compression {
  if (kind === "zstd" || kind === "none") return kind;
  throw new StoreError("usage", { message: `There is no compression "${kind}"; it is zstd or none.` });
}

function listing(cli: CliContext, sessions: readonly LogEntry[]): string {
  if (sessions.length === 0) return "No agent sessions.";
  const rows = sessions.map(({ header }) => [timeOf(header.createdAt), cell(header.cwd ?? ""), cell(header.id)]);
  const columns = [{ head: "created" }, { head: "project", flexible: true }, { head: "session" }];
  return `${renderTable(cli, columns, rows)}\n\n${plural(sessions.length, "session")}`;
}

function transcript(cli: CliContext, meta: EventLogHeader, events: readonly LogEvent[]): string {
  const head = `${cli.style.bold(cell(meta.id))}  ${timeOf(meta.createdAt)}  ${plural(events.length, "event")}`;
  const messages = events.flatMap((event) => {
    const message = messageTextOf(event);
    return message === undefined ? [] : [`${cli.style.dim(message.role)}\n${message.text}`];
  });
  return [head, ...messages].join("\n\n");
}

/** A time beyond the calendar is shown as its number. */
function timeOf(epochMs: number): string {
  return epochMs <= 8.64e15 ? formatTime(new Date(epochMs).toISOString()) : String(epochMs);
}

function recoveryText({ action, kept, eventsBefore, eventsAfter }: LogRecovery, isDryRun: boolean): string {
  if (action === "none") return "Nothing to recover.";
  const added = eventsAfter - eventsBefore;
  const what = {
    "append-closers": "ends the interrupted turn",
    "terminate-line": "ends the last line",
    "cut-torn-tail": "cuts off an unfinished write",
    salvage: "cuts off what cannot be read",
  }[action];
  const where = kept === null ? "" : ` What was cut off is in ${kept}.`;
  return `${isDryRun ? "Would recover" : "Recovered"}: ${what}; ${plural(added, "event")} added.${where}`;
}

function lineOf(problem: LogProblem): string {
  return `${problem.path}: ${problem.message} [${problem.code}]`;
}
