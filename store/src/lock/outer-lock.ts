/**
 * The outer lock: a folder made by proper-lockfile. It gives waiting, clean-up after a dead holder and a lock that can
 * be seen; it does not give safety, because a stopped or delayed holder loses it without notice. So everything here
 * that could hurt another holder is guarded by the identity of the folder: the library itself removes by path.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { lock } from "proper-lockfile";
import { errnoName } from "../platform/errno";
import { identityOf, sameIdentity, type FileIdentity } from "../platform/pinned-directory";

/** Equal in every program that writes to the same sessions. */
export interface LockTimes {
  /** A lock that was not refreshed for this long is taken over. */
  staleMs: number;
  /** How often a holder refreshes its lock. */
  updateMs: number;
}

/** With a kernel lock behind it a false takeover is harmless, and a terminated worker blocks the next writer briefly. */
export const TIMES_WITH_KERNEL_LOCK: LockTimes = { staleMs: 5_000, updateMs: 1_000 };
/** Without one, only patience protects. */
export const TIMES_WITHOUT_KERNEL_LOCK: LockTimes = { staleMs: 60_000, updateMs: 5_000 };

export interface OuterLock {
  /** False once the lock is known or seen to belong to somebody else. */
  isHeld(): boolean;
  /** Frees the lock, unless it belongs to somebody else by now. */
  release(): Promise<void>;
}

function folderIdentity(path: string): FileIdentity | undefined {
  // On a local folder this is microseconds; the check has to sit right before a write, so nothing may come between.
  const stat = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : identityOf(stat);
}

function isSame(a: FileIdentity | undefined, b: FileIdentity | undefined): boolean {
  return a !== undefined && b !== undefined && sameIdentity(a, b);
}

type Callback = (error: NodeJS.ErrnoException | null) => void;

/** The file operations that proper-lockfile sees. Its removals, also the one at process exit, spare a stranger's lock. */
class GuardedFs {
  #mine: FileIdentity | undefined;
  #abandoned: FileIdentity | undefined;
  readonly #trustFutureMs: number;

  constructor(trustFutureMs: number) {
    this.#trustFutureMs = trustFutureMs;
  }

  get mine(): FileIdentity | undefined {
    return this.#mine;
  }

  readonly mkdir = (path: string, done: Callback): void => {
    fs.mkdir(path, { mode: 0o700 }, (error) => {
      if (error === null) this.#mine = folderIdentity(path);
      done(error);
    });
  };

  readonly stat = (path: string, done: (error: NodeJS.ErrnoException | null, stat: fs.Stats) => void): void => {
    const judged = folderIdentity(path);
    fs.lstat(path, (error, stat) => {
      // A dead holder whose clock was ahead left a lock from the future, which would never grow old.
      if (error === null && this.#mine === undefined && stat.mtimeMs > Date.now() + this.#trustFutureMs) {
        stat.mtime = new Date(0);
      }
      this.#abandoned = judged;
      done(error, stat);
    });
  };

  readonly utimes = fs.utimes;

  /** Recursive, because a stray file that some tool put into the folder must not keep the lock for ever. */
  readonly rmdir = (path: string, done: Callback): void => {
    if (this.#mayRemove(path)) fs.rm(path, { recursive: true, force: true }, done);
    else done(null);
  };

  readonly rmdirSync = (path: string): void => {
    if (this.#mayRemove(path)) fs.rmSync(path, { recursive: true, force: true });
  };

  /** Its own lock, or before it has one the abandoned lock that it judged. */
  #mayRemove(path: string): boolean {
    return isSame(this.#mine ?? this.#abandoned, folderIdentity(path));
  }
}

/** Takes the outer lock, or answers undefined when somebody holds it. */
export async function tryOuterLock(directory: string, name: string, times: LockTimes): Promise<OuterLock | undefined> {
  const path = join(directory, `${name}.folder`);
  const guarded = new GuardedFs(times.staleMs);
  let compromised = false;
  let release: () => Promise<void>;
  try {
    release = await lock(path, {
      lockfilePath: path,
      realpath: false,
      stale: times.staleMs,
      update: times.updateMs,
      fs: guarded,
      onCompromised: () => {
        compromised = true;
      },
    });
  } catch (error) {
    // ENOENT: the folder went away between two steps of somebody's takeover.
    const reason = errnoName(error);
    if (reason === "ELOCKED" || reason === "ENOENT") return undefined;
    throw error;
  }
  return {
    isHeld: () => !compromised && isSame(guarded.mine, folderIdentity(path)),
    async release() {
      if (compromised) return;
      try {
        await release();
      } catch (error) {
        // The folder stays behind and is taken over as stale; the work that it protected is done.
        if (errnoName(error) === undefined) throw error;
      }
    },
  };
}
