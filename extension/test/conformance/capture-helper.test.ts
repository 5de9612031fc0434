/**
 * The Swift helper itself. PERSYK_CAPTURE_HELPER is the path of the program (or of its launcher:
 * `scripts/swift-linux.sh --print-command`); without it these tests are skipped.
 */
import { spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  BYTES_PER_MS,
  claimedBytes,
  DATA_OFFSET,
  expectWholeBooks,
  HelperProcess,
  type HelperTarget,
  isLocked,
  noisySamples,
  removeFolder,
  temporaryFolder,
  until,
  writeWav,
} from "./helper-process";
import { protocolSuite } from "./protocol-suite";

const program = process.env.PERSYK_CAPTURE_HELPER ?? "";
const suite = program === "" ? describe.skip : describe;
const target: HelperTarget = { name: "capture-helper", command: [program] };

suite("capture/1: the Swift helper", () => protocolSuite(() => target));

suite("the Swift helper beyond the protocol", () => {
  let folder: string;
  let count = 0;
  const running: HelperProcess[] = [];
  beforeAll(() => (folder = temporaryFolder()));
  afterEach(() => {
    for (const helper of running.splice(0)) if (helper.exit === undefined) helper.child.kill("SIGKILL");
  });
  afterAll(() => removeFolder(folder));

  const newAsset = (): string => path.join(folder, `asset-${(count += 1)}.wav`);
  const launch = (args: string[]): HelperProcess => {
    const helper = new HelperProcess(target, newAsset(), args);
    running.push(helper);
    return helper;
  };
  const synthetic = async (args: string[], configure: object = {}): Promise<HelperProcess> => {
    const helper = launch(["--source", "synthetic", ...args]);
    await helper.first("ready");
    helper.send({ type: "configure", id: "c", deviceUid: null, minFreeBytes: 0, ...configure });
    helper.send({ type: "start", id: "s" });
    return helper;
  };
  const answer = (...args: string[]): unknown => {
    const ran = spawnSync(program, args, { encoding: "utf8" });
    expect(ran.status).toBe(0);
    expect(ran.stdout.endsWith("\n")).toBe(true);
    return JSON.parse(ran.stdout);
  };

  test("version, devices, permission: one line of JSON each", () => {
    expect(answer("version")).toMatchObject({ v: 1, type: "version", protocol: "capture/1" });
    expect(answer("devices")).toMatchObject({ v: 1, type: "devices", devices: expect.any(Array) });
    expect(answer("permission")).toMatchObject({ v: 1, type: "permission", status: expect.any(String) });
  });

  test("lock: takes the same lock, holds it to the end of its input, is refused a taken one", async () => {
    const file = newAsset();
    writeFileSync(file, "any content at all");
    const hold = () => {
      const descriptor = openSync(file, "r+");
      const child = spawn(program, ["lock"], { stdio: ["pipe", "pipe", "ignore", descriptor] });
      closeSync(descriptor);
      const state = { child, said: "", code: undefined as number | null | undefined };
      child.stdout?.on("data", (bytes: Buffer) => (state.said += bytes.toString("utf8")));
      child.on("exit", (code) => (state.code = code));
      return state;
    };
    const first = hold();
    await until(() => first.said.endsWith("\n"), "the lock");
    expect(JSON.parse(first.said)).toEqual({ v: 1, type: "locked" });
    expect(isLocked(file)).toBe(true);
    const second = hold();
    await until(() => second.code !== undefined, "the refusal");
    expect(second.code).toBe(75);
    first.child.stdin?.end();
    await until(() => first.code !== undefined, "the end");
    expect(first.code).toBe(0);
    expect(isLocked(file)).toBe(false);
    const third = hold();
    await until(() => third.said !== "", "the lock again");
    third.child.kill("SIGKILL");
    await until(() => !isLocked(file), "the lock is free after SIGKILL");
  });

  test.each([
    [16_000, 1],
    [44_100, 2],
    [48_000, 1],
    [96_000, 2],
  ])("ten minutes at %i Hz, %i channels, keep their frames", async (rate, channels) => {
    const helper = await synthetic(
      ["--rate", String(rate), "--channels", String(channels), "--seconds", "600", "--pace", "0"],
      { chunkMs: 500 },
    );
    expect((await helper.exited()).code).toBe(0);
    const finished = expectWholeBooks(helper);
    expect(Math.abs(finished.frames - 14_400_000)).toBeLessThanOrEqual(24);
    expect(finished.overrunFrames).toBe(0);
  });

  test("a WAV of another rate is converted", async () => {
    const input = path.join(folder, "16k.wav");
    writeWav(input, noisySamples(3_000, 16_000), 16_000);
    const helper = launch(["--source", "file", "--input", input, "--pace", "0"]);
    await helper.first("ready");
    helper.send({ type: "start", id: "s" });
    expect((await helper.exited()).code).toBe(0);
    expect(expectWholeBooks(helper).frames).toBe(72_000);
  });

  test("a device is lost and another comes: one file, one gap", async () => {
    const helper = await synthetic(["--seconds", "4", "--pace", "0", "--fault", "lost@2000:1000"]);
    expect((await helper.exited()).code).toBe(0);
    const finished = expectWholeBooks(helper);
    expect(finished.reason).toBe("stop");
    expect(helper.all("device").map((event) => event.change)).toEqual(["lost", "switched"]);
    const [gap] = helper.all("gap");
    expect(helper.all("gap").length).toBe(1);
    expect(gap).toMatchObject({ reason: "device-lost", durationMs: 1_000 });
    const after = helper.all("chunk").find((chunk) => chunk.offset === gap?.atOffset);
    expect(after?.captureMs).toBeGreaterThanOrEqual(2_900);
    expect(Math.abs(finished.frames - 4_000 * 24)).toBeLessThan(24 * 25);
  });

  test("a changed rate, a sleep, an overrun: each one gap of its reason, no sound lost beside it", async () => {
    const helper = await synthetic([
      "--seconds",
      "6",
      "--pace",
      "0",
      "--fault",
      "format@1000:16000,sleep@2000:500,overrun@4000:250",
    ]);
    expect((await helper.exited()).code).toBe(0);
    const finished = expectWholeBooks(helper);
    expect(helper.all("gap").map((gap) => gap.reason)).toEqual(["route-change", "sleep", "overrun"]);
    expect(helper.all("gap")[2]?.durationMs).toBe(250);
    expect(finished.overrunFrames).toBe(250 * 24);
  });

  test("missing callbacks rebuild the unit", async () => {
    const helper = await synthetic(["--fault", "stall@500"]);
    await helper.first("gap");
    expect(helper.all("gap")[0]?.reason).toBe("route-change");
    helper.send({ type: "stop", id: "x", tailMs: 0 });
    expect((await helper.exited()).code).toBe(0);
    expectWholeBooks(helper);
  });

  test("the disk floor: refused before the start, ended during it", async () => {
    const refused = await synthetic([], { minFreeBytes: Number.MAX_SAFE_INTEGER });
    expect((await refused.exited()).code).toBe(74);
    expect(refused.all("error").map((event) => event.code)).toEqual(["disk-full"]);
    expect(refused.all("finished")).toEqual([]);
    expect(claimedBytes(refused.asset)).toBe(0);
  });

  test("a limit on the size of files is a failed write, not the end of the process", async () => {
    const launcher = path.join(folder, "limited.sh");
    writeFileSync(launcher, `#!/bin/bash\nulimit -f 100\nexec "${program}" "$@"\n`, { mode: 0o755 });
    const limited = new HelperProcess({ name: "limited", command: [launcher] }, newAsset(), [
      "--source",
      "synthetic",
      "--pace",
      "0",
    ]);
    running.push(limited);
    await limited.first("ready");
    limited.send({ type: "configure", id: "c", deviceUid: null, minFreeBytes: 0 });
    limited.send({ type: "start", id: "s" });
    expect((await limited.exited()).code).toBe(74);
    expect(expectWholeBooks(limited)).toMatchObject({ reason: "write-failed" });
    expect(statSync(limited.asset).size).toBeLessThanOrEqual(102_400);
  });

  test("the parent's end is seen even when somebody else holds the commands open", async () => {
    const asset = newAsset();
    const script = path.join(folder, "leaky-host.cjs");
    // A second process inherits the write end of the helper's commands, so that no end of input ever comes.
    writeFileSync(
      script,
      `const { spawn } = require("node:child_process");
       const { openSync } = require("node:fs");
       const fd = openSync(process.argv[2], "wx+");
       const child = spawn("/bin/bash", ["-c", 'exec 4<>"$0.fifo"; sleep 30 3>&- 4<&4 & echo "$!" >&5; exec "$1" capture --source synthetic --parent "$2" <&4',
         process.argv[2], process.argv[3], String(process.pid)],
         { stdio: ["ignore", "inherit", "ignore", fd, "ignore", 1] });
       require("node:fs").writeFileSync(process.argv[2] + ".fifo", '{"type":"start","id":"s"}\\n');
       setInterval(() => {}, 1000);`,
    );
    spawnSync("mkfifo", [`${asset}.fifo`]);
    const host = spawn(process.execPath, [script, asset, program], { stdio: ["ignore", "pipe", "ignore"] });
    let said = "";
    host.stdout.on("data", (bytes: Buffer) => (said += bytes.toString("utf8")));
    try {
      await until(() => said.split('"type":"chunk"').length > 3, "sound");
      host.kill("SIGKILL");
      await until(() => !isLocked(asset), "the end of the helper");
      expect(claimedBytes(asset)).toBe(statSync(asset).size - DATA_OFFSET);
      expect(claimedBytes(asset)).toBeGreaterThan(200 * BYTES_PER_MS);
      await until(() => said.includes('"reason":"parent-exit"'), "the reason");
    } finally {
      const sleeper = Number(/^(\d+)$/m.exec(said)?.[1]);
      if (Number.isInteger(sleeper) && sleeper > 1) process.kill(sleeper, "SIGKILL");
    }
  });

  test("a helper whose parent is already gone records nothing", async () => {
    const helper = launch(["--source", "synthetic", "--parent", "999999"]);
    expect((await helper.exited()).code).toBe(0);
    expect(expectWholeBooks(helper)).toMatchObject({ reason: "parent-exit", dataBytes: 0 });
  });
});
