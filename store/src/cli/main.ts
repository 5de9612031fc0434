import { Command, CommanderError } from "commander";
import { StoreError } from "../errors";
import { registerCommands } from "./commands";
import { CliContext, type CliIo } from "./context";
import { version } from "./version";

/**
 * Runs one command line and gives its exit code (0 done, 1 negative answer, 2 wrong usage, 3 could not).
 *
 * @param argv the arguments after the program's name
 */
export async function run(argv: readonly string[], io: CliIo): Promise<number> {
  const cli = new CliContext(io);
  // Known before parsing, so that a wrong usage is reported in the asked form too.
  cli.json = argv.includes("--json") && !(argv.includes("--") && argv.indexOf("--") < argv.indexOf("--json"));
  const program = createProgram(cli);
  try {
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) cli.fail(error);
    else if (error.code === "commander.help" && error.exitCode !== 0) cli.exitCode = 2;
    else if (error.exitCode !== 0) cli.fail(usageError(error));
  }
  return cli.exitCode;
}

export function createProgram(cli: CliContext): Command {
  const program = new Command("persyk");
  program
    .description("Voice sessions on disk: list, search, read, check, recover and export them.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help for a command")
    .option("--json", "one JSON document on one line instead of text")
    .showHelpAfterError(false)
    .showSuggestionAfterError(true)
    .configureHelp({ showGlobalOptions: true, styleTitle: (text) => cli.style.bold(text) })
    .configureOutput({
      writeOut: (text) => cli.io.stdout.write(text),
      writeErr: (text) => cli.io.stderr.write(text),
      // Failures are printed in one place, as one line.
      outputError: () => undefined,
      getOutHelpWidth: () => cli.columns,
      getOutHasColors: () => cli.style.isColorSupported,
    })
    .exitOverride();
  program.addHelpText("after", () => examples(cli));
  registerCommands(program, cli);
  inherit(program);
  return program;
}

/** Commands made with `command()` copy these settings; groups that are added later get them here. */
function inherit(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inherit(child);
  }
}

function usageError(error: CommanderError): StoreError {
  const message = error.message.replace(/^error: /, "").replace(/\n/g, " ");
  return new StoreError("usage", {
    message: `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.?)]$/.test(message) ? "" : "."}`,
    remedy: "Run it with --help.",
  });
}

function examples(cli: CliContext): string {
  return `
${cli.style.bold("Examples:")}
  persyk list                          the newest sessions
  persyk search "release notes"        literal search over every transcript
  persyk last --copy                   the last transcript, to the clipboard
  persyk show SESSION                  one transcript with times, recordings and gaps
  persyk export SESSION --format srt   subtitles, where times are known

SESSION is a location or a unique session id. Sessions are looked for in PERSYK_ROOT, or in
Documents/persyk/sessions, and in the folders of PERSYK_ADDITIONAL_ROOTS.

Exit codes: 0 done, 1 negative answer, 2 wrong usage, 3 could not.`;
}
