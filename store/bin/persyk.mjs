#!/usr/bin/env node
// Runs the persyk command line on Node 22.13 or later: in this process when it is new enough, else on the Node that
// the project brings along.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const folder = path.dirname(fileURLToPath(import.meta.url));
const program = path.resolve(folder, "../dist/persyk.cjs");
const [major, minor] = process.versions.node.split(".").map(Number);
const runningIsNew = major > 22 || (major === 22 && minor >= 13);
const require = createRequire(import.meta.url);

function providedNode() {
  for (const base of [path.resolve(folder, "../node_modules"), path.resolve(folder, "../../node_modules")]) {
    const candidate = path.join(base, "node", "bin", process.platform === "win32" ? "node.exe" : "node");
    if (existsSync(candidate)) return candidate;
  }
  return null;
}

if (!existsSync(program)) {
  console.error("error: persyk is not built yet. Run `npm run build` in the project root. [not-built]");
  process.exitCode = 3;
} else if (runningIsNew) {
  require(program);
} else {
  const node = providedNode();
  if (node === null) {
    console.error("error: persyk needs Node 22.13 or later. Run `npm install` in the project root. [node-too-old]");
    process.exitCode = 3;
  } else {
    const child = spawn(node, [program, ...process.argv.slice(2)], { stdio: "inherit" });
    // This process waits for the other's answer. At a Ctrl-C the terminal has signalled both; whoever signals only this
    // one is passed on as SIGTERM, which the other counts apart.
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => child.kill("SIGTERM"));
    child.on("exit", (code, signal) => {
      process.exitCode = code ?? 128 + constants.signals[signal];
    });
  }
}
