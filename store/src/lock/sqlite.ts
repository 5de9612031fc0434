/** The little of `node:sqlite` that the kernel lock uses. */
export interface SqliteDatabase {
  exec(sql: string): void;
  close(): void;
}

interface SqliteModule {
  DatabaseSync: new (path: string) => SqliteDatabase;
}

let loaded: SqliteModule | undefined;

/**
 * Loads the built-in `node:sqlite`. Node announces the module as experimental on its first use; only BEGIN and ROLLBACK
 * on an empty file are used here, so that one announcement, and no other warning, is kept off the user's terminal.
 * Throws where Node has no such module (before 22.13).
 */
export function loadSqlite(): SqliteModule {
  if (loaded === undefined) {
    const emitWarning = process.emitWarning;
    process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
      const text = warning instanceof Error ? warning.message : warning;
      if (!text.includes("SQLite")) Reflect.apply(emitWarning, process, [warning, ...rest]);
    };
    try {
      loaded = process.getBuiltinModule("node:sqlite");
    } finally {
      process.emitWarning = emitWarning;
    }
  }
  return loaded;
}
