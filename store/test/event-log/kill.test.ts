/** kill -9 at any moment of creating, appending and repairing: what was acknowledged is there, once, and both sides read it. */
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { isStoreError } from "../../src/errors";
import { Reference } from "./reference";
import { backend, freshRoot, LOCKS, meta } from "./support";

const reference = new Reference();
afterAll(() => reference.close());

const ROUNDS = Number(process.env["PERSYK_ROUNDS"] ?? 40);

let program = "";
beforeAll(() => {
  const folder = freshRoot();
  mkdirSync(folder);
  program = join(folder, "kill-writer.cjs");
  buildSync({
    entryPoints: [join(__dirname, "kill-writer.ts")],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node22",
    logLevel: "error",
  });
});

/** Starts a writer, kills it so many milliseconds after its first (or another) sign of life, and tells what it acknowledged. */
async function runAndKill(
  args: string[],
  lifeMs: number,
  sign = "\n",
): Promise<{ loaded: number; acked: number; output: string }> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  let armed = false;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
    if (armed || !output.includes(sign)) return;
    armed = true;
    setTimeout(() => child.kill("SIGKILL"), lifeMs);
  });
  await ended;
  const last = (word: string): number =>
    Number(
      output
        .split("\n")
        .findLast((line) => line.startsWith(word))
        ?.split(" ")[1] ?? 0,
    );
  return { loaded: last("loaded"), acked: last("acked"), output };
}

describe.each(["zstd", "none"] as const)("%s", (compression) => {
  it(`keeps every acknowledged event over ${ROUNDS} kills of the writer`, async () => {
    const root = freshRoot();
    let known = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      // A new session now and then keeps the log, and the test, from growing without end.
      const id = `s${Math.floor(round / 10)}`;
      const isNew = round % 10 === 0;
      if (isNew) known = 0;
      const { acked } = await runAndKill(
        [root, id, compression, LOCKS, isNew ? "create" : "append"],
        (round * 13) % 40,
      );
      const store = backend(root, { compression });
      const view = await store.inspect(id).catch((error: unknown) => {
        if (isNew && acked === 0 && isStoreError(error, "not-found")) return undefined;
        throw error;
      });
      if (view === undefined) {
        await store.create(meta(id));
        await store.append(id, [{ type: "todo/write", seq: 0, time: 0, data: {} }]);
        known = 1;
        await store.dispose();
        continue;
      }
      expect(view.events.length).toBeGreaterThanOrEqual(Math.max(acked, known));
      expect(view.events.every((event, index) => event.seq === index)).toBe(true);
      if (round % 10 === 9) {
        const theirs = await reference.mount(root, { compression });
        const { count } = await theirs.digest("inspect", id);
        expect(count).toBe(view.events.length);
        await theirs.unmount();
      }
      known = view.events.length;
      await store.dispose();
    }
  }, 300_000);
});

it("the lease of a killed writer is free at once", async () => {
  const root = freshRoot();
  const { acked } = await runAndKill([root, "s", "zstd", LOCKS, "create"], 5, "acked");
  const store = backend(root, { leaseWaitMs: 0 });
  const { events } = await store.load("s");
  expect(events.length).toBeGreaterThanOrEqual(acked);
  await store.append("s", [{ type: "todo/write", seq: events.length, time: 0, data: {} }]);
});

it("a second process is refused while the first one lives, and takes over when it is gone", async () => {
  const root = freshRoot();
  const owner = backend(root);
  await owner.create(meta("s"));
  await owner.append("s", [{ type: "turn/start", seq: 0, time: 0, data: { turn: 1 } }]);
  const refused = await runAndKill([root, "s", "zstd", LOCKS, "append", "0"], 1000);
  expect(refused.output).toBe("failed lock-busy\n");
  const running = runAndKill([root, "s", "zstd", LOCKS, "append"], 30);
  await owner.dispose();
  const { loaded } = await running;
  expect(loaded).toBe(2);
});
