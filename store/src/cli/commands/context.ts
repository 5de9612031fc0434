import { InvalidArgumentError, type Command } from "commander";
import { type ContextMessage } from "../../session/context";
import { type Omission } from "../../session/targets/conversion";
import { type ContextTarget, contextTargets, isContextTarget } from "../../session/targets/targets";
import { textOfBlocks } from "../../session/text";
import { type CliContext, type RootOptions } from "../context";
import { addRootOption, leafOf, leafOption } from "../options";

interface ContextOptions extends RootOptions {
  leaf?: string;
  target?: ContextTarget;
}

const targetNames = Object.keys(contextTargets).join(", ");

export function register(program: Command, cli: CliContext): void {
  const command = program
    .command("context")
    .description("what a model would be given: the surviving messages, or their form for one API")
    .argument("<session>", "location or id");
  addRootOption(command)
    .option("--leaf <id>", "the entry to end at, or null for the empty context", leafOption)
    .option("--target <api>", `convert to the form of an API: ${targetNames}`, targetOption)
    .addHelpText(
      "after",
      "\nExamples:\n  persyk context ./sessions/my-talk --json\n  persyk context SESSION --target openai-realtime --json",
    )
    .action(async (reference: string, options: ContextOptions) => {
      await cli.withSession(reference, options, async (session) => {
        const context = await session.context(leafOf(options.leaf));
        cli.signal.throwIfAborted();
        if (options.target === undefined) {
          cli.result({ entries: context.map(({ entryId }) => entryId), messages: context }, () =>
            describe(cli, context),
          );
          return;
        }
        const { items, omitted } = contextTargets[options.target](context);
        const gone = new Set(omitted.filter(isWhole).map(({ entryId }) => entryId));
        const entries = context.map(({ entryId }) => entryId).filter((entryId) => !gone.has(entryId));
        cli.result({ entries, messages: items, omitted }, () => JSON.stringify(items, null, 2));
        for (const { entryId, reason } of omitted) cli.warn(`left out of ${entryId}: ${reason}`);
      });
    });
}

function targetOption(value: string): ContextTarget {
  if (!isContextTarget(value)) throw new InvalidArgumentError(`It must be one of ${targetNames}.`);
  return value;
}

/** Whether the whole message was left out, and not a part of it. */
function isWhole({ reason }: Omission): boolean {
  return reason === "orphan-tool-result" || reason === "repeated-tool-result" || reason === "empty-message";
}

function describe(cli: CliContext, context: readonly ContextMessage[]): string {
  const { style } = cli;
  if (context.length === 0) return style.dim("The context is empty.");
  return context
    .map(({ entryId, role, content }) => {
      const text = textOfBlocks(content);
      const others = content.filter(({ type }) => type !== "text").map(({ type }) => `[${type}]`);
      return `${style.bold(role)} ${style.dim(entryId)}\n${[text, ...others].filter((part) => part !== "").join("\n")}`;
    })
    .join("\n\n");
}
