/** What users of such tools suffer, told as stories; those of a killed or closed process are in the host's tests. */
import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { inspectWav, Library, openSession, recoverWav, wavHeader } from "@persyk/store";
import { providerFailure } from "../../src/provider/failure";
import { startRealtimeServer } from "../../src/provider/server/realtime-server";
import { RecordingControl } from "../../src/host/control";
import { writeFakeHelper } from "../capture/fake-helper";
import { record, removeBuilt, sampleBytes, samplePath, spoken, wavOf, Workbench } from "../host/bench";
import { SampleEngine } from "../host/sample-engine";

const bench = new Workbench();
afterAll(() => {
  bench.clear();
  removeBuilt();
});

const findEngine = async (): Promise<SampleEngine> => new SampleEngine();

test("1: the provider refuses the key after speech: the session opens, the sound is whole, transcribing again works", async () => {
  let turns = 0;
  const server = await startRealtimeServer({
    engine: new SampleEngine(),
    hooks: {
      outgoing: (event, send, connection) => {
        send(event);
        if (!String(event["type"]).endsWith("transcription.completed") || (turns += 1) > 1) return;
        const code = "invalid_api_key";
        connection.send({
          type: "error",
          error: { type: "invalid_request_error", code, message: "no", event_id: null },
        });
      },
    },
  });
  const provider = { kind: "compatible", endpoint: server.url, model: "on-device" } as const;
  const first = await record(bench.options({ provider, apiKey: "sk-story-one-secret" }));
  await server.close();
  expect(first.result.outcome).toBe("incomplete");
  expect(first.result.text).toBe(spoken[0]);
  expect(first.result.state.warnings).toContainEqual(providerFailure("invalid_api_key"));
  const { location } = first.result.session;
  expect(wavOf(location).subarray(44).equals(sampleBytes)).toBe(true);
  const asset = path.join(location, "assets", `${first.result.recordingId}.wav`);
  const again = await record(bench.options({ session: location, source: { kind: "file", path: asset } }), {
    findEngine,
  });
  expect(again.result.text.split("\n")).toEqual(spoken);
  const session = await openSession(location);
  expect(session.verdict).toBe("valid");
  await session.close();
});

test("5: an input of zeros: a warning, no message, the reason", async () => {
  const silent = path.join(bench.folder, "silent.wav");
  writeFileSync(silent, Buffer.concat([wavHeader(48_000 * 4), Buffer.alloc(48_000 * 4)]));
  const { result, entries } = await record(bench.options({ source: { kind: "file", path: silent, pace: 4 } }), {
    findEngine,
  });
  expect(result.state.warnings.map(({ code }) => code)).toEqual(["silent-input"]);
  expect(entries.some(({ type }) => type === "message")).toBe(false);
});

test("6: the device goes and another comes: one WAV, one gap, the messages in order", async () => {
  const helper = writeFakeHelper(bench.folder);
  const options = bench.options();
  const { result, entries } = await record(options, {
    findEngine,
    standIn: [process.execPath, helper, "device-lost", samplePath],
  });
  expect(result.text.split("\n")).toEqual(spoken);
  expect(
    readdirSync(path.join(result.session.location, "assets")).filter((name) => name.endsWith(".wav")),
  ).toHaveLength(1);
  const finished = entries.at(-1);
  expect(finished).toMatchObject({
    type: "recording.finished",
    gaps: [{ reason: "device-lost", startMs: 5_000, endMs: 5_700 }],
  });
  expect(result.state.device).toBe("Microphone Two");
});

test("6: the chosen device is not there: the system's input is recorded, and it is said", async () => {
  const helper = writeFakeHelper(bench.folder);
  const { result } = await record(bench.options(), {
    findEngine,
    standIn: [process.execPath, helper, "absent-device", samplePath],
  });
  expect(result.text).toBe(spoken[0]);
  expect(result.outcome).toBe("complete");
  expect(result.state.device).toBe("Microphone One");
  expect(result.state.warnings).toMatchObject([
    { code: "device-fallback", message: expect.stringContaining("not connected") },
  ]);
});

test("7: the first sample is sent although nothing was ready, and the recording covers the tail after the stop", async () => {
  const control = new RecordingControl();
  let stoppedAtMs = 0;
  const { result } = await record(
    bench.options({ source: { kind: "file", path: samplePath, pace: 1 }, provider: { kind: "none" } }),
    {
      control,
      onState: (state) => {
        if (state.phase !== "recording" || state.elapsedMs < 300 || stoppedAtMs > 0) return;
        stoppedAtMs = state.elapsedMs;
        control.push({ kind: "stop" });
      },
    },
  );
  expect(result.durationMs).toBeGreaterThanOrEqual(stoppedAtMs + 250);
  const wav = wavOf(result.session.location).subarray(44);
  expect(sampleBytes.subarray(0, wav.length).equals(wav)).toBe(true);
});

test("8: the disk is full: a visible stop, its reason, a valid WAV", async () => {
  const helper = writeFakeHelper(bench.folder);
  const { result, entries } = await record(bench.options(), {
    findEngine,
    standIn: [process.execPath, helper, "disk-full", samplePath],
  });
  expect(result.state.warnings.map(({ code }) => code)).toContain("disk-full");
  expect(result.text).toBe(spoken[0]);
  expect(entries.at(-1)?.type).toBe("recording.finished");
  const report = await inspectWav(path.join(result.session.location, "assets", `${result.recordingId}.wav`));
  expect(report.outcome).toBe("intact");
});

test("9: the live asset is refused, the finished one is left as it is, and a third run changes nothing", async () => {
  const control = new RecordingControl();
  const attempts: Promise<unknown>[] = [];
  const { result } = await record(
    bench.options({ source: { kind: "file", path: samplePath, pace: 1 }, provider: { kind: "none" } }),
    {
      control,
      onState: (state) => {
        if (state.phase !== "recording" || state.elapsedMs < 200 || attempts.length > 0) return;
        const asset = path.join(state.session?.location ?? "", "assets", `${state.recordingId}.wav`);
        const attempt = recoverWav(asset).then(
          () => "recovered",
          (error: { code?: string }) => error.code,
        );
        attempts.push(attempt);
        void attempt.then(() => control.push({ kind: "stop" }));
      },
    },
  );
  expect(await attempts[0]).toBe("capture-live");
  const asset = path.join(result.session.location, "assets", `${result.recordingId}.wav`);
  const before = wavOf(result.session.location);
  for (let run = 0; run < 2; run += 1) expect((await recoverWav(asset)).outcome).toBe("intact");
  expect(wavOf(result.session.location).equals(before)).toBe(true);
});

test("10: what was said is found, whatever its case", async () => {
  const library = new Library({ writeRoot: { path: bench.root, explicit: true } });
  const { hits } = await library.search("BANK TOMORROW");
  expect(hits.length).toBeGreaterThan(0);
  expect(hits[0]?.excerpt.toLowerCase()).toContain("bank tomorrow");
});

test("the silence limit ends a forgotten recording, visibly", async () => {
  const silent = path.join(bench.folder, "silent.wav");
  const options = bench.options({
    provider: { kind: "none" },
    source: { kind: "file", path: silent, pace: 2 },
    silenceLimitMs: 1_000,
  });
  const { result } = await record(options);
  expect(result.state.warnings.map(({ code }) => code)).toContain("silence-limit");
  expect(result.durationMs).toBeLessThan(4_000);
});

test("the maximum length ends it too", async () => {
  const { result } = await record(bench.options({ provider: { kind: "none" }, maxDurationMs: 1_000 }));
  expect(result.state.warnings.map(({ code }) => code)).toEqual(["max-duration"]);
  expect(result.durationMs).toBe(1_000);
});
