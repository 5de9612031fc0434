import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { spawnSync } from "node:child_process";
import { root } from "./node22.mjs";
import { buildAll } from "./bundles.mjs";

/** Installs what is missing: dependencies when they were never installed or the lock file is newer, then the bundles. */
export async function setUp({ quiet = false } = {}) {
  const marker = path.join(root, "node_modules", ".package-lock.json");
  const lock = path.join(root, "package-lock.json");
  const stale = !existsSync(marker) || statSync(lock).mtimeMs > statSync(marker).mtimeMs + 1000;
  if (stale && !lockMatches(lock, marker)) {
    if (!quiet) console.log("Installing dependencies (first run only) …");
    const npm = process.env.npm_execpath;
    const args = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
    const result =
      npm === undefined || !npm.endsWith(".js")
        ? spawnSync("npm", args, { cwd: root, stdio: "inherit" })
        : spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: "inherit" });
    if (result.status !== 0) {
      console.error(
        "Installing the dependencies failed. Check the network and the free space, then run the command again.",
      );
      process.exit(result.status ?? 1);
    }
    // The installation has made the bundles.
    return;
  }
  await buildAll({ quiet: true });
}

/** npm rewrites neither file when nothing changed, so a fresh checkout's newer times alone mean nothing. */
function lockMatches(lock, marker) {
  if (!existsSync(marker)) return false;
  const wanted = JSON.parse(readFileSync(lock, "utf8")).packages;
  const present = JSON.parse(readFileSync(marker, "utf8")).packages;
  return Object.entries(wanted).every(([name, entry]) => {
    if (name === "" || entry.link || entry.optional || entry.peer || !name.includes("node_modules/")) return true;
    return present[name]?.version === entry.version;
  });
}
