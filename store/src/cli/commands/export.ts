import { Option, type Command } from "commander";
import { exportFormats, exportSession, type ExportFormat } from "../../library/export/export";
import { type CliContext, type RootOptions } from "../context";
import { addRootOption, leafOf, leafOption } from "../options";
import { writeWhole } from "../output/write-whole";

interface ExportCommandOptions extends RootOptions {
  format: ExportFormat;
  leaf?: string;
  out?: string;
  force?: boolean;
}

export function register(program: Command, cli: CliContext): void {
  const command = program
    .command("export")
    .description("a session as text, Markdown, JSON, subtitles or a picture")
    .argument("<session>", "location or id");
  addRootOption(command)
    .addOption(new Option("--format <format>", "the form of it").choices([...exportFormats]).makeOptionMandatory())
    .option("--leaf <id>", "the entry to end at, or null for the empty history", leafOption)
    .option("--out <file>", "write to this new file instead of standard output")
    .option("--force", "replace the file when it exists")
    .addHelpText(
      "after",
      "\nExamples:\n  persyk export SESSION --format md\n  persyk export SESSION --format srt --out talk.srt\n  persyk export SESSION --format svg --out talk.svg\n\nSubtitles hold the turns whose time in the recording is known; times are never made up.",
    )
    .action(async (reference: string, options: ExportCommandOptions) => {
      const { format, out } = options;
      const leaf = leafOf(options.leaf);
      await cli.withSession(reference, options, async (session) => {
        const progress = cli.progress("drawing");
        const text = await exportSession(session, format, {
          signal: cli.signal,
          onProgress: progress.update,
          ...(leaf === undefined ? {} : { leaf }),
        }).finally(progress.stop);
        cli.signal.throwIfAborted();
        if (out === undefined) {
          cli.write(text);
          return;
        }
        const file = cli.resolve(out);
        await writeWhole(file, text, { replace: options.force === true });
        cli.result({ ok: true, file, bytes: Buffer.byteLength(text) }, () => `Wrote ${file}`);
      });
    });
}
