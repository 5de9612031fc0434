import os from "node:os";
import path from "node:path";
import { StoreError } from "../errors";

/**
 * A folder whose direct children are sessions.
 * An `explicit` root was named by someone, so its absence is worth a diagnostic; a missing default root is an empty
 * library (Session file format, Roots and search).
 */
export interface RootSetting {
  /** Absolute. */
  path: string;
  explicit: boolean;
}

export interface LibraryRoots {
  /** Where new sessions go (`sessions.directory`). */
  writeRoot: RootSetting;
  /** Further absolute discovery roots (`sessions.additionalDirectories`). */
  additional: string[];
}

/** The write root when none is set: `Documents/persyk/sessions`, or `Documents/persyk-dev/sessions` in development. */
export function defaultWriteRoot(options: { home?: string; development?: boolean } = {}): RootSetting {
  const folder = options.development === true ? "persyk-dev" : "persyk";
  return { path: path.join(options.home ?? os.homedir(), "Documents", folder, "sessions"), explicit: false };
}

/**
 * The roots of a command line: the given folders replace the configured ones; the first is the one written to.
 * Without any, `PERSYK_ROOT` is the write root and `PERSYK_ADDITIONAL_ROOTS` lists further roots, separated like
 * `PATH`. Both must be absolute. `PERSYK_DEVELOPMENT=1` selects the default root of development.
 */
export function resolveRoots(
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
  given: readonly string[],
): LibraryRoots {
  const [first, ...rest] = given;
  if (first !== undefined) {
    return {
      writeRoot: { path: path.resolve(cwd, first), explicit: true },
      additional: rest.map((folder) => path.resolve(cwd, folder)),
    };
  }
  const { PERSYK_ROOT, PERSYK_ADDITIONAL_ROOTS, PERSYK_DEVELOPMENT, HOME } = env;
  const additional = (PERSYK_ADDITIONAL_ROOTS ?? "").split(path.delimiter).filter((folder) => folder !== "");
  for (const folder of additional) mustBeAbsolute("PERSYK_ADDITIONAL_ROOTS", folder);
  if (PERSYK_ROOT !== undefined && PERSYK_ROOT !== "") {
    mustBeAbsolute("PERSYK_ROOT", PERSYK_ROOT);
    return { writeRoot: { path: path.normalize(PERSYK_ROOT), explicit: true }, additional };
  }
  return {
    writeRoot: defaultWriteRoot({
      ...(HOME === undefined || HOME === "" ? {} : { home: HOME }),
      development: PERSYK_DEVELOPMENT === "1",
    }),
    additional,
  };
}

function mustBeAbsolute(name: string, folder: string): void {
  if (path.isAbsolute(folder)) return;
  throw new StoreError("usage", {
    message: `${name} must hold absolute paths.`,
    remedy: "Give the whole path, from the root of the disk.",
  });
}
