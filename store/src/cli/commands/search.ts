import { type Command } from "commander";
import { type SearchHit } from "../../library/types";
import { type CliContext, type RootOptions } from "../context";
import { addRootOption, wholeNumber } from "../options";
import { printDiagnostics } from "../output/diagnostics";
import { cell, formatTime, plural } from "../output/format";

interface SearchCommandOptions extends RootOptions {
  limit: number;
  cursor?: string;
}

export function register(program: Command, cli: CliContext): void {
  const command = program
    .command("search")
    .description("literal, case-insensitive search over every transcript, newest first")
    .argument("<text>", "the text to look for; quote it when it has spaces");
  addRootOption(command)
    .option("--limit <n>", "at most so many sessions", wholeNumber(1), 50)
    .option("--cursor <cursor>", "continue after the page that gave this cursor")
    .addHelpText(
      "after",
      '\nExamples:\n  persyk search budget\n  persyk search "release notes" --limit 5 --json\n\nExits with 1 when nothing is found.',
    )
    .action(async (text: string, options: SearchCommandOptions) => {
      const { limit, cursor = null } = options;
      const progress = cli.progress("searching", "sessions");
      const page = await cli
        .library(options)
        .search(text, { limit, cursor, signal: cli.signal, onProgress: progress.update })
        .finally(progress.stop);
      cli.result(page, () => describe(cli, page.hits, page.cursor));
      printDiagnostics(cli, page.diagnostics);
      if (page.hits.length === 0) cli.exitCode = 1;
    });
}

function describe(cli: CliContext, hits: readonly SearchHit[], cursor: string | null): string {
  const { style } = cli;
  if (hits.length === 0) return "Nothing found.";
  const blocks = hits.map((hit) => {
    const head = `${style.bold(cell(hit.label) || "(no text)")}  ${style.dim(`${formatTime(hit.createdAt)}  ${hit.id}`)}`;
    return `${head}\n  ${highlight(cli, hit)}`;
  });
  const more = cursor === null ? "" : `\nMore: add --cursor ${cursor}`;
  return `${blocks.join("\n\n")}\n\n${plural(hits.length, "session")}${more}`;
}

/** The excerpt on one line with its matches marked. */
function highlight(cli: CliContext, { excerpt, matches }: SearchHit): string {
  let at = 0;
  let line = "";
  const piece = (from: number, to: number): string => oneLine(excerpt.slice(from, to));
  for (const { start, end } of matches) {
    line += piece(at, start) + cli.style.yellow(cli.style.bold(piece(start, end)));
    at = end;
  }
  return line + piece(at, excerpt.length);
}

/** White space runs as one space, control characters made visible; a piece keeps the spaces at its ends. */
function oneLine(piece: string): string {
  const inner = cell(piece);
  if (inner === "") return piece === "" ? "" : " ";
  return `${/^\s/.test(piece) ? " " : ""}${inner}${/\s$/.test(piece) ? " " : ""}`;
}
