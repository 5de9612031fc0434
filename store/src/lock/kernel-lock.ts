/**
 * The inner lock, which alone carries safety: the operating system frees it when its holder dies, and never before.
 * There are two ways to one without a native addon, tried in order and believed only after a probe:
 * - macOS: `open` with the BSD exclusive-lock flag. Linux ignores the bit, so the probe fails there.
 * - elsewhere: SQLite's byte-range lock on a dedicated empty file, through the built-in `node:sqlite`.
 */
import { chmodSync, closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errnoName } from "../platform/errno";
import { loadSqlite, type SqliteDatabase } from "./sqlite";

export interface KernelLock {
  readonly kind: "open-flag" | "sqlite";
  /** Takes the lock of a name, or answers undefined at once when another holder has it. Never blocks. */
  tryAcquire(directory: string, name: string): (() => void) | undefined;
  /** Closes what is kept open for later use. */
  close?(): void;
}

const LOCK_FILE_MODE = 0o600;
/** O_EXLOCK | O_NONBLOCK of macOS and the BSDs. */
export const BSD_EXCLUSIVE_LOCK = 0x20;
export const BSD_NONBLOCK = 0x4;

export const openFlagLock: KernelLock = {
  kind: "open-flag",
  tryAcquire(directory, name) {
    const { O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
    const flags = O_RDWR | O_CREAT | O_NOFOLLOW | BSD_EXCLUSIVE_LOCK | BSD_NONBLOCK;
    try {
      const fd = openSync(join(directory, `${name}.lock`), flags, LOCK_FILE_MODE);
      return () => closeSync(fd);
    } catch (error) {
      if (isHeldElsewhere(error)) return undefined;
      throw error;
    }
  },
};

export function isHeldElsewhere(error: unknown): boolean {
  const name = errnoName(error);
  return name === "EAGAIN" || name === "EWOULDBLOCK";
}

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
/** Opening costs twenty times what locking does, so the connections of recent sessions stay open. */
const MAX_IDLE_CONNECTIONS = 16;

/**
 * Nothing else may ever open the dedicated file: closing any descriptor of it in this process would drop the lock.
 * It is never deleted either, because a deleted lock file lets two holders in.
 */
export class SqliteKernelLock implements KernelLock {
  readonly kind = "sqlite";
  readonly #idle = new Map<string, SqliteDatabase>();

  tryAcquire(directory: string, name: string): (() => void) | undefined {
    const path = join(directory, `${name}.sqlite-lock`);
    const database = this.#take(path);
    try {
      database.exec("BEGIN IMMEDIATE");
    } catch (error) {
      if (isSqliteBusy(error)) {
        this.#keep(path, database);
        return undefined;
      }
      database.close();
      throw error;
    }
    return () => {
      database.exec("ROLLBACK");
      this.#keep(path, database);
    };
  }

  #take(path: string): SqliteDatabase {
    const idle = this.#idle.get(path);
    if (idle !== undefined) {
      this.#idle.delete(path);
      return idle;
    }
    const { DatabaseSync } = loadSqlite();
    const database = new DatabaseSync(path);
    database.exec("PRAGMA journal_mode=MEMORY");
    chmodSync(path, LOCK_FILE_MODE);
    return database;
  }

  #keep(path: string, database: SqliteDatabase): void {
    this.#idle.set(path, database);
    for (const [oldest, connection] of this.#idle) {
      if (this.#idle.size <= MAX_IDLE_CONNECTIONS) break;
      this.#idle.delete(oldest);
      connection.close();
    }
  }

  close(): void {
    for (const connection of this.#idle.values()) connection.close();
    this.#idle.clear();
  }
}

function isSqliteBusy(error: unknown): boolean {
  if (typeof error !== "object" || error === null || !("errcode" in error)) return false;
  if (typeof error.errcode !== "number") return false;
  const primary = error.errcode & 0xff;
  return primary === SQLITE_BUSY || primary === SQLITE_LOCKED;
}

/**
 * Finds the kernel lock that works in a folder, or undefined when none does. A lock is believed only when a second
 * attempt on a held one is refused.
 */
export function probeKernelLock(directory: string): KernelLock | undefined {
  if (excludes(openFlagLock, directory)) return openFlagLock;
  const sqlite = new SqliteKernelLock();
  return excludes(sqlite, directory) ? sqlite : undefined;
}

function excludes(lock: KernelLock, directory: string): boolean {
  const probes = mkdtempSync(join(directory, "probe-"));
  const held: (() => void)[] = [];
  try {
    const first = lock.tryAcquire(probes, "lock");
    if (first === undefined) return false;
    held.push(first);
    const second = lock.tryAcquire(probes, "lock");
    if (second !== undefined) held.push(second);
    return second === undefined;
  } catch {
    // A lock that cannot even be asked for does not work here, whatever the reason.
    return false;
  } finally {
    for (const release of held) release();
    lock.close?.();
    rmSync(probes, { recursive: true, force: true });
  }
}
