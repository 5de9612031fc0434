/** What a lock protects: a folder or file by its identity, so that two spellings of one path are one lock. */
export interface LockTarget {
  readonly dev: bigint;
  readonly ino: bigint;
  /** Where it was found; used in errors only. */
  readonly location: string;
}

/** The name of a target's lock files, equal in every process that sees the same file system. */
export function lockName(target: LockTarget): string {
  return `${target.dev.toString(16)}-${target.ino.toString(16)}`;
}
