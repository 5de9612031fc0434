import { readFileSync } from "node:fs";

/**
 * The most memory that this process had resident since its program began, in kilobytes. Linux hands `maxRSS` on through
 * fork and exec: there the figure of a child is never below what its parent had resident when it started the child.
 */
export function peakResidentKilobytes(): number {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS;
  const kilobytes = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1];
  if (kilobytes === undefined) throw new Error("the kernel does not say how much memory was resident");
  return Number(kilobytes);
}
