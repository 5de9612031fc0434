import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";

const root = path.join(__dirname, "../..");

/**
 * The folder of the Raycast store, made as a release makes it and built from a copy of itself, outside this repository.
 * Its dependencies are those that are installed here; the release installs them from its own lock file.
 */
test("the vendored extension builds alone and holds nothing that it should not", () => {
  const outside = mkdtempSync(path.join(os.tmpdir(), "persyk-vendored-"));
  try {
    const copy = path.join(outside, "persyk");
    run("scripts/vendor-extension.mjs", copy, "--no-lock");
    const names = readdirSync(copy, { recursive: true, encoding: "utf8" });
    for (const left of ["test", "src/quickstart", "metadata/README.md", "src/store/cli", "jest.config.cjs"]) {
      expect(names).not.toContain(left);
    }
    for (const needed of [
      "LICENSE",
      "CHANGELOG.md",
      "README.md",
      "help.md",
      "swift/Package.swift",
      "src/store/index.ts",
    ]) {
      expect(names).toContain(needed);
    }
    const sources = names.filter((name) => /\.tsx?$/.test(name) && name.startsWith("src"));
    const outsiders = sources.filter((name) => readFileSync(path.join(copy, name), "utf8").includes('"@persyk/store"'));
    expect(outsiders).toEqual([]);
    const manifest = JSON.parse(readFileSync(path.join(copy, "package.json"), "utf8"));
    expect(Object.keys(manifest.dependencies)).not.toContain("@persyk/store");
    symlinkSync(path.join(root, "node_modules"), path.join(copy, "node_modules"));
    run("scripts/ray-build.mjs", "--folder", copy, "--output", path.join(outside, "built"));
    for (const { name } of manifest.commands) expect(existsSync(path.join(outside, "built", `${name}.js`))).toBe(true);
    expect(existsSync(path.join(outside, "built/assets/session-host.cjs"))).toBe(true);
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
});

function run(script: string, ...args: string[]): void {
  const done = spawnSync(process.execPath, [path.join(root, script), ...args], { cwd: root, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`${script} failed:\n${done.stdout}\n${done.stderr}`);
}
