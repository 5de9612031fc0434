import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type KernelLock, SqliteKernelLock, openFlagLock, probeKernelLock } from "../../src/lock/kernel-lock";
import { defaultLockDirectory } from "../../src/lock/lock-directory";
import { tryOuterLock } from "../../src/lock/outer-lock";
import type * as SessionLockModule from "../../src/lock/session-lock";
import { LayeredLock } from "../../src/lock/session-lock";
import { Program, bundleProgram, removeBundles, until } from "../support/program";

let directory: string;
let trace: string;
const target = { dev: 1n, ino: 7n, location: "here" };

beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), "persyk-locks-"));
  trace = join(directory, "trace");
});
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }));
afterAll(removeBundles);

const locks = (): string => join(directory, "locks");
const lockFolder = (): string => join(locks(), "1-7.folder");
const user = (name: string, mode: string, count = "1", env: Record<string, string> = {}): Program =>
  Program.node(bundleProgram("lock-user"), [locks(), trace, name, mode, count], env);
const traced = (): string[] => fs.readFileSync(trace, "utf8").trim().split("\n");
const identity = (path: string): string => {
  const stat = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? "none" : `${stat.ino}-${stat.birthtimeNs}`;
};

const deferred = (): { promise: Promise<void>; resolve: () => void } => {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
};

describe("in one process", () => {
  const hold = (lock: LayeredLock): { first: Promise<void>; entered: Promise<void>; letGo: () => void } => {
    const inside = deferred();
    const end = deferred();
    const first = lock.withLock(target, {}, () => {
      inside.resolve();
      return end.promise;
    });
    return { first, entered: inside.promise, letGo: () => end.resolve() };
  };

  test("bodies run one at a time, in the order in which they were asked for", async () => {
    const lock = new LayeredLock({ directory: locks() });
    const seen: string[] = [];
    await Promise.all(
      [1, 2, 3, 4, 5].map((number) =>
        lock.withLock(target, {}, async () => {
          seen.push(`${number}-in`);
          await new Promise((resolve) => setImmediate(resolve));
          seen.push(`${number}-out`);
        }),
      ),
    );
    expect(seen).toEqual([1, 2, 3, 4, 5].flatMap((number) => [`${number}-in`, `${number}-out`]));
  });

  test("a second copy of the module shares the queue", async () => {
    const loaded: (typeof SessionLockModule)[] = [];
    await jest.isolateModulesAsync(async () => {
      loaded.push(await import("../../src/lock/session-lock"));
    });
    const [copy] = loaded;
    if (copy === undefined) throw new Error("no second copy");
    expect(copy.LayeredLock).not.toBe(LayeredLock);
    const [one, two] = [new LayeredLock({ directory: locks() }), new copy.LayeredLock({ directory: locks() })];
    let inside = 0;
    let most = 0;
    const body = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 ? one : two).withLock(target, {}, body)));
    expect(most).toBe(1);
  });

  test("a waiter leaves with its signal's own reason, and the others are not affected", async () => {
    const lock = new LayeredLock({ directory: locks() });
    const abort = new AbortController();
    const reason = new Error("no longer wanted");
    const seen: string[] = [];
    const { first, entered, letGo } = hold(lock);
    const second = lock.withLock(target, { signal: abort.signal }, async () => void seen.push("second"));
    const third = lock.withLock(target, {}, async () => void seen.push("third"));
    abort.abort(reason);
    await expect(second).rejects.toBe(reason);
    await entered;
    letGo();
    await Promise.all([first, third]);
    expect(seen).toEqual(["third"]);
  });

  test("a deadline in the queue is lock-busy; a failing body frees the lock", async () => {
    const lock = new LayeredLock({ directory: locks() });
    const { first, entered, letGo } = hold(lock);
    await entered;
    await expect(lock.withLock(target, { deadlineMs: 20 }, async () => undefined)).rejects.toMatchObject({
      code: "lock-busy",
      place: { location: "here" },
    });
    letGo();
    await first;
    await expect(lock.withLock(target, {}, () => Promise.reject(new Error("own")))).rejects.toThrow("own");
    await lock.withLock(target, {}, async () => undefined);
  });

  test("different targets do not wait for each other", async () => {
    const lock = new LayeredLock({ directory: locks() });
    await lock.withLock(target, {}, () => lock.withLock({ ...target, ino: 8n }, {}, async () => undefined));
  });

  test("the lock is given back as soon as nobody asks for it; the lock files stay empty", async () => {
    const lock = new LayeredLock({ directory: locks() });
    for (let index = 0; index < 3; index += 1) await lock.withLock(target, {}, async () => undefined);
    await until(() => !fs.existsSync(lockFolder()), "the lock folder is removed");
    expect(fs.readdirSync(locks()).filter((name) => fs.statSync(join(locks(), name)).size > 0)).toEqual([]);
  });
});

describe("between processes", () => {
  test.each([2, 4])("%i processes add to a counter and lose nothing", async (processes) => {
    fs.writeFileSync(trace, "0");
    const each = 150;
    await Promise.all(Array.from({ length: processes }, (_, index) => user(`p${index}`, "count", `${each}`).success()));
    expect(fs.readFileSync(trace, "utf8")).toBe(String(processes * each));
  });

  test("a waiter is told which process it waits for", async () => {
    const holder = user("holder", "hold");
    await holder.line("in");
    const lock = new LayeredLock({ directory: locks() });
    await expect(lock.withLock(target, { deadlineMs: 50 }, async () => undefined)).rejects.toMatchObject({
      code: "lock-busy",
      message: `Process ${holder.child.pid} is writing to this session.`,
    });
    holder.say("go");
    await holder.success();
  });

  test("the lock of a killed process is free, and no warning of Node reaches the terminal", async () => {
    const holder = user("holder", "hold", "1", { LOCK_STALE_MS: "2000" });
    await holder.line("in");
    holder.signal("SIGKILL");
    await holder.ended;
    const next = user("next", "hold", "1", { LOCK_STALE_MS: "2000" });
    await next.line("in");
    next.say("go");
    await next.success();
    expect(next.stderr).toBe("");
  });

  test("a worker thread that was terminated frees its lock", async () => {
    const worker = new Worker(bundleProgram("lock-user"), {
      argv: [locks(), trace, "worker", "hold"],
      env: { LOCK_STALE_MS: "2000" },
      stdin: true,
      stdout: true,
    });
    await until(() => fs.existsSync(trace), "the worker holds the lock");
    await worker.terminate();
    const next = user("next", "hold", "1", { LOCK_STALE_MS: "2000" });
    await next.line("in");
    next.say("go");
    await next.success();
    expect(traced()).toEqual(["worker-in", "next-in", "next-out"]);
  });
});

describe("a holder that is stopped past the stale time", () => {
  const stopped = async (weak: boolean): Promise<{ trace: string[]; holder: string; folderOfThief: boolean }> => {
    const env = { LOCK_STALE_MS: "2000", ...(weak ? { LOCK_WEAK: "1" } : {}) };
    const holder = user("holder", "hold", "1", env);
    await holder.line("in");
    holder.signal("SIGSTOP");
    const before = identity(lockFolder());
    const thief = user("thief", "hold", "1", env);
    // The thief gets through the outer lock: that is what the inner one is for.
    await until(() => !["none", before].includes(identity(lockFolder())), "the outer lock is taken over");
    if (weak) await thief.line("in");
    const stolen = identity(lockFolder());
    holder.signal("SIGCONT");
    holder.say("go");
    await holder.success();
    const folderOfThief = weak ? identity(lockFolder()) === stolen : true;
    await thief.line("in");
    thief.say("go");
    await thief.success();
    return { trace: traced(), holder: holder.lines[1] ?? "", folderOfThief };
  };

  test("is still waited for, and learns that its outer lock is gone", async () => {
    const outcome = await stopped(false);
    expect(outcome.trace).toEqual(["holder-in", "holder-out", "thief-in", "thief-out"]);
    expect(outcome.holder).toBe("out lost");
  });

  test("without the kernel lock both are inside, so the test above has teeth; the release spares the thief's lock", async () => {
    const outcome = await stopped(true);
    expect(outcome.trace.slice(0, 2)).toEqual(["holder-in", "thief-in"]);
    expect(outcome.folderOfThief).toBe(true);
  });
});

describe("the outer lock", () => {
  const times = { staleMs: 2_000, updateMs: 1_000 };

  test("is lost when its folder is removed or replaced, and then does not remove the stranger's", async () => {
    const lock = await tryOuterLock(directory, "x", times);
    const path = join(directory, "x.folder");
    expect(lock?.isHeld()).toBe(true);
    expect(await tryOuterLock(directory, "x", times)).toBeUndefined();
    fs.rmdirSync(path);
    expect(lock?.isHeld()).toBe(false);
    fs.mkdirSync(path);
    expect(lock?.isHeld()).toBe(false);
    await lock?.release();
    expect(fs.existsSync(path)).toBe(true);
  });

  test("of a dead process is taken over though a stray file lies in it, or its clock was an hour ahead", async () => {
    const path = join(directory, "x.folder");
    for (const seconds of [-60, 3_600]) {
      fs.mkdirSync(path);
      fs.writeFileSync(join(path, ".DS_Store"), "stray");
      fs.utimesSync(path, Date.now() / 1_000 + seconds, Date.now() / 1_000 + seconds);
      const lock = await tryOuterLock(directory, "x", times);
      expect(lock?.isHeld()).toBe(true);
      await lock?.release();
      expect(fs.existsSync(path)).toBe(false);
    }
  });
});

describe("the kernel lock", () => {
  test("is probed, and the one that works here excludes a second holder", () => {
    const lock = probeKernelLock(directory);
    expect(lock?.kind).toBe(process.platform === "darwin" ? "open-flag" : "sqlite");
    const free = lock?.tryAcquire(directory, "x");
    expect(free).toBeDefined();
    expect(lock?.tryAcquire(directory, "x")).toBeUndefined();
    free?.();
    lock?.tryAcquire(directory, "x")?.();
    expect(fs.readdirSync(directory).filter((name) => name.startsWith("probe"))).toEqual([]);
  });

  test("keeps few connections open", () => {
    const lock = new SqliteKernelLock();
    const open = (): number =>
      fs.readdirSync("/dev/fd").filter((fd) => {
        const link = fs.lstatSync(`/dev/fd/${fd}`, { throwIfNoEntry: false });
        return link?.isSymbolicLink() === true && readlink(`/dev/fd/${fd}`).startsWith(directory);
      }).length;
    for (let index = 0; index < 60; index += 1) lock.tryAcquire(directory, `s${index}`)?.();
    if (process.platform === "linux") expect(open()).toBeLessThanOrEqual(16);
    lock.close();
    if (process.platform === "linux") expect(open()).toBe(0);
  });

  const readlink = (path: string): string => {
    try {
      return fs.readlinkSync(path);
    } catch {
      return "";
    }
  };

  test("a folder where no kernel lock works refuses writers unless the weaker mode was declared", async () => {
    const file = join(directory, "file");
    fs.writeFileSync(file, "");
    await expect(new LayeredLock({ directory: file }).withLock(target, {}, async () => 1)).rejects.toMatchObject({
      code: "lock-unsupported",
    });
    const useless: KernelLock = { kind: "sqlite", tryAcquire: () => () => undefined };
    expect(await new LayeredLock({ directory, kernelLock: useless }).withLock(target, {}, async () => 1)).toBe(1);
    expect(await new LayeredLock({ directory, kernelLock: undefined }).withLock(target, {}, async () => 2)).toBe(2);
  });

  test("the open flag is not believed where the system ignores it", () => {
    const first = openFlagLock.tryAcquire(directory, "flag");
    const second = openFlagLock.tryAcquire(directory, "flag");
    expect(second === undefined).toBe(process.platform === "darwin");
    first?.();
    second?.();
  });
});

test("the lock folder is the user's own, or the one that the environment names", () => {
  expect(defaultLockDirectory({ PERSYK_LOCK_DIRECTORY: "/x/y" })).toBe("/x/y");
  expect(defaultLockDirectory({ XDG_STATE_HOME: "/state" }, "linux")).toBe("/state/persyk/locks");
  expect(defaultLockDirectory({}, "linux")).toMatch(/\.local\/state\/persyk\/locks$/);
  expect(defaultLockDirectory({}, "darwin")).toMatch(/Library\/Application Support\/persyk\/locks$/);
  expect(() => defaultLockDirectory({ PERSYK_LOCK_DIRECTORY: "relative" })).toThrow("absolute");
});
