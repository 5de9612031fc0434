/**
 * Takes a lock as told on the command line: `lock-user <lock folder> <trace file> <name> <mode> [count]`.
 * Modes: `hold` (until a line comes in), `count` (adds to a counter file without any other protection).
 * With LOCK_WEAK the kernel lock is left out; LOCK_STALE_MS sets the outer lock's stale time.
 */
import * as fs from "node:fs";
import { createInterface } from "node:readline";
import { LayeredLock, type LayeredLockOptions } from "../../../src/lock/session-lock";

const [directory = "", trace = "", name = "", mode = "", count = "1"] = process.argv.slice(2);
const stale = process.env["LOCK_STALE_MS"];
const options: LayeredLockOptions = {
  directory,
  ...(process.env["LOCK_WEAK"] === undefined ? {} : { kernelLock: undefined }),
  ...(stale === undefined ? {} : { times: { staleMs: Number(stale), updateMs: 1_000 } }),
};
const target = { dev: 1n, ino: 7n, location: "here" };
const lock = new LayeredLock(options);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function main(): Promise<void> {
  if (mode === "hold") {
    await lock.withLock(target, { deadlineMs: 60_000 }, async (guard) => {
      fs.appendFileSync(trace, `${name}-in\n`);
      console.log("in");
      await lines.next();
      let held = "held";
      try {
        guard.assertHeld();
      } catch {
        held = "lost";
      }
      fs.appendFileSync(trace, `${name}-out\n`);
      console.log(`out ${held}`);
    });
    console.log("released");
    return;
  }
  for (let index = 0; index < Number(count); index += 1) {
    await lock.withLock(target, { deadlineMs: 60_000 }, async () => {
      const before = Number(fs.readFileSync(trace, "utf8"));
      await new Promise((resolve) => setImmediate(resolve));
      fs.writeFileSync(trace, String(before + 1));
    });
    if (index % 7 === 0) await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
