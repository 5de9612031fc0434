import { spawn } from "node:child_process";

const BUSY_STATUS = 1;

/**
 * Small programs that take an exclusive, non-blocking flock on their descriptor 3. It is the caller's open file, so the
 * lock stays after they end, until the caller closes it. Node itself has no flock.
 */
const lockers: readonly (readonly [string, ...string[]])[] = [
  ["flock", "--exclusive", "--nonblock", "3"],
  ["perl", "-e", 'use Fcntl qw(:flock); open(my $f, ">>&=", 3) or exit 2; exit(flock($f, LOCK_EX | LOCK_NB) ? 0 : 1)'],
];

/** Locks an open file for as long as any copy of the descriptor is open. */
export async function lockDescriptor(fd: number): Promise<"locked" | "busy" | "unsupported"> {
  for (const [program, ...args] of lockers) {
    const status = await exitStatus(program, args, fd);
    if (status === 0) return "locked";
    if (status === BUSY_STATUS) return "busy";
  }
  return "unsupported";
}

function exitStatus(program: string, args: string[], fd: number): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ["ignore", "ignore", "ignore", fd] });
    child.once("error", () => resolve(null));
    child.once("exit", (code) => resolve(code));
  });
}
