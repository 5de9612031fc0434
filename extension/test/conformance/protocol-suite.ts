/** What every program that speaks `capture/1` must do. Run against the stand-in and against the Swift helper. */
import { spawn, spawnSync } from "node:child_process";
import { linkSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  BYTES_PER_MS,
  claimedBytes,
  DATA_OFFSET,
  expectWholeBooks,
  HelperProcess,
  holdLock,
  type HelperTarget,
  isLocked,
  noisySamples,
  removeFolder,
  temporaryFolder,
  until,
  writeWav,
} from "./helper-process";

const hasTmpfs = process.platform === "linux" && process.getuid?.() === 0;

export function protocolSuite(target: () => HelperTarget): void {
  let folder: string;
  let input: string;
  let samples: Int16Array;
  let count = 0;
  const running: HelperProcess[] = [];

  beforeAll(() => {
    folder = temporaryFolder();
    input = path.join(folder, "input.wav");
    samples = noisySamples(20_000);
    writeWav(input, samples);
  });
  afterEach(() => {
    for (const helper of running.splice(0)) if (helper.exit === undefined) helper.child.kill("SIGKILL");
  });
  afterAll(() => removeFolder(folder));

  const newAsset = (): string => path.join(folder, `asset-${(count += 1)}.wav`);
  const launch = (
    args: string[] = [],
    { asset = newAsset(), source = input, flags }: { asset?: string; source?: string; flags?: string } = {},
  ): HelperProcess => {
    const helper = new HelperProcess(
      target(),
      asset,
      ["--source", "file", "--input", source, ...args],
      flags === undefined ? {} : { flags },
    );
    running.push(helper);
    return helper;
  };
  const begin = async (helper: HelperProcess, options: object = {}): Promise<void> => {
    await helper.first("ready");
    helper.send({ type: "configure", id: "configure", deviceUid: null, minFreeBytes: 0, ...options });
    expect((await helper.result("configure")).ok).toBe(true);
    helper.send({ type: "start", id: "start" });
    await helper.first("started");
  };
  const sound = (file: string): Buffer => readFileSync(file).subarray(DATA_OFFSET);
  const original = (bytes: number): Buffer => Buffer.from(samples.buffer, 0, bytes);

  test("ready: the header is there, the lock is held, nothing has started", async () => {
    const helper = launch();
    const ready = await helper.first("ready");
    expect(ready).toMatchObject({
      seq: 1,
      pid: helper.pid,
      permission: "granted",
      dataOffset: 44,
      format: { encoding: "pcm_s16le", rate: 24_000, channels: 1 },
    });
    expect(claimedBytes(helper.asset)).toBe(0);
    expect(statSync(helper.asset).size).toBe(DATA_OFFSET);
    expect(isLocked(helper.asset)).toBe(true);
    helper.send({ type: "ping", id: "p" });
    expect((await helper.result("p")).ok).toBe(true);
    helper.send({ type: "stop", id: "s" });
    expect((await helper.exited()).code).toBe(0);
    expect(expectWholeBooks(helper)).toMatchObject({ reason: "stop", dataBytes: 0 });
    expect(isLocked(helper.asset)).toBe(false);
  });

  test("a file that ends is a whole recording, byte for byte, announced range by range", async () => {
    const helper = launch(["--pace", "0"]);
    await begin(helper, { syncMs: 100 });
    expect((await helper.exited()).code).toBe(0);
    expect(expectWholeBooks(helper)).toMatchObject({ reason: "stop", dataBytes: samples.length * 2, overrunFrames: 0 });
    expect(sound(helper.asset).equals(original(samples.length * 2))).toBe(true);
    const order = ["ready", "result", "started", "chunk", "finishing", "finished"];
    const firsts = order.map((type) => helper.events.findIndex((event) => event.type === type));
    // `finishing` may come before or after the last chunks, but not before the first.
    expect(firsts).toEqual([...firsts].sort((a, b) => a - b));
    expect(helper.all("started")[0]).toMatchObject({ offset: DATA_OFFSET });
    for (const chunk of helper.all("chunk")) expect(chunk.captureMs).toBeCloseTo((chunk.offset - DATA_OFFSET) / 48, -1);
  });

  test("an announced range can be read at once", async () => {
    const helper = launch(["--pace", "4"]);
    await begin(helper, { chunkMs: 40 });
    await until(() => helper.announcedBytes > 2_000 * BYTES_PER_MS, "two seconds of sound");
    const announced = helper.announcedBytes;
    expect(sound(helper.asset).subarray(0, announced).equals(original(announced))).toBe(true);
  });

  test("synced: what the header on disk claims", async () => {
    const helper = launch(["--pace", "4"]);
    await begin(helper, { syncMs: 100 });
    await until(() => helper.all("synced").length >= 3, "checkpoints");
    const claimed = claimedBytes(helper.asset);
    expect(claimed).toBeGreaterThanOrEqual(helper.all("synced")[2]?.dataBytes ?? Infinity);
    expect(claimed).toBeLessThanOrEqual(statSync(helper.asset).size - DATA_OFFSET);
  });

  test("levels tell sound from exact silence", async () => {
    const helper = launch(["--pace", "2"]);
    await begin(helper);
    const level = await helper.first("level");
    expect(level.zero).toBe(false);
    expect(level.peakDb).toBeLessThanOrEqual(0);
    expect(level.peakDb).toBeGreaterThan(-40);
  });

  test("exact zeros for two seconds are reported, and recorded", async () => {
    const silent = path.join(folder, "silent.wav");
    writeWav(silent, new Int16Array(24 * 2_600));
    const helper = launch(["--pace", "4"], { source: silent });
    await begin(helper);
    expect((await helper.exited()).code).toBe(0);
    expect(expectWholeBooks(helper).frames).toBe(24 * 2_600);
    expect(helper.all("warning").map((event) => event.code)).toEqual(["silent-input"]);
    const [warning] = helper.all("warning");
    expect(warning?.atOffset).toBeGreaterThan(44 + 1_800 * BYTES_PER_MS);
    expect(warning?.atOffset).toBeLessThanOrEqual(44 + 2_000 * BYTES_PER_MS);
    expect(helper.all("level").some((event) => event.zero === true)).toBe(true);
  });

  test("stop: the tail is captured, then the file is whole", async () => {
    const helper = launch();
    await begin(helper, { chunkMs: 50 });
    await until(() => helper.announcedBytes >= 300 * BYTES_PER_MS, "some sound");
    helper.send({ type: "stop", id: "stop", tailMs: 400 });
    await helper.first("finishing");
    const before = helper.announcedBytes;
    expect((await helper.exited()).code).toBe(0);
    const finished = expectWholeBooks(helper);
    expect(finished.reason).toBe("stop");
    expect(finished.dataBytes - before).toBeGreaterThanOrEqual(300 * BYTES_PER_MS);
    expect(sound(helper.asset).equals(original(finished.dataBytes))).toBe(true);
  });

  test("a second stop ends at once", async () => {
    const helper = launch();
    await begin(helper);
    await until(() => helper.announcedBytes > 0, "some sound");
    helper.send({ type: "stop", id: "first", tailMs: 10_000 });
    await helper.first("finishing");
    helper.send({ type: "stop", id: "second" });
    expect((await helper.exited()).code).toBe(0);
    expect(expectWholeBooks(helper).dataBytes).toBeLessThan(9_000 * BYTES_PER_MS);
  });

  test("the duration cap cuts at the frame", async () => {
    const helper = launch(["--pace", "0"]);
    await begin(helper, { maxDurationMs: 1_234 });
    expect((await helper.exited()).code).toBe(0);
    expect(expectWholeBooks(helper)).toMatchObject({ reason: "max-duration", dataBytes: 1_234 * BYTES_PER_MS });
  });

  test.each(["started", "not started"])("the end of the commands finishes the file (%s)", async (when) => {
    const helper = launch();
    if (when === "started") {
      await begin(helper);
      await until(() => helper.announcedBytes > 0, "some sound");
    } else await helper.first("ready");
    helper.endInput();
    expect((await helper.exited()).code).toBe(0);
    expect(expectWholeBooks(helper).reason).toBe("parent-exit");
    expect(isLocked(helper.asset)).toBe(false);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s finishes the file", async (signal) => {
    const helper = launch();
    await begin(helper);
    await until(() => helper.announcedBytes > 0, "some sound");
    helper.child.kill(signal);
    expect((await helper.exited()).code).toBe(0);
    expect(expectWholeBooks(helper).reason).toBe("signal");
  });

  test("lines that are no commands cost nothing", async () => {
    const helper = launch();
    await begin(helper);
    helper.sendText("{broken\n");
    helper.send({ type: "dance", id: "d" });
    helper.sendText(`{"type":"ping","id":"long","x":"${"y".repeat(70_000)}"}\n`);
    helper.send({ type: "ping", id: "after", unknownField: [1, { two: 3 }] });
    expect((await helper.result("after")).ok).toBe(true);
    expect(helper.all("error").length).toBe(3);
    for (const error of helper.all("error")) {
      expect(error.fatal).toBe(false);
      expect(["bad-command", "protocol"]).toContain(error.code);
    }
    helper.send({ type: "stop", id: "s", tailMs: 0 });
    expect((await helper.exited()).code).toBe(0);
    expectWholeBooks(helper);
  });

  test("commands arrive in whatever pieces", async () => {
    const helper = launch();
    await helper.first("ready");
    for (const character of '{"type":"ping","id":"ä🎙"}\n{"type":"ping","id":"b"}\n') {
      helper.sendText(character);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await helper.result("ä🎙")).ok).toBe(true);
    expect((await helper.result("b")).ok).toBe(true);
  });

  test("a device that is not there is refused and changes nothing", async () => {
    const helper = launch();
    await begin(helper);
    helper.send({ type: "setDevice", id: "d", deviceUid: "no such device" });
    expect((await helper.result("d")).ok).toBe(false);
    helper.send({ type: "stop", id: "s", tailMs: 0 });
    expect((await helper.exited()).code).toBe(0);
    expect(expectWholeBooks(helper).reason).toBe("stop");
  });

  test("an asset that is not new is refused untouched", async () => {
    const used = newAsset();
    writeFileSync(used, "something");
    const onUsed = launch([], { asset: used, flags: "r+" });
    expect((await onUsed.exited()).code).toBe(66);
    expect(readFileSync(used, "utf8")).toBe("something");
    const linked = newAsset();
    writeFileSync(linked, "");
    linkSync(linked, `${linked}.second`);
    expect((await launch([], { asset: linked, flags: "r+" }).exited()).code).toBe(66);
    expect(statSync(linked).size).toBe(0);
  });

  test("a live asset is refused to a second helper", async () => {
    const first = launch();
    await begin(first);
    await until(() => first.announcedBytes > 0, "some sound");
    const empty = newAsset();
    writeFileSync(empty, "");
    const holder = holdLock(empty);
    await until(() => isLocked(empty), "the lock of another process");
    const second = launch([], { asset: empty, flags: "r+" });
    expect((await second.exited()).code).toBe(75);
    expect(statSync(empty).size).toBe(0);
    holder.stdin?.end();
    const third = launch([], { asset: first.asset, flags: "r+" });
    expect([66, 75]).toContain((await third.exited()).code);
    expect(first.exit).toBeUndefined();
    first.send({ type: "stop", id: "s", tailMs: 0 });
    expect((await first.exited()).code).toBe(0);
    expectWholeBooks(first);
  });

  test("SIGKILL: everything announced is in the file, the header claims no more than that, the lock is free", async () => {
    const helper = launch(["--pace", "2"]);
    await begin(helper);
    await until(() => helper.announcedBytes > 1_500 * BYTES_PER_MS && helper.all("synced").length > 0, "sound");
    helper.child.kill("SIGKILL");
    expect((await helper.exited()).signal).toBe("SIGKILL");
    const onDisk = statSync(helper.asset).size - DATA_OFFSET;
    expect(onDisk).toBeGreaterThanOrEqual(helper.announcedBytes);
    expect(claimedBytes(helper.asset)).toBeLessThanOrEqual(onDisk);
    expect(claimedBytes(helper.asset)).toBeGreaterThanOrEqual(helper.all("synced").at(-1)?.dataBytes ?? Infinity);
    expect(sound(helper.asset).equals(original(onDisk))).toBe(true);
    expect(isLocked(helper.asset)).toBe(false);
  });

  test("SIGKILL of the host: the helper finishes the file by itself", async () => {
    const asset = newAsset();
    const [program, ...before] = target().command;
    const args = [...before, "capture", "--source", "file", "--input", input];
    const host = path.join(folder, "host.cjs");
    writeFileSync(
      host,
      `const { spawn } = require("node:child_process");
       const { openSync, closeSync } = require("node:fs");
       const fd = openSync(process.argv[2], "wx+");
       const child = spawn(process.argv[3], process.argv.slice(4), { stdio: ["pipe", "pipe", "inherit", fd] });
       closeSync(fd);
       child.stdout.pipe(process.stdout);
       child.stdin.write('{"type":"start","id":"s"}\\n');`,
    );
    const parent = spawn(process.execPath, [host, asset, program, ...args], { stdio: ["ignore", "pipe", "ignore"] });
    let said = "";
    parent.stdout.on("data", (bytes: Buffer) => (said += bytes.toString("utf8")));
    await until(() => said.split('"type":"chunk"').length > 4, "sound");
    expect(isLocked(asset)).toBe(true);
    parent.kill("SIGKILL");
    await until(() => !isLocked(asset), "the end of the helper");
    expect(claimedBytes(asset)).toBe(statSync(asset).size - DATA_OFFSET);
    expect(claimedBytes(asset)).toBeGreaterThan(0);
    expect(sound(asset).equals(original(claimedBytes(asset)))).toBe(true);
  });

  test("a reader that goes away stops only the events", async () => {
    const helper = launch(["--pace", "4"]);
    await begin(helper);
    const before = statSync(helper.asset).size;
    helper.child.stdout?.destroy();
    await until(() => statSync(helper.asset).size > before + 2_000 * BYTES_PER_MS, "more sound in the file");
    helper.send({ type: "stop", id: "s", tailMs: 0 });
    expect((await helper.exited()).code).toBe(0);
    expect(claimedBytes(helper.asset)).toBe(statSync(helper.asset).size - DATA_OFFSET);
  });

  test("a reader that stops reading costs no sound and gets every range when it reads again", async () => {
    const helper = launch(["--pace", "20"]);
    await begin(helper, { chunkMs: 20 });
    helper.child.stdout?.pause();
    // The commands still arrive and the file still grows, to its end.
    await until(() => claimedBytes(helper.asset) === samples.length * 2 || helper.exit !== undefined, "the whole file");
    helper.child.stdout?.resume();
    await helper.exited();
    expect(sound(helper.asset).equals(original(samples.length * 2))).toBe(true);
    expect(expectWholeBooks(helper).dataBytes).toBe(samples.length * 2);
  });

  test("a stopped helper goes on where it was", async () => {
    const helper = launch();
    await begin(helper);
    await until(() => helper.announcedBytes > 0, "some sound");
    helper.child.kill("SIGSTOP");
    const held = statSync(helper.asset).size;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(statSync(helper.asset).size).toBe(held);
    helper.child.kill("SIGCONT");
    await until(() => helper.announcedBytes + DATA_OFFSET > held, "more sound");
    helper.send({ type: "stop", id: "s", tailMs: 0 });
    expect((await helper.exited()).code).toBe(0);
    const finished = expectWholeBooks(helper);
    expect(sound(helper.asset).equals(original(finished.dataBytes))).toBe(true);
  });

  (hasTmpfs ? test : test.skip)("a full disk ends the capture visibly and leaves a whole file", async () => {
    const disk = path.join(folder, `disk-${(count += 1)}`);
    mkdirSync(disk);
    const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=300k", "tmpfs", disk]);
    if (mounted.status !== 0) throw new Error(`mounting a small disk failed: ${mounted.stderr.toString()}`);
    try {
      const helper = launch(["--pace", "0"], { asset: path.join(disk, "asset.wav") });
      await begin(helper);
      expect((await helper.exited()).code).toBe(74);
      const finished = expectWholeBooks(helper);
      expect(finished.reason).toBe("disk-full");
      expect(helper.all("error").map((event) => [event.code, event.fatal])).toEqual([["disk-full", true]]);
      expect(finished.dataBytes).toBeGreaterThan(200_000);
      expect(sound(helper.asset).equals(original(finished.dataBytes))).toBe(true);
    } finally {
      spawnSync("umount", [disk]);
    }
  });

  test("wrong usage", async () => {
    const helper = new HelperProcess(target(), newAsset(), ["--source", "tape"]);
    running.push(helper);
    expect((await helper.exited()).code).toBe(64);
    expect(statSync(helper.asset).size).toBe(0);
  });

  test("an input that is no WAV", async () => {
    const text = path.join(folder, "text.wav");
    writeFileSync(text, "not a wave file, but long enough to have a header, or so it may seem");
    expect((await launch([], { source: text }).exited()).code).toBe(69);
  });
}
