import { spawn } from "node:child_process";
import path from "node:path";
import { node22, root } from "./node22.mjs";

/** The environment in which `node` means Node 22 and the project's own tools are found first. */
export function toolEnvironment(extra = {}) {
  const bins = [path.dirname(node22()), path.join(root, "node_modules", ".bin")];
  return { ...process.env, PATH: [...bins, process.env.PATH ?? ""].join(path.delimiter), ...extra };
}

/** Runs a program with inherited stdio and resolves with its exit code; signals are passed on. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: "inherit", cwd: root, ...options });
    const forward = (signal) => child.kill(signal);
    process.on("SIGINT", forward);
    process.on("SIGTERM", forward);
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      process.off("SIGINT", forward);
      process.off("SIGTERM", forward);
      resolve(code ?? (signal === "SIGINT" ? 130 : 1));
    });
  });
}

/** Runs a JavaScript file of node_modules on Node 22. */
export function runTool(relativePath, args, options = {}) {
  return run(node22(), [path.join(root, "node_modules", relativePath), ...args], {
    env: toolEnvironment(),
    ...options,
  });
}
