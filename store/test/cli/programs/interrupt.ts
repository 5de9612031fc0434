/**
 * Preloaded into the command line (`node --require`): counts its file operations and, at the one with the number
 * INTERRUPT_AT, sends the process the signal INTERRUPT_WITH, or lets the operation never end (`hold`) or begin when the
 * first signal has come (`pause`). INTERRUPT_ONLY counts operations of one name only. The count is written to INTERRUPT_COUNT. What it says on standard error begins with
 * `test:`.
 */
import fs from "node:fs";
import fsp from "node:fs/promises";

const at = Number(process.env["INTERRUPT_AT"] ?? "0");
const act = process.env["INTERRUPT_WITH"] ?? "SIGINT";
const only = process.env["INTERRUPT_ONLY"];
const countFile = process.env["INTERRUPT_COUNT"];
const writeCount = fs.writeFileSync;
let count = 0;

/** Counts an operation; what it has to wait for, if anything. */
function begins(name: string): Promise<void> | undefined {
  if (only !== undefined && name !== only) return undefined;
  count += 1;
  if (count !== at) return undefined;
  if (act !== "hold" && act !== "pause") {
    process.kill(process.pid, act);
    return undefined;
  }
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.on(name, () => void process.stderr.write(`test: ${name}\n`));
  const alive = setInterval(() => undefined, 60_000);
  process.stderr.write("test: held\n");
  return new Promise((resolve) => {
    process.once("SIGINT", () => {
      if (act === "hold") return;
      clearInterval(alive);
      resolve();
    });
  });
}

function watch(owner: object, names: readonly string[], canHold: boolean, then?: (result: unknown) => void): void {
  for (const name of names) {
    const original: unknown = Reflect.get(owner, name);
    if (typeof original !== "function") throw new Error(`there is no ${name}`);
    Reflect.set(owner, name, function (this: unknown, ...given: unknown[]): unknown {
      const held = begins(name);
      if (held !== undefined && canHold) return held.then((): unknown => Reflect.apply(original, this, given));
      const result: unknown = Reflect.apply(original, this, given);
      if (then !== undefined) void Promise.resolve(result).then(then, () => undefined);
      return result;
    });
  }
}

let handlesWatched = false;
const paths = "mkdir link rename unlink rmdir readdir realpath lstat readFile writeFile chmod".split(" ");

watch(fs, ["openSync", "readSync", "writeSync"], false);
watch(fsp, paths, true);
watch(fsp, ["open"], true, (handle) => {
  if (handlesWatched || typeof handle !== "object" || handle === null) return;
  handlesWatched = true;
  watch(Object.getPrototypeOf(handle), ["read", "sync", "truncate", "writeFile", "chmod"], true);
});
process.on("exit", () => {
  if (countFile !== undefined) writeCount(countFile, String(count));
});
