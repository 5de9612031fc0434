import { type Command } from "commander";
import { type Session } from "../../session/session";
import { type CliContext, type RootOptions } from "../context";
import { addRootOption } from "../options";
import { plural } from "../output/format";

export function register(program: Command, cli: CliContext): void {
  const command = program
    .command("inspect")
    .description("check a session's log: its verdict, what is wrong, and whether it can be recovered")
    .argument("<session>", "location or id");
  addRootOption(command)
    .addHelpText(
      "after",
      "\nExamples:\n  persyk inspect ./sessions/my-talk\n  persyk inspect SESSION --json\n\nWrites nothing. Exits with 1 when the log is not valid.",
    )
    .action(async (reference: string, options: RootOptions) => {
      await cli.withSession(reference, options, async (session) => {
        const report = toReport(session);
        cli.result(report, () => describe(cli, session, report));
        if (!report.authoritative) cli.exitCode = 1;
      });
    });
}

interface Report {
  verdict: Session["verdict"];
  authoritative: boolean;
  recoverable: Session["recoverable"];
  committedEntries: number;
  sessionId: string | null;
  leaf: string | null;
  diagnostics: { code: string; line: number | null; offset: number | null; message: string }[];
}

function toReport(session: Session): Report {
  const { verdict, recoverable, entryCount, id, leaf, diagnostics } = session;
  return {
    verdict,
    authoritative: verdict === "valid",
    recoverable,
    committedEntries: entryCount,
    sessionId: id === "" ? null : id,
    leaf,
    diagnostics: diagnostics.map(({ code, line, offset, message }) => ({
      code,
      line: line ?? null,
      offset: offset ?? null,
      message,
    })),
  };
}

const remedies: Record<Session["recoverable"], string> = {
  no: "",
  "add-newline": "The last record only lacks its line end: `persyk recover` adds it.",
  "truncate-fragment": "The last record was torn: `persyk recover` keeps the fragment beside the log and cuts it off.",
};

function describe(cli: CliContext, session: Session, report: Report): string {
  const { style } = cli;
  const paint = report.verdict === "valid" ? style.green : report.verdict === "tail-pending" ? style.yellow : style.red;
  const lines = [
    `${paint(style.bold(report.verdict))}  ${plural(report.committedEntries, "entry", "entries")}`,
    `${style.dim("session")}   ${report.sessionId ?? "unknown"}`,
    `${style.dim("location")}  ${session.location}`,
    `${style.dim("leaf")}      ${report.leaf ?? "none"}`,
  ];
  for (const { code, line, offset, message } of report.diagnostics) {
    const place = line === null ? "" : `line ${line}${offset === null ? "" : `, byte ${offset}`}: `;
    lines.push(`${style.yellow("•")} ${place}${message} ${style.dim(`[${code}]`)}`);
  }
  if (report.recoverable !== "no") lines.push(remedies[report.recoverable]);
  return lines.join("\n");
}
