import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { errnoName } from "../../src/capture/errno";
import { findSpeechEngine } from "../../src/provider/server/engines/find-engine";
import { EngineFailure, type SpeechEngine } from "../../src/provider/server/speech-engine";
import { sampleBytes, script } from "../host/bench";

const folder = mkdtempSync(path.join(os.tmpdir(), "persyk-engine-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function program(name: string, body: string): void {
  writeFileSync(path.join(folder, name), `#!/bin/sh\n${body}\n`);
  chmodSync(path.join(folder, name), 0o755);
}

async function recognise(engine: SpeechEngine, samples: Buffer): Promise<{ text: string; partials: string }> {
  let partials = "";
  const turn = engine.openTurn({ startMs: 0, onPartial: (delta) => (partials += delta) });
  for (let at = 0; at < samples.length; at += 4_800) turn.push(samples.subarray(at, at + 4_800));
  return { text: await turn.finish(), partials };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if (errnoName(error) !== "ESRCH") throw error;
    return false;
  }
}

async function find(whisperModel?: string): Promise<SpeechEngine> {
  const engine = await findSpeechEngine({ searchPath: folder, whisperModel });
  if (engine === undefined) throw new Error("no engine was found");
  return engine;
}

test("without a program there is no engine", async () => {
  expect(await findSpeechEngine({ searchPath: path.join(folder, "nothing"), whisperModel: undefined })).toBeUndefined();
});

test("pocketsphinx: a line is an utterance, and a turn is all of them", async () => {
  program("pocketsphinx_continuous", "cat > /dev/null; echo one two; echo; echo three");
  const engine = await find();
  expect(await recognise(engine, sampleBytes.subarray(0, 48_000))).toEqual({
    text: "one two three",
    partials: "one two three",
  });
  await engine.close();
});

test("an engine that fails is a failure with a code, not an empty text", async () => {
  program("pocketsphinx_continuous", "cat > /dev/null; exit 3");
  const engine = await find();
  await expect(recognise(engine, Buffer.alloc(4_800))).rejects.toMatchObject({
    name: "EngineFailure",
    code: "engine-failed",
  });
  await engine.close();
});

test("whisper-cli: a cancelled turn ends its program, and the next turn is heard", async () => {
  const model = path.join(folder, "model.bin");
  writeFileSync(model, "");
  const started = path.join(folder, "started");
  program(
    "whisper-cli",
    `[ -e "${started}" ] && { echo next; exit; }; echo $$ > "${started}.new"; mv "${started}.new" "${started}"; exec sleep 600`,
  );
  const engine = await find(model);
  const turn = engine.openTurn({ startMs: 0, onPartial: () => undefined });
  const failed = expect(turn.finish()).rejects.toMatchObject({ name: "EngineFailure", code: "engine-cancelled" });
  while (!existsSync(started)) await new Promise((resolve) => setTimeout(resolve, 10));
  turn.cancel();
  await failed;
  const pid = Number(readFileSync(started, "utf8"));
  while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
  expect((await recognise(engine, sampleBytes.subarray(0, 4_800))).text).toBe("next");
  await engine.close();
});

test("closing ends an engine that hangs", async () => {
  program("pocketsphinx_continuous", "exec sleep 600");
  const engine = await find();
  const running = recognise(engine, Buffer.alloc(4_800));
  const failed = expect(running).rejects.toBeInstanceOf(EngineFailure);
  await engine.close();
  await failed;
});

test("whisper-cli: 16 kHz sound of at least its minimum in a private file that is gone afterwards; remarks are no words", async () => {
  const model = path.join(folder, "model.bin");
  writeFileSync(model, "");
  const seen = path.join(folder, "seen.wav");
  const name = path.join(folder, "name");
  program(
    "whisper-cli",
    `cp "$4" "${seen}"; echo "$4" > "${name}"; echo " hello"; echo "[BLANK_AUDIO]"; echo "(music)"; echo "world"`,
  );
  const engine = await find(model);
  expect(engine.name).toContain("model.bin");
  expect((await recognise(engine, sampleBytes.subarray(0, 24_000))).text).toBe("hello world");
  const wav = readFileSync(seen);
  expect(wav.readUInt32LE(24)).toBe(16_000);
  expect(wav.readUInt32LE(40)).toBeGreaterThanOrEqual(16_000 * 2);
  expect(() => readFileSync(readFileSync(name, "utf8").trim())).toThrow("ENOENT");
  await engine.close();
});

describe("Apple's recogniser through the helper", () => {
  const seen = path.join(folder, "apple.wav");
  const args = path.join(folder, "apple.args");
  const helperPath = path.join(folder, "capture-helper");
  const version = (speech: boolean): string =>
    `[ "$1" = version ] && { echo '{"v":1,"type":"version","helper":"0.1.0","protocol":"capture/1","speech":${speech}}'; exit; }`;

  /** A helper that follows its file until standard input ends, and then says some lines. */
  async function apple(...body: string[]): Promise<SpeechEngine> {
    program("capture-helper", [version(true), `echo "$@" > "${args}"`, ...body].join("\n"));
    const engine = await findSpeechEngine({ searchPath: "", helperPath });
    if (engine === undefined) throw new Error("no engine was found");
    return engine;
  }

  const said = (...lines: object[]): string =>
    ["cat > /dev/null", `cp "$3" "${seen}"`, ...lines.map((one) => `echo '${JSON.stringify({ v: 1, ...one })}'`)].join(
      "\n",
    );

  test("is taken only where the helper says that it is there", async () => {
    program("capture-helper", version(false));
    expect(await findSpeechEngine({ searchPath: "", helperPath })).toBeUndefined();
    program("capture-helper", "echo nonsense");
    expect(await findSpeechEngine({ searchPath: "", helperPath })).toBeUndefined();
    // A program for another processor, or none at all: Node throws where others only say so.
    writeFileSync(helperPath, Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 0]));
    expect(await findSpeechEngine({ searchPath: "", helperPath })).toBeUndefined();
    expect(await findSpeechEngine({ searchPath: "", helperPath: path.join(folder, "absent") })).toBeUndefined();
    expect((await apple()).name).toBe("Apple speech recognition");
  });

  test("hears every sample of the turn, and joins the final pieces alone", async () => {
    const engine = await apple(
      said(
        { type: "progress", fraction: 0.5 },
        { type: "partial", from: 0, to: 10, text: "please" },
        { type: "final", from: 0, to: 20, text: "Please call." },
        { type: "final", from: 20, to: 30, text: "The bank" },
        { type: "final", from: 30, to: 40, text: " today" },
        { type: "final", from: 40, to: 50, text: ", not tomorrow." },
        { type: "transcribed", frames: 50, locale: "en-US" },
      ),
    );
    const text = "Please call. The bank today, not tomorrow.";
    expect(await recognise(engine, sampleBytes.subarray(0, 48_000))).toEqual({ text, partials: text });
    const wav = readFileSync(seen);
    expect(wav.subarray(44)).toEqual(sampleBytes.subarray(0, 48_000));
    expect(readFileSync(args, "utf8")).toMatch(/^transcribe --input \S+turn\.wav --follow\n$/);
    const [, , file = ""] = readFileSync(args, "utf8").split(" ");
    expect(existsSync(path.dirname(file))).toBe(false);
    await engine.close();
  });

  test("a helper that cannot be run any more fails the turn, and leaves no file", async () => {
    const engine = await apple("exit 0");
    const before = readdirSync(os.tmpdir()).filter((name) => name.startsWith("persyk-turn-"));
    writeFileSync(helperPath, Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 0]));
    await expect(recognise(engine, sampleBytes.subarray(0, 4_800))).rejects.toMatchObject({ code: "engine-failed" });
    await engine.close();
    const after = readdirSync(os.tmpdir()).filter((name) => name.startsWith("persyk-turn-"));
    expect(after.filter((name) => !before.includes(name))).toEqual([]);
  });

  test("joins a script without spaces without any, and names the language", async () => {
    const engine = await apple(
      said(
        { type: "final", from: 0, to: 1, text: "明日" },
        { type: "final", from: 1, to: 2, text: "電話して" },
        { type: "transcribed", frames: 2, locale: "ja-JP" },
      ),
    );
    const turn = engine.openTurn({ startMs: 0, language: "ja", onPartial: () => undefined });
    turn.push(sampleBytes.subarray(0, 4_800));
    expect(await turn.finish()).toBe("明日電話して");
    expect(readFileSync(args, "utf8")).toContain("--locale ja --follow");
    await engine.close();
  });

  test.each([
    [
      "an error of the helper",
      said({ type: "error", code: "format-unsupported", fatal: true, message: "not this language" }),
      "engine-format-unsupported",
    ],
    ["an end without a result", said({ type: "final", from: 0, to: 1, text: "half" }), "engine-failed"],
    ["what is no line of the protocol", said({ type: "surprise" }), "engine-failed"],
    ["an end before the turn's", "exit 3", "engine-failed"],
  ])("%s is a failure with a code, never half a text", async (_name, body, code) => {
    const engine = await apple(body);
    await expect(recognise(engine, sampleBytes.subarray(0, 48_000))).rejects.toMatchObject({
      name: "EngineFailure",
      code,
    });
    await engine.close();
  });

  test("closing ends a turn that hangs, its program and its file", async () => {
    const pidFile = path.join(folder, "apple.pid");
    const engine = await apple(`echo $$ > "${pidFile}.new"; mv "${pidFile}.new" "${pidFile}"; exec sleep 600`);
    const failed = expect(recognise(engine, Buffer.alloc(4_800))).rejects.toMatchObject({ code: "engine-cancelled" });
    while (!existsSync(pidFile)) await new Promise((resolve) => setTimeout(resolve, 10));
    await engine.close();
    await failed;
    expect(isRunning(Number(readFileSync(pidFile, "utf8")))).toBe(false);
    const [, , file = ""] = readFileSync(args, "utf8").split(" ");
    expect(existsSync(path.dirname(file))).toBe(false);
  });
});

// Machines without one have nothing to judge; the spoken end-to-end run of CI installs it.
const withEngine = (process.env["PATH"] ?? "")
  .split(path.delimiter)
  .some((place) => existsSync(path.join(place, "pocketsphinx_continuous")))
  ? test
  : test.skip;

withEngine("a real engine hears the sample with at most two wrong words", async () => {
  const engine = await findSpeechEngine({ searchPath: process.env["PATH"] });
  if (engine === undefined) throw new Error("the installed engine was not found");
  const [first] = script.turns;
  const { text } = await recognise(engine, sampleBytes.subarray(0, 4_200 * 48));
  await engine.close();
  const expected = (first?.text ?? "").split(" ");
  const heard = text.split(" ");
  expect(expected.filter((word) => !heard.includes(word)).length).toBeLessThanOrEqual(2);
});
