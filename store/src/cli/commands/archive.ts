import { type Command } from "commander";
import { setArchived } from "../../session/mutate";
import { type CliContext, type RootOptions } from "../context";
import { addRootOption } from "../options";

interface Options extends RootOptions {
  undo?: boolean;
}

export function register(program: Command, cli: CliContext): void {
  const command = program
    .command("archive")
    .description("put a session into the archive, or with --undo take it out")
    .argument("<session>", "location or id")
    .option("--undo", "take it out of the archive");
  addRootOption(command)
    .addHelpText("after", "\nExamples:\n  persyk archive SESSION\n  persyk archive SESSION --undo")
    .action((reference: string, options: Options) =>
      cli.withSession(reference, options, async (session) => {
        const archived = options.undo !== true;
        const entry = await setArchived(cli.appender(session), archived);
        cli.result({ ok: true, archived, entry: entry.id }, () => (archived ? "Archived." : "Out of the archive."));
      }),
    );
}
