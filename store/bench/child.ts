import { spawnSync } from "node:child_process";
import { peakResidentKilobytes } from "./peak";

/**
 * Peak memory of one piece of work, measured in a process of its own: this program again, told in the environment what
 * to do. Resident, in bytes.
 */
export function peakMemory(work: string, ...values: string[]): number {
  const script = process.argv[1];
  if (script === undefined) throw new Error("the benchmark has no script of its own");
  const result = spawnSync(process.execPath, [script, "--work", work, ...values], { encoding: "utf8" });
  if (result.status !== 0) throw new Error(`${work} failed: ${result.stderr}`);
  return Number(result.stdout) * 1024;
}

/** What the child prints: its peak resident memory in kB. */
export function reportPeak(): void {
  process.stdout.write(`${peakResidentKilobytes()}\n`);
}

/** `84 MB`. */
export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
