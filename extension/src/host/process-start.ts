import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { errnoName } from "../capture/errno";

/**
 * When the system started a process, as text that only serves to be compared; empty when there is no such process. A pid
 * alone is not an identity: the system gives it to another process sooner or later.
 */
export function processStart(pid: number): string {
  return process.platform === "linux" ? fromProc(pid) : fromPs(pid);
}

function fromProc(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The command's name is in parentheses and may hold spaces; the state is field 3, the start time field 22.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? "" : (fields[19] ?? "");
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return "";
  }
}

function fromPs(pid: number): string {
  try {
    const args = ["-o", "stat=,lstart=", "-p", String(pid)];
    const line = execFileSync("/bin/ps", args, {
      encoding: "utf8",
      env: { LC_ALL: "C" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [state = "Z", ...start] = line.trim().split(/\s+/);
    return state.startsWith("Z") ? "" : start.join(" ");
  } catch {
    // `ps` ends with an error when the process is gone.
    return "";
  }
}
