import { type Command } from "commander";
import { toDocument } from "../../library/export/document";
import { readTranscript } from "../../library/transcript";
import { type LibraryDiagnostic } from "../../library/types";
import { copyToClipboard } from "../clipboard";
import { type CliContext, type RootOptions } from "../context";
import { addRootOption } from "../options";
import { printDiagnostics } from "../output/diagnostics";
import { cell } from "../output/format";
import { renderTranscript } from "../output/transcript";

interface LastOptions extends RootOptions {
  copy?: boolean;
}

export function register(program: Command, cli: CliContext): void {
  const command = program.command("last").description("the newest transcript: of the session that was spoken to last");
  addRootOption(command)
    .option("--copy", "put its text on the clipboard")
    .addHelpText(
      "after",
      "\nExamples:\n  persyk last\n  persyk last --copy\n\nExits with 1 when no session has any text.",
    )
    .action(async (options: LastOptions) => {
      const diagnostics: LibraryDiagnostic[] = [];
      const onDiagnostic = (diagnostic: LibraryDiagnostic): void => void diagnostics.push(diagnostic);
      const last = await cli.library(options).last({ signal: cli.signal, onDiagnostic });
      printDiagnostics(cli, diagnostics);
      if (last === null) {
        cli.exitCode = 1;
        cli.result({ id: null, diagnostics }, () => "No session has any text yet.");
        return;
      }
      const { session, text } = last;
      try {
        const transcript = await readTranscript(session, undefined, { signal: cli.signal });
        if (options.copy === true) {
          await copyToClipboard(text);
          cli.note(`Copied the transcript of ${cell(transcript.label)} (${session.id}).`);
        }
        cli.result({ ...toDocument(transcript), text, diagnostics }, () => renderTranscript(cli, transcript));
      } finally {
        await session.close();
      }
    });
}
