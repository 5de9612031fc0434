import { readFile } from "node:fs/promises";
import { type Command } from "commander";
import { Slicer } from "../../library/discover";
import { asStoreError } from "../../platform/errno";
import { type ReplayDocument, replaySteps } from "../../realtime/replay";
import { parseTrace, type TraceLine } from "../../realtime/trace";
import { type CliContext } from "../context";
import { cell, plural } from "../output/format";
import { renderTable } from "../output/table";

export function register(program: Command, cli: CliContext): void {
  program
    .command("realtime")
    .description("the ordering of realtime provider traffic")
    .command("replay")
    .description("replay recorded traffic in virtual time: what is published, in which order, and what is missing")
    .argument("<trace>", "a trace: one JSON object a line")
    .addHelpText(
      "after",
      "\nExamples:\n  persyk realtime replay traffic.jsonl\n  persyk realtime replay traffic.jsonl --json\n\nEach line has `at` (milliseconds), `conn`, and one of `recv`, `recv_raw`, `send`, `transport`, `local`.\nWrites nothing. Exits with 0 also when the outcome is incomplete.",
    )
    .action(async (file: string) => {
      const document = await replay(cli, parseTrace(await read(cli.resolve(file), cli.signal)));
      cli.result(document, () => describe(cli, document));
    });
}

/** Replays in slices, so that a long trace shows its progress and can be cancelled. */
async function replay(cli: CliContext, trace: readonly TraceLine[]): Promise<ReplayDocument> {
  const progress = cli.progress("replaying", "records");
  const slicer = new Slicer(cli.signal);
  const steps = replaySteps(trace);
  try {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      if (!slicer.due) continue;
      progress.update(step.value, trace.length);
      await slicer.turn();
    }
  } finally {
    progress.stop();
  }
}

async function read(location: string, signal: AbortSignal): Promise<string> {
  try {
    return await readFile(location, { encoding: "utf8", signal });
  } catch (error) {
    signal.throwIfAborted();
    throw asStoreError(error, { location }, "read the trace");
  }
}

function describe(cli: CliContext, document: ReplayDocument): string {
  const { style } = cli;
  const rows = document.messages.map(({ conn, item, role, text, stopReason }) => [
    cell(conn),
    cell(item),
    role + (stopReason === undefined || stopReason === "stop" ? "" : ` (${stopReason})`),
    cell(text),
  ]);
  const columns = [{ head: "conn" }, { head: "item" }, { head: "role" }, { head: "text", flexible: true }];
  const named = ({ conn, item, response }: { conn: string; item?: string; response?: string }) =>
    cell(`${conn}/${item ?? response ?? ""}`);
  const outcome = document.outcome === "complete" ? style.green("complete") : style.yellow("incomplete");
  return [
    ...(rows.length === 0 ? [] : [renderTable(cli, columns, rows)]),
    ...document.gaps.map((gap) => `${style.yellow("gap")}      ${named(gap)}  ${gap.reason}`),
    ...document.unanswered.map(({ conn, reason }) => `${style.yellow("gap")}      ${cell(conn)}  ${reason}`),
    ...document.skipped.map((skipped) => `${style.dim("skipped")}  ${named(skipped)}  ${skipped.reason}`),
    ...document.removed.map((removed) => `${style.dim("removed")}  ${named(removed)}`),
    `${outcome}  ${plural(document.messages.length, "message")}, ${plural(document.gaps.length, "gap")}, ${plural(document.received, "received frame")}`,
  ].join("\n");
}
