import * as fs from "node:fs";
import { join } from "node:path";
import { lockName } from "../../src/lock/lock-target";
import { createSession } from "../../src/session/create";
import { openSession } from "../../src/session/session";
import { Program, bundleProgram, removeBundles, rounds, until } from "../support/program";
import { idsIn, message, readLog, Sandbox } from "../support/sandbox";

// Loops of processes and syncs: generous, for a machine that does other things as well.
jest.setTimeout(600_000);

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.remove());
afterAll(removeBundles);

const writer = (args: readonly string[], env: Record<string, string> = {}): Program =>
  Program.node(bundleProgram("writer"), [sandbox.locks, ...args], env);

/** Every process has a branch of its own: its entries in its order, each after the one before. */
async function expectBranches(location: string, names: readonly string[], count: number): Promise<void> {
  const session = await openSession(location, sandbox.context);
  expect(session).toMatchObject({ verdict: "valid", entryCount: names.length * count });
  expect(new Set(idsIn(readLog(location))).size).toBe(names.length * count);
  for (const name of names) {
    const branch = await session.history(`${name}-${count - 1}`);
    expect(branch.map((entry) => entry.id)).toEqual(Array.from({ length: count }, (_, index) => `${name}-${index}`));
  }
  await session.close();
}

test.each([2, 4])("%i processes with 500 appends each lose, double, tear and rebase nothing", async (processes) => {
  const session = await createSession(sandbox.root, sandbox.context);
  const names = Array.from({ length: processes }, (_, index) => `p${index}`);
  await Promise.all(names.map((name) => writer(["append", session.location, "500", name]).success()));
  await expectBranches(session.location, names, 500);
  await session.close();
});

test("a writer that is stopped past the stale time and continued damages nothing, whoever wrote meanwhile", async () => {
  const session = await createSession(sandbox.root, sandbox.context);
  const env = { LOCK_STALE_MS: "2000" };
  const first = writer(["append", session.location, "400", "stopped"], env);
  await first.line((line) => line.startsWith("ack"));
  first.signal("SIGSTOP");
  const second = writer(["append", session.location, "400", "other"], env);
  // The stopped one may be inside the lock or between two appends: either way the other waits or goes on.
  const lockFolder = fs.readdirSync(sandbox.locks).find((entry) => entry.endsWith(".folder"));
  if (lockFolder !== undefined) {
    const path = join(sandbox.locks, lockFolder);
    const birth = (): bigint => fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })?.birthtimeNs ?? 0n;
    const before = birth();
    await until(() => birth() !== before, "the lock of the stopped writer is taken over");
  } else {
    await second.line((line) => line.startsWith("ack"));
  }
  first.signal("SIGCONT");
  await Promise.all([first.success(), second.success()]);
  await expectBranches(session.location, ["stopped", "other"], 400);
  await session.close();
});

/** The folder by which the outer lock of the session is held; there is none while nobody holds it. */
function lockFolder(location: string): string {
  const { dev, ino } = fs.statSync(location, { bigint: true });
  return join(sandbox.locks, `${lockName({ dev, ino, location })}.folder`);
}

const birthOf = (path: string): bigint =>
  fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })?.birthtimeNs ?? 0n;

test.each(["stat", "write"])(
  "a writer whose thread is blocked past the stale time, in the %s of an append, damages nothing",
  async (call) => {
    const session = await createSession(sandbox.root, sandbox.context);
    const wake = join(sandbox.folder, "wake");
    const env = { LOCK_STALE_MS: "2000" };
    const first = writer(["append", session.location, "50", "blocked"], { ...env, STALL_AT: call, STALL_UNTIL: wake });
    await first.line("stalled");
    const held = birthOf(lockFolder(session.location));
    const before = readLog(session.location);
    expect(held).not.toBe(0n);
    const second = writer(["append", session.location, "50", "other"], env);
    await until(() => ![0n, held].includes(birthOf(lockFolder(session.location))), "the outer lock is taken over");
    // Robbed of the outer lock, and still the only one inside.
    expect(second.lines).toEqual([]);
    expect(readLog(session.location).equals(before)).toBe(true);
    fs.writeFileSync(wake, "");
    await Promise.all([first.success(), second.success()]);
    expect(first.lines).toContain("awake");
    await expectBranches(session.location, ["blocked", "other"], 50);
    await session.close();
  },
);

test("three processes meet the lock of a dead holder at one instant, 30 times, and lose, double and tear nothing", async () => {
  const count = rounds(30);
  const session = await createSession(sandbox.root, sandbox.context);
  const names = ["x", "y", "z"];
  const racers = names.map((name) => writer(["race", session.location, "1", name], { LOCK_STALE_MS: "2000" }));
  await Promise.all(racers.map((racer) => racer.line("ready")));
  const folder = lockFolder(session.location);
  for (let round = 0; round < count; round += 1) {
    await until(() => !fs.existsSync(folder), "nobody holds the lock");
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.utimesSync(folder, 1, 1);
    const left = birthOf(folder);
    const instantMs = Date.now() + 15;
    for (const racer of racers) racer.say(String(instantMs));
    await Promise.all(racers.map((racer, index) => racer.line(`ack ${names[index] ?? ""}-${round}`)));
    expect(birthOf(folder)).not.toBe(left);
  }
  for (const racer of racers) racer.child.stdin?.end();
  await Promise.all(racers.map((racer) => racer.success()));
  await expectBranches(session.location, names, count);
  await session.close();
});

test("a reader beside the writers never sees anything but a valid log or a pending tail", async () => {
  const session = await createSession(sandbox.root, sandbox.context);
  const writers = ["a", "b"].map((name) => writer(["batch", session.location, "20", name]));
  const ended = Promise.all(writers.map((one) => one.success()));
  let running = true;
  void ended.finally(() => (running = false)).catch(() => undefined);
  let known = 0;
  while (running) {
    await session.refresh();
    expect(["valid", "tail-pending"]).toContain(session.verdict);
    expect(session.entryCount).toBeGreaterThanOrEqual(known);
    known = session.entryCount;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await ended;
  await session.refresh();
  await session.append([message("last", "last")], { parentId: null });
  expect(session.entryCount).toBe(2 * 20 * 16 + 1);
  await session.close();
});
