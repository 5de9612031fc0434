import { type Command } from "commander";
import { toDocument } from "../../library/export/document";
import { readTranscript } from "../../library/transcript";
import { type CliContext, type RootOptions } from "../context";
import { addRootOption, leafOf, leafOption } from "../options";
import { printSessionDiagnostics } from "../output/diagnostics";
import { renderTranscript } from "../output/transcript";

interface ShowOptions extends RootOptions {
  leaf?: string;
}

export function register(program: Command, cli: CliContext): void {
  const command = program
    .command("show")
    .description("one transcript with times, recordings and gaps")
    .argument("<session>", "location or id");
  addRootOption(command)
    .option("--leaf <id>", "the entry to end at, or null for the empty history", leafOption)
    .addHelpText(
      "after",
      "\nExamples:\n  persyk show 0198c2f4-7d1e-7000-8000-5f3c1e9a2b11\n  persyk show ./sessions/my-talk --json",
    )
    .action(async (reference: string, options: ShowOptions) => {
      await cli.withSession(reference, options, async (session) => {
        const transcript = await readTranscript(session, leafOf(options.leaf), { signal: cli.signal });
        cli.result(toDocument(transcript), () => renderTranscript(cli, transcript));
        printSessionDiagnostics(cli, session);
      });
    });
}
