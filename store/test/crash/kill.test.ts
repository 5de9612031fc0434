/**
 * Programs are killed with SIGKILL at a random moment, in hundreds of rounds. Whatever they had acknowledged is there
 * afterwards, once; every session can be read, and recovered when its tail is torn.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { inspectWav } from "../../src/assets/wav";
import { LayeredLock } from "../../src/lock/session-lock";
import { createSession } from "../../src/session/create";
import { deleteSession, finishDeletions } from "../../src/session/delete";
import { openSession, type Session } from "../../src/session/session";
import { type StoreContext } from "../../src/session/store-context";
import { Program, bundleProgram, removeBundles, rounds } from "../support/program";
import { idsIn, message, readLog, Sandbox } from "../support/sandbox";

// Loops of processes and syncs: generous, for a machine that does other things as well.
jest.setTimeout(600_000);

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = new Sandbox();
  // Compiled code is kept when a program ends by itself, which those that are killed never do.
  const root = join(sandbox.folder, "first");
  fs.mkdirSync(root);
  await Program.node(bundleProgram("writer"), [sandbox.locks, "create", root]).success();
});
afterAll(() => {
  sandbox.remove();
  removeBundles();
});

/** How many rounds run side by side. */
const PARALLEL = 3;

async function inRounds(count: number, round: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const number = next;
      next += 1;
      await round(number);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, lane));
}

/** A round has lock files of its own, so that the lock of a dead program can be cleared away without the wait. */
class Round {
  readonly locks: string;
  readonly context: StoreContext;

  constructor(name: string) {
    this.locks = join(sandbox.folder, `locks-${name}`);
    this.context = { ...sandbox.context, lock: new LayeredLock({ directory: this.locks }) };
  }

  start(args: readonly string[]): Program {
    return Program.node(bundleProgram("writer"), [this.locks, ...args]);
  }

  /** A dead holder's outer lock is waited for until it is stale; these rounds do not need to wait for it. */
  clearLocks(): void {
    for (const name of fs.existsSync(this.locks) ? fs.readdirSync(this.locks) : []) {
      if (name.endsWith(".folder")) fs.rmSync(join(this.locks, name), { recursive: true, force: true });
    }
  }
}

/** Starts a writer, waits for its first line, lets it run for a moment and kills it. Its lines are what it has said. */
async function killed(round: Round, args: readonly string[], maxMs = 15): Promise<string[]> {
  const program = round.start(args);
  await program.line(() => true);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * maxMs));
  program.signal("SIGKILL");
  await program.ended;
  if (program.stderr !== "") throw new Error(program.stderr);
  round.clearLocks();
  return program.lines;
}

const acknowledged = (lines: readonly string[]): string[] =>
  lines.filter((line) => line.startsWith("ack ")).flatMap((line) => line.split(" ").slice(1));

/** The session is readable, recoverable if need be, holds what was acknowledged, and nothing twice. */
async function expectKept(round: Round, location: string, ids: readonly string[]): Promise<Session> {
  const session = await openSession(location, round.context);
  expect(["valid", "tail-pending"]).toContain(session.verdict);
  await session.recover();
  expect(session.verdict).toBe("valid");
  const found = idsIn(readLog(location));
  const distinct = new Set(found);
  expect(distinct.size).toBe(found.length);
  expect(ids.filter((id) => !distinct.has(id))).toEqual([]);
  return session;
}

test.each([
  ["append", 100],
  ["batch", 100],
])("killed while it appends (%s), %i rounds", async (mode, count) => {
  let total = 0;
  await inRounds(rounds(count), async (number) => {
    const round = new Round(`${mode}-${number}`);
    const session = await createSession(sandbox.root, round.context, { id: `${mode}-${number}` });
    await session.close();
    const ids = acknowledged(await killed(round, [mode, session.location, "100000", "m"]));
    await (await expectKept(round, session.location, ids)).close();
    total += ids.length;
  });
  expect(total).toBeGreaterThan(count);
});

test("killed while it creates sessions, 30 rounds", async () => {
  await inRounds(rounds(30), async (number) => {
    const round = new Round(`create-${number}`);
    const root = join(sandbox.folder, `created-${number}`);
    fs.mkdirSync(root);
    const ids = acknowledged(await killed(round, ["create", root, "100000", "s"]));
    const found = fs.readdirSync(root);
    expect(found).toEqual(expect.arrayContaining(ids));
    for (const name of found) {
      // A folder without a log is no session; one with a log has its whole header.
      if (!ids.includes(name) && !fs.existsSync(join(root, name, "session.jsonl"))) continue;
      const session = await openSession(join(root, name), round.context);
      expect(session).toMatchObject({ verdict: "valid", id: name });
      await session.append([message("a", "a")], { parentId: null });
      await session.close();
    }
    fs.rmSync(root, { recursive: true });
  });
});

test("killed while it recovers, 30 rounds: no record and no fragment is lost", async () => {
  await inRounds(rounds(30), async (number) => {
    const round = new Round(`recover-${number}`);
    const session = await createSession(sandbox.root, round.context, { id: `recover-${number}` });
    await session.close();
    const lines = await killed(round, ["recover", session.location, "100000", "m"]);
    await (await expectKept(round, session.location, acknowledged(lines))).close();
    const kept = fs
      .readdirSync(session.location)
      .filter((name) => name.startsWith("session.jsonl.fragment-"))
      .map((name) => fs.readFileSync(join(session.location, name), "utf8"));
    // The last one may have been killed before it tore anything; all earlier ones were recovered.
    const torn = lines.filter((line) => line.startsWith("torn ")).map((line) => line.slice(5));
    expect(kept).toEqual(expect.arrayContaining(torn));
  });
});

test("killed while it deletes, 30 rounds: a session is there whole or gone, and the rest is finished later", async () => {
  await inRounds(rounds(30), async (number) => {
    const round = new Round(`delete-${number}`);
    const root = join(sandbox.folder, `deleted-${number}`);
    fs.mkdirSync(root);
    for (let index = 0; index < 12; index += 1) {
      const session = await createSession(root, round.context, { id: `s${index}` });
      await session.append([message("a", "a")], { parentId: null });
      const { handle } = await session.createAsset("x.bin", "application/octet-stream");
      await handle.close();
      await session.close();
    }
    const lines = await killed(round, ["delete", root]);
    const left = fs.readdirSync(root).filter((name) => !name.startsWith("."));
    for (const id of acknowledged(lines)) expect(left).not.toContain(id);
    for (const id of left) {
      expect(fs.existsSync(join(root, id, "assets", "x.bin"))).toBe(true);
      await (await expectKept(round, join(root, id), ["a"])).close();
      await deleteSession(join(root, id), round.context, { confirmed: true });
    }
    expect(await finishDeletions(root, round.context)).toBe(true);
    expect(fs.readdirSync(root)).toEqual([]);
  });
});

/** The writer takes the lock of a capture with `flock(1)`; without it the test is listed as skipped. */
const withFlock = spawnSync("flock", ["--version"]).status === 0 ? test : test.skip;

withFlock(
  "killed during a live capture, 30 rounds: refused while it lives, all that was acknowledged kept afterwards",
  async () => {
    await inRounds(rounds(30), async (number) => {
      const round = new Round(`capture-${number}`);
      const name = `capture-${number}`;
      const location = join(sandbox.root, name);
      const program = round.start(["capture", sandbox.root, "100000", name]);
      await program.line((line) => line.startsWith("ack"));
      if (number % 4 === 0) {
        const live = await openSession(location, round.context);
        await expect(live.recover()).rejects.toMatchObject({ code: "capture-live" });
        await expect(live.recover({ dryRun: true })).rejects.toMatchObject({ code: "capture-live" });
        await expect(deleteSession(location, round.context, { confirmed: true })).rejects.toMatchObject({
          code: "capture-live",
        });
        await live.close();
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 15));
      program.signal("SIGKILL");
      await program.ended;
      round.clearLocks();
      const lines = program.lines.filter((line) => line.startsWith("ack "));
      const ids = lines.map((line) => line.split(" ")[1] ?? "");
      const chunks = Number(lines.at(-1)?.split(" ")[2]);
      const session = await openSession(location, round.context);
      expect(["valid", "tail-pending"]).toContain(session.verdict);
      const report = await session.recover();
      expect(report.recordings).toHaveLength(1);
      expect(session.verdict).toBe("valid");
      expect(idsIn(readLog(location))).toEqual(expect.arrayContaining(ids));
      const [recording] = await session.recordings();
      expect(recording).toMatchObject({ state: "interrupted", durationMs: report.recordings[0]?.durationMs });
      const wav = join(location, "assets", "r1.wav");
      const inspected = await inspectWav(wav);
      if (inspected.outcome !== "intact") throw new Error(inspected.outcome);
      expect(inspected.frames).toBeGreaterThanOrEqual(chunks * 240);
      const bytes = fs.readFileSync(wav).subarray(44);
      for (let index = 0; index < chunks; index += 1) expect(bytes[index * 480]).toBe(index % 251);
      const before = fs.readFileSync(wav);
      expect(await session.recover()).toMatchObject({ action: "none", recordings: [] });
      expect(fs.readFileSync(wav).equals(before)).toBe(true);
      await session.close();
    });
  },
);
