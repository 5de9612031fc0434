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

interface ProcessLook {
  start(pid: number): string;
  exists(pid: number): boolean;
}

/**
 * Whether a process still is the one that started then. Where asking for the start takes a program of its own, it is
 * asked once: from then on the pid existing is enough, because whoever looks several times a second sees it free before
 * it is given to another process.
 */
export function sameProcess(
  look: ProcessLook = { start: processStart, exists },
  isStartCheap = process.platform === "linux",
): (pid: number, start: string) => boolean {
  let known = "";
  return (pid, start) => {
    if (start === "") return false;
    const identity = `${pid} ${start}`;
    const isSame = !isStartCheap && known === identity ? look.exists(pid) : look.start(pid) === start;
    known = isSame ? identity : "";
    return isSame;
  };
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return errnoName(error) === "EPERM";
  }
}
