import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import fc from "fast-check";
import { CaptureClient, type CaptureDeadlines } from "../../src/capture/client";
import { LineReader } from "../../src/capture/lines";
import { type CaptureEvent, MAX_LINE_BYTES, parseEventLine } from "../../src/capture/protocol";
import { type Scenario, writeFakeHelper } from "./fake-helper";

const folder = mkdtempSync(path.join(os.tmpdir(), "persyk-capture-"));
const helper = writeFakeHelper(folder);
let count = 0;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Launched {
  client: CaptureClient;
  events: CaptureEvent[];
  oddities: string[];
  file: string;
}

function launch(
  scenario: Scenario,
  deadlines: Partial<CaptureDeadlines> = {},
  onOddity: (detail: string) => void = () => undefined,
): Launched {
  count += 1;
  const file = path.join(folder, `${count}.wav`);
  const assetFd = openSync(file, "wx+", 0o600);
  const events: CaptureEvent[] = [];
  const oddities: string[] = [];
  const client = CaptureClient.launch({
    command: [process.execPath, helper, scenario],
    assetFd,
    deadlines: {
      readyMs: 30_000,
      startMs: 30_000,
      slowStartMs: 30_000,
      finishMs: 30_000,
      rungMs: 30_000,
      ...deadlines,
    },
    onEvent: (event) => events.push(event),
    onOddity: (detail) => {
      oddities.push(detail);
      onOddity(detail);
    },
  });
  closeSync(assetFd);
  return { client, events, oddities, file };
}

describe("the deadlines of a capture", () => {
  test("a helper that says nothing misses `ready`, and the ladder ends with SIGKILL", async () => {
    let isDeaf = (): void => undefined;
    const deaf = new Promise<void>((resolve) => (isDeaf = resolve));
    const { client } = launch("mute", { readyMs: 50, finishMs: 50, rungMs: 50 }, () => isDeaf());
    await expect(client.ready()).rejects.toMatchObject({ code: "ready-timeout" });
    await deaf;
    const end = await client.stop(0);
    expect(end).toMatchObject({ kind: "died", signal: "SIGKILL" });
  });

  test("no sound misses `started`", async () => {
    const { client } = launch("never-starts", { startMs: 50 });
    await client.ready();
    await expect(client.start()).rejects.toMatchObject({ code: "started-timeout" });
    expect(await client.stop(0)).toMatchObject({ kind: "finished", event: { reason: "stop" } });
  });

  test("while the user is asked for the microphone, the time for the first buffer does not run", async () => {
    // The answer takes 400 ms, the sound follows at once.
    const { client } = launch("asks", { startMs: 200, permissionMs: 30_000 });
    await client.ready();
    expect(await client.start()).toMatchObject({ type: "started" });
    expect(await client.stop(0)).toMatchObject({ kind: "finished" });
  });

  test("a question that nobody answers has an end of its own", async () => {
    const { client } = launch("asks-in-vain", { permissionMs: 50 });
    await client.ready();
    await expect(client.start()).rejects.toMatchObject({ code: "permission-timeout" });
    expect(await client.stop(0)).toMatchObject({ kind: "finished" });
  });

  test.each([
    ["a Bluetooth device", "bluetooth", null],
    ["a device that was asked for and is not described", "bluetooth", "other"],
  ] as const)("%s gets the longer time to start", async (_name, scenario, deviceUid) => {
    const { client } = launch(scenario, { startMs: 50, slowStartMs: 30_000 });
    await client.ready();
    client.configure({ deviceUid });
    expect(await client.start()).toMatchObject({ type: "started" });
    await client.stop(0);
  });

  test("any other device does not", async () => {
    const { client } = launch("never-starts", { startMs: 50, slowStartMs: 30_000 });
    await client.ready();
    client.configure({ deviceUid: "one" });
    await expect(client.start()).rejects.toMatchObject({ code: "started-timeout" });
    await client.stop(0);
  });

  test("a helper that ignores stop and the end of its input finishes at SIGTERM", async () => {
    const { client, file } = launch("stubborn", { finishMs: 50, rungMs: 3_000 });
    await client.ready();
    await client.start();
    expect(await client.stop(0)).toMatchObject({ kind: "finished", event: { reason: "signal" } });
    expect(readFileSync(file).readUInt32LE(40)).toBe(48_000);
  });

  test("asking to stop twice is one stop", async () => {
    const { client } = launch("noisy");
    await client.ready();
    await client.start();
    const [first, second] = await Promise.all([client.stop(), client.stop()]);
    expect(first).toBe(second);
  });
});

describe("what a helper says", () => {
  test("lines that are not of this protocol are reported without their text, and cost nothing", async () => {
    const { client, events, oddities } = launch("noisy");
    await client.ready();
    await client.start();
    expect(await client.stop()).toMatchObject({ kind: "finished" });
    expect(events.map(({ type }) => type)).toEqual(["ready", "started", "chunk", "synced", "finished"]);
    expect(oddities).toEqual(["not JSON", "unknown event surprise", "not an event", "a line over the limit"]);
  });

  test("another version of the protocol is not taken for this one", async () => {
    const { client } = launch("other-version", { readyMs: 300 });
    await expect(client.ready()).rejects.toMatchObject({ code: "ready-timeout" });
    await client.abandon();
  });

  test("an exit code says what to do", async () => {
    const { client } = launch("locked");
    await expect(client.ready()).rejects.toMatchObject({ code: "asset-locked" });
    expect(await client.ended).toMatchObject({ kind: "died", exitCode: 75 });
  });

  test("a program that is not there", async () => {
    const assetFd = openSync(path.join(folder, "none.wav"), "wx+");
    const client = CaptureClient.launch({ command: [path.join(folder, "nothing")], assetFd, onEvent: () => undefined });
    closeSync(assetFd);
    await expect(client.ready()).rejects.toMatchObject({ code: "helper-missing" });
  });

  // Node tells a few errors of a start by an event and throws the others: each is a failure with a code.
  test.each([
    ["wrong-cpu", { code: "Unknown system error -86", errno: -86 }],
    ["helper-not-executable", { code: "EACCES", errno: -13 }],
    ["helper-missing", { code: "E2BIG", errno: -7 }],
  ])("%s, thrown at the start", (code, fields) => {
    const startProcess = (): never => {
      throw Object.assign(new Error("spawn failed"), fields);
    };
    const start = (): unknown =>
      CaptureClient.launch({ command: ["helper"], assetFd: 0, onEvent: () => undefined, startProcess });
    expect(start).toThrow(expect.objectContaining({ name: "CaptureFailure", code }));
  });

  test("what the system really throws, and really tells by an event", async () => {
    const assetFd = openSync(path.join(folder, "system.wav"), "wx+");
    const launchOf = (...command: [string, ...string[]]) =>
      CaptureClient.launch({ command, assetFd, onEvent: () => undefined });
    try {
      const tooLong = "x".repeat(3_000_000);
      expect(() => launchOf(process.execPath, tooLong)).toThrow(expect.objectContaining({ code: "helper-missing" }));
      const noProgram = path.join(folder, "not-executable");
      writeFileSync(noProgram, "", { mode: 0o644 });
      await expect(launchOf(noProgram).ready()).rejects.toMatchObject({ code: "helper-not-executable" });
    } finally {
      closeSync(assetFd);
    }
  });

  test("any bytes: never an exception, and lines come whole however they are cut", () => {
    fc.assert(
      fc.property(fc.string(), (line) => {
        expect(["event", "unknown", "invalid"]).toContain(parseEventLine(line).kind);
      }),
    );
    const text = fc.array(fc.string({ unit: "grapheme" }).map((part) => part.replaceAll("\n", "")));
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 7 }), (lines, step) => {
        const seen: string[] = [];
        const reader = new LineReader(
          MAX_LINE_BYTES,
          (line) => seen.push(line),
          () => undefined,
        );
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
        for (let at = 0; at < bytes.length; at += step) reader.push(bytes.subarray(at, at + step));
        expect(seen).toEqual(lines.filter((line) => line !== ""));
      }),
    );
  });
});
