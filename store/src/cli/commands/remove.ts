import { type Command } from "commander";
import { removeMessage } from "../../session/mutate";
import { type CliContext, type RootOptions } from "../context";
import { addRootOption, leafOf, leafOption } from "../options";

interface Options extends RootOptions {
  leaf?: string;
}

export function register(program: Command, cli: CliContext): void {
  const command = program
    .command("remove")
    .description("exclude a message from the transcript of its branch; it stays in the log")
    .argument("<session>", "location or id")
    .argument("<entry>", "id of the message")
    .option("--leaf <id>", "end of the branch (the last entry when left out)", leafOption);
  addRootOption(command)
    .addHelpText("after", "\nExample:\n  persyk remove SESSION ENTRY")
    .action((reference: string, entryId: string, options: Options) =>
      cli.withSession(reference, options, async (session) => {
        const entry = await removeMessage(cli.appender(session), entryId, leafOf(options.leaf));
        cli.result({ ok: true, removed: entryId, entry: entry.id }, () => `Removed ${entryId}.`);
      }),
    );
}
