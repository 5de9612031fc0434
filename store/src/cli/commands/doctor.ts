import path from "node:path";
import { type Command } from "commander";
import { type LibraryDiagnostic, type SessionSummary } from "../../library/types";
import { isProjectable } from "../../log/verdict";
import { type CliContext, type RootOptions } from "../context";
import {
  checkLocks,
  checkRoots,
  checkTools,
  type LockReport,
  type RootReport,
  type ToolReport,
} from "../doctor/checks";
import { addRootOption, wholeNumber } from "../options";
import { cell, formatTime, plural } from "../output/format";
import { version } from "../version";

interface DoctorOptions extends RootOptions {
  sessions: number;
}

interface Report {
  version: string;
  node: string;
  platform: string;
  roots: RootReport[];
  locks: LockReport;
  tools: ToolReport[];
  /** The newest sessions that were looked at. */
  examined: number;
  /** Sessions with an interrupted recording, or a torn tail: both can be recovered. */
  interrupted: Pick<SessionSummary, "id" | "location" | "createdAt" | "label" | "verdict">[];
  /** Sessions that cannot be read as they should be. */
  damaged: Pick<SessionSummary, "id" | "location" | "createdAt" | "label" | "verdict">[];
  diagnostics: LibraryDiagnostic[];
  ok: boolean;
}

export function register(program: Command, cli: CliContext): void {
  const command = program
    .command("doctor")
    .description("what is configured, what is found, what would be used, what is interrupted");
  addRootOption(command)
    .option("--sessions <n>", "look at so many of the newest sessions", wholeNumber(0), 200)
    .addHelpText(
      "after",
      "\nExamples:\n  persyk doctor\n  persyk doctor --json\n\nPrints no secrets and changes nothing. Exits with 1 when something needs attention.",
    )
    .action(async (options: DoctorOptions) => {
      const report = await examine(cli, options);
      cli.result(report, () => describe(cli, report));
      if (!report.ok) cli.exitCode = 1;
    });
}

async function examine(cli: CliContext, options: DoctorOptions): Promise<Report> {
  const library = cli.library(options);
  const progress = cli.progress("reading", "sessions");
  const page =
    options.sessions === 0
      ? { sessions: [], diagnostics: [] }
      : await library
          .list({ limit: options.sessions, signal: cli.signal, onProgress: progress.update })
          .finally(progress.stop);
  const brief = ({ id, location, createdAt, label, verdict }: SessionSummary): Report["damaged"][number] => ({
    id,
    location,
    createdAt,
    label,
    verdict,
  });
  const roots = await checkRoots(library.roots);
  cli.signal.throwIfAborted();
  const locks = checkLocks(cli.io.env);
  const damaged = page.sessions.filter(({ verdict }) => verdict === "unreadable" || !isProjectable(verdict)).map(brief);
  const usable = roots.every(({ state, from }) => state === "ok" || (state === "missing" && from === "default"));
  return {
    version,
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    roots,
    locks,
    tools: checkTools(cli.io.env, path.resolve(__dirname, "..")),
    examined: page.sessions.length,
    interrupted: page.sessions
      .filter((session) => session.interrupted || session.verdict === "tail-pending")
      .map(brief),
    damaged,
    diagnostics: page.diagnostics,
    ok: usable && locks.kernelLock !== "none" && damaged.length === 0,
  };
}

const rootStates: Record<RootReport["state"], string> = {
  ok: "ok",
  missing: "not there yet",
  "read-only": "read only",
  unreadable: "cannot be read",
};

function describe(cli: CliContext, report: Report): string {
  const { style } = cli;
  const mark = (good: boolean): string => (good ? style.green("✓") : style.yellow("!"));
  const lines = [
    `persyk ${report.version}  ${style.dim(`Node ${report.node}, ${report.platform}`)}`,
    "",
    style.bold("Session roots"),
  ];
  for (const root of report.roots) {
    const good = root.state === "ok" || (root.state === "missing" && root.from === "default");
    const notes = [
      root.from,
      rootStates[root.state],
      plural(root.sessions, "session"),
      ...(root.writesGoHere ? ["new sessions go here"] : []),
    ];
    lines.push(`${mark(good && !root.synced)} ${root.path}  ${style.dim(notes.join(", "))}`);
    if (root.synced)
      lines.push("  A sync service owns this folder: files may be evicted, and locks do not reach other computers.");
  }
  lines.push("", style.bold("Locks"));
  lines.push(
    `${mark(report.locks.kernelLock !== "none")} ${report.locks.directory}  ${style.dim(`kernel lock: ${report.locks.kernelLock}`)}`,
  );
  lines.push("", style.bold("Programs"));
  for (const tool of report.tools) {
    lines.push(
      `${tool.path === null ? style.dim("–") : style.green("✓")} ${tool.name}  ${style.dim(`${tool.what}: ${tool.path ?? "not found"}`)}`,
    );
  }
  lines.push("", style.bold(`Sessions`) + style.dim(`  the newest ${report.examined}`));
  if (report.interrupted.length === 0 && report.damaged.length === 0)
    lines.push(`${style.green("✓")} nothing interrupted, nothing damaged`);
  for (const session of report.interrupted) {
    lines.push(
      `${style.yellow("!")} interrupted: ${cell(session.label) || "(no text)"}  ${style.dim(`${when(session)}${session.location}`)}`,
    );
  }
  if (report.interrupted.length > 0) lines.push(style.dim("  Look first with `persyk recover SESSION --dry-run`."));
  for (const session of report.damaged) {
    lines.push(`${style.red("!")} ${session.verdict}: ${style.dim(`${when(session)}${session.location}`)}`);
  }
  for (const { code, message, location } of report.diagnostics) {
    lines.push(`${style.yellow("!")} ${message} ${style.dim(`${location ?? ""} [${code}]`)}`);
  }
  return lines.join("\n");
}

function when({ createdAt }: { createdAt: string | null }): string {
  return createdAt === null ? "" : `${formatTime(createdAt)}  `;
}
