import { type Command } from "commander";
import { type RecoverReport } from "../../session/recover";
import { type CliContext, type RootOptions } from "../context";
import { addRootOption } from "../options";

interface Options extends RootOptions {
  dryRun?: boolean;
}

export function register(program: Command, cli: CliContext): void {
  const command = program
    .command("recover")
    .description("repair a torn end of the log and recordings whose writer died; keeps what it cuts off")
    .argument("<session>", "location or id")
    .option("--dry-run", "say what would be done and change nothing");
  addRootOption(command)
    .addHelpText("after", "\nExamples:\n  persyk recover SESSION --dry-run\n  persyk recover SESSION")
    .action((reference: string, options: Options) =>
      cli.withSession(reference, options, async (session) => {
        // What would be refused is refused before anything is changed.
        const planned = await session.recover({ dryRun: true, signal: cli.signal });
        if (options.dryRun !== true) cli.ifCancelled = "Each step of the recovery is whole; run it again to finish it.";
        const report = options.dryRun === true ? planned : await session.recover({ signal: cli.signal });
        cli.result(report, () => describe(cli, report, options.dryRun === true));
      }),
    );
}

const actions: Record<RecoverReport["action"], { would: string; did: string }> = {
  none: { would: "The log needs no repair.", did: "The log needed no repair." },
  "add-newline": { would: "Would add the missing line end.", did: "Added the missing line end." },
  "truncate-fragment": { would: "Would keep the torn fragment and cut it off.", did: "Cut off the torn fragment." },
};

function describe(cli: CliContext, report: RecoverReport, dryRun: boolean): string {
  const { style } = cli;
  const { action, kept, bytesBefore, bytesAfter } = report;
  const lines = [dryRun ? actions[action].would : actions[action].did];
  if (kept !== null) lines.push(`${style.dim("kept")}   ${kept}`);
  if (bytesBefore !== bytesAfter) lines.push(`${style.dim("bytes")}  ${bytesBefore} → ${bytesAfter}`);
  for (const { recordingId, outcome, durationMs, reason } of report.recordings) {
    const length = durationMs === null ? "" : `, ${(durationMs / 1_000).toFixed(1)} s`;
    lines.push(
      `${style.yellow("•")} recording ${recordingId}: ${outcome}${length}${reason === null ? "" : ` (${reason})`}`,
    );
  }
  return lines.join("\n");
}
