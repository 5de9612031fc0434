/** The command line as it lies on a user's disk: bundle, launcher and `persyk` on the PATH, made once a test file. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { buildSync } from "esbuild";
import { temporaryFolder } from "../library/sessions";
import { project } from "../docs/generated";

export interface Installed {
  /** The bundle, for the Node that runs the tests. */
  program: string;
  /** The launcher that chooses a Node. */
  launcher: string;
  /** A folder for the PATH that holds `persyk` and the Node that runs the tests. */
  bin: string;
}

/** Builds the command line from its sources, as `npm run build` does, and lays it out as npm would. */
export function install(): Installed {
  const folder = path.join(temporaryFolder(), "store");
  const program = path.join(folder, "dist", "persyk.cjs");
  buildSync({
    entryPoints: [path.join(project, "store/src/cli/bin.ts")],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node22",
    external: ["clipboardy"],
    logLevel: "error",
  });
  const launcher = path.join(folder, "bin", "persyk.mjs");
  const bin = path.join(folder, "path");
  for (const made of [path.dirname(launcher), bin]) mkdirSync(made, { recursive: true });
  copyFileSync(path.join(project, "store/bin/persyk.mjs"), launcher);
  symlinkSync(path.join(project, "node_modules"), path.join(folder, "node_modules"));
  symlinkSync(launcher, path.join(bin, "persyk"));
  symlinkSync(process.execPath, path.join(bin, "node"));
  return { program, launcher, bin };
}

/** Whether a program is there; tests that need one that is not are listed as skipped, and `.ci/run` installs it. */
export function hasProgram(name: string, argument = "--version"): boolean {
  return spawnSync(name, [argument], { stdio: "ignore" }).error === undefined;
}
