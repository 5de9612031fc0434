import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HelperCaptureLock, isFlockListed, lockDescriptor, systemCaptureLock } from "../../src/lock/capture-lock";
import { recoverWav } from "../../src/assets/wav";
import { wavHeader } from "../../src/assets/wav-format";

const hasFlock = spawnSync("flock", ["--version"]).status === 0;
/** Without `flock(1)` nothing here can play the capture helper; the tests are listed as skipped then. */
const withFlock = hasFlock ? test : test.skip;

let folder: string;
let path: string;
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), "persyk-capture-"));
  path = join(folder, "r.wav");
  fs.writeFileSync(path, Buffer.concat([wavHeader(0), Buffer.alloc(480, 1)]));
});
afterEach(() => fs.rmSync(folder, { recursive: true }));

async function isCaptureLive(file: string): Promise<boolean> {
  const held = await systemCaptureLock.tryAcquire(file);
  await held?.release();
  return held === undefined;
}

async function holder(): Promise<ChildProcess> {
  const child = spawn("flock", ["-x", path, "sh", "-c", "echo held; exec cat"], { stdio: ["pipe", "pipe", "inherit"] });
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  return child;
}

withFlock(
  "a held lock is a live capture, whatever the header and the times of the file say; a dead one is free",
  async () => {
    const child = await holder();
    const before = fs.readFileSync(path);
    fs.utimesSync(path, 1, 1);
    expect(await isCaptureLive(path)).toBe(true);
    await expect(recoverWav(path)).rejects.toMatchObject({ code: "capture-live" });
    expect(fs.readFileSync(path).equals(before)).toBe(true);
    // flock(1) and its command share the lock; both go.
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.stdin?.end();
    await ended;
    expect(await isCaptureLive(path)).toBe(false);
    expect((await recoverWav(path)).outcome).toBe("repaired");
  },
);

withFlock("a lock on an open descriptor lives as long as the descriptor", async () => {
  const fd = fs.openSync(path, "r+");
  expect(await lockDescriptor(fd)).toBe("locked");
  expect(await isCaptureLive(path)).toBe(true);
  const other = fs.openSync(path, "r+");
  expect(await lockDescriptor(other)).toBe("busy");
  fs.closeSync(fd);
  expect(await lockDescriptor(other)).toBe("locked");
  fs.closeSync(other);
  expect(await isCaptureLive(path)).toBe(false);
});

const withKernelsList = fs.existsSync("/proc/locks") ? withFlock : test.skip;

withKernelsList("the kernel's list shows the lock too, for systems without the command", async () => {
  const inode = fs.statSync(path, { bigint: true }).ino;
  const listed = (): boolean => isFlockListed(fs.readFileSync("/proc/locks", "utf8"), inode);
  expect(listed()).toBe(false);
  const fd = fs.openSync(path, "r+");
  await lockDescriptor(fd);
  expect(listed()).toBe(true);
  fs.closeSync(fd);
});

test("lines of the kernel's list", () => {
  const text =
    "1: POSIX  ADVISORY  WRITE 77 08:01:42 0 EOF\n2: FLOCK  ADVISORY  WRITE 78 fe:00:43 0 EOF\n2: -> FLOCK ADVISORY WRITE 79 fe:00:44 0 EOF\n";
  expect([42n, 43n, 44n, 4n].map((inode) => isFlockListed(text, inode))).toEqual([false, true, true, false]);
});

withFlock(
  "through a helper that takes the lock on descriptor 3, says so and holds it until its input ends",
  async () => {
    const helper = new HelperCaptureLock(["sh", "-c", "flock -n 3 || exit 75; echo locked; exec cat >/dev/null"]);
    const held = await helper.tryAcquire(path);
    expect(held).toBeDefined();
    expect(await helper.tryAcquire(path)).toBeUndefined();
    expect(await isCaptureLive(path)).toBe(true);
    await held?.release();
    expect(await isCaptureLive(path)).toBe(false);
    await expect(new HelperCaptureLock([join(folder, "nothing")]).tryAcquire(path)).rejects.toMatchObject({
      code: "capture-lock-unsupported",
    });
  },
);

test("a file that is not there, or a link, is no lock to take", async () => {
  await expect(isCaptureLive(join(folder, "nothing"))).rejects.toMatchObject({ code: "location-gone" });
  fs.symlinkSync(path, join(folder, "link"));
  await expect(isCaptureLive(join(folder, "link"))).rejects.toMatchObject({ code: "unsafe-path" });
});
