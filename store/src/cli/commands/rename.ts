import { type Command } from "commander";
import { renameSession } from "../../session/mutate";
import { type CliContext, type RootOptions } from "../context";
import { addRootOption } from "../options";

export function register(program: Command, cli: CliContext): void {
  const command = program
    .command("rename")
    .description("name a session; an empty name takes the name away")
    .argument("<session>", "location or id")
    .argument("<name>", "the new name");
  addRootOption(command)
    .addHelpText("after", '\nExample:\n  persyk rename SESSION "Design review"')
    .action((reference: string, name: string, options: RootOptions) =>
      cli.withSession(reference, options, async (session) => {
        const entry = await renameSession(cli.appender(session), name);
        const stored = entry.type === "session_info" ? (entry.name ?? "") : "";
        cli.result({ ok: true, name: stored, entry: entry.id }, () =>
          stored === "" ? "The session has no name now." : `Named "${stored}".`,
        );
      }),
    );
}
