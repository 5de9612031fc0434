import { type Command } from "commander";
import { type CliContext, type RootOptions } from "../context";
import { addRootOption } from "../options";

export function register(program: Command, cli: CliContext): void {
  const command = program.command("create").description("create an empty session in the write root");
  addRootOption(command)
    .addHelpText("after", "\nExamples:\n  persyk create\n  persyk create --root ./sessions --json")
    .action(async (options: RootOptions) => {
      const session = await cli.library(options).create({ signal: cli.signal });
      try {
        const { id, location } = session;
        cli.result({ id, location }, () => `${location}\n${cli.style.dim("session")}  ${id}`);
      } finally {
        await session.close();
      }
    });
}
