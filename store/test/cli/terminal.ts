import { spawnSync } from "node:child_process";
import path from "node:path";
import { z } from "zod";
import { hasProgram } from "./installed";

export interface TerminalRun {
  argv: readonly string[];
  cwd: string;
  env: Record<string, string>;
  piped?: readonly ("stdin" | "stdout" | "stderr")[];
  columns?: number;
  /** What is typed once a text is on the screen. */
  keys?: readonly (readonly [string, string])[];
}

const answer = z.object({
  /** Negative: the signal that ended it. */
  exitCode: z.number(),
  /** Everything that the terminal got, escape sequences included. */
  screen: z.string(),
  stdout: z.string(),
  stderr: z.string(),
  /** A text that was waited for and never came. */
  missed: z.string().optional(),
});
export type TerminalAnswer = z.infer<typeof answer>;

/** Runs a program in a real terminal of its own. */
export function inTerminal(run: TerminalRun): TerminalAnswer {
  const program = path.join(__dirname, "programs/terminal.py");
  const { stdout, stderr } = spawnSync("python3", [program], {
    input: JSON.stringify(run),
    encoding: "utf8",
    maxBuffer: 64 * 1_048_576,
  });
  if (stderr !== "") throw new Error(stderr);
  return answer.parse(JSON.parse(stdout));
}

/** Tests in a terminal need Python 3; without it they are listed as skipped. */
export const withTerminal = hasProgram("python3") ? test : test.skip;

const escape = "\u001b";
const sequence = new RegExp(`${escape}\\[[0-9;?]*[A-Za-z]|${escape}[78]`, "g");
const startOver = new RegExp(`\r|${escape}\\[[0-9]*[GK]`);

/** The lines that a person sees in the end: what was drawn over is gone, colours too. Bars are drawn in whole lines. */
export function linesOn(screen: string): string[] {
  return screen.split(/\r?\n/).map((line) => (line.split(startOver).at(-1) ?? "").replace(sequence, ""));
}
