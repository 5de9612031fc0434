import { type Command } from "commander";
import { StoreError } from "../../errors";
import { type CliContext, type RootOptions } from "../context";
import { addRootOption } from "../options";

interface Options extends RootOptions {
  yes?: boolean;
}

export function register(program: Command, cli: CliContext): void {
  const command = program
    .command("delete")
    .description("delete a whole session with its recordings; refused while one is running")
    .argument("<session>", "location or id")
    .option("--yes", "confirm the deletion");
  addRootOption(command)
    .addHelpText("after", "\nExample:\n  persyk delete SESSION --yes")
    .action(async (reference: string, options: Options) => {
      if (options.yes !== true) {
        throw new StoreError("not-confirmed", { remedy: "Add --yes to delete the session with its recordings." });
      }
      const location = await cli.locate(reference, options);
      await cli.library(options).delete(location, { confirmed: true, signal: cli.signal });
      cli.result({ ok: true, location }, () => `Deleted ${location}.`);
    });
}
