import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { StoreError } from "../errors";

/** The one environment variable that moves the lock files; read here and nowhere else. */
const LOCK_DIRECTORY_VARIABLE = "PERSYK_LOCK_DIRECTORY";

/**
 * Where the lock files of this user live. Never inside a session root: a synced folder would carry a lock to another
 * computer, where it looks abandoned. Every program of one user must come to the same answer.
 */
export function defaultLockDirectory(
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const chosen = env[LOCK_DIRECTORY_VARIABLE];
  if (chosen !== undefined && chosen !== "") {
    if (isAbsolute(chosen)) return chosen;
    throw new StoreError("usage", { message: `${LOCK_DIRECTORY_VARIABLE} must be an absolute path.` });
  }
  if (platform === "darwin") return join(homedir(), "Library", "Application Support", "persyk", "locks");
  const state = env["XDG_STATE_HOME"];
  const base = state !== undefined && isAbsolute(state) ? state : join(homedir(), ".local", "state");
  return join(base, "persyk", "locks");
}
