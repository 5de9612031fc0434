import { inspectWav, openSession } from "@persyk/store";
import { longSpeech } from "./long-speech";
import { BYTES_PER_SECOND, RecordingBench, until } from "./recording-fixture";

/** Stories that need their whole length. Seconds are those of the sound, of which one second brings many. */
const FRAMES_PER_SECOND = 24_000;

let bench: RecordingBench;
beforeEach(() => {
  bench = new RecordingBench();
});
afterEach(() => bench.stop());

const record = { do: "view", command: "record" } as const;
const finished = () => bench.records().find(({ type }) => type === "recording.finished");
const recordedSeconds = () => bench.soundBytes() / BYTES_PER_SECOND;

test("1: the key is refused after ten minutes of speech: ten minutes play, and all of them are transcribed again", async () => {
  const speech = longSpeech(bench.folder, 600);
  const early = speech.words.slice(0, -1);
  let answers = 0;
  await bench.start({
    script: speech.script,
    hooks: {
      outgoing: (event, send, connection) => {
        send(event);
        if (!String(event["type"]).endsWith("transcription.completed")) return;
        answers += 1;
        if (answers !== early.length) return;
        const error = { type: "invalid_request_error", code: "invalid_api_key", message: "no", event_id: null };
        connection.send({ type: "error", error });
      },
    },
  });
  const view = bench.isolate({ pace: 60, source: speech.file });
  await view.call(record);
  await until("it is finished", () => bench.locations().length > 0 && finished() !== undefined);
  await view.call({ do: "until", text: "Some of it is not transcribed" });
  await view.closeWindow();
  await until("the host has ended", () => bench.processes().length === 0);
  const [location = ""] = bench.locations();
  const session = await openSession(location);
  expect(session.verdict).toBe("valid");
  await session.close();
  const wav = bench.wavPath();
  expect(await inspectWav(wav)).toMatchObject({ outcome: "intact", frames: 600 * FRAMES_PER_SECOND });
  expect(finished()).toMatchObject({ durationMs: 600_000, outcome: "incomplete" });
  expect(bench.said()).toEqual(early);

  const detail = bench.isolate();
  await detail.call({ do: "view", command: "session-detail", arguments: { session: location } });
  await detail.call({ do: "until", text: "Transcribe Recording Again" });
  await detail.call({ do: "perform", action: "Transcribe Recording Again" });
  await detail.call({ do: "until", text: speech.words.at(-1) ?? "" });
  await until("the host has ended", () => bench.processes().length === 0);
  expect(bench.said()).toEqual([...early, ...speech.words]);
  expect(bench.wavPaths()).toEqual([wav]);
});

test("4: the window closes after 3 s, and at 120 s it is opened again on the live recording", async () => {
  const speech = longSpeech(bench.folder, 600);
  await bench.start({ script: speech.script });
  const view = bench.isolate({ pace: 8, source: speech.file });
  await view.call(record);
  await until("3 s are recorded", () => recordedSeconds() >= 3);
  await view.closeWindow();
  await until("120 s are recorded", () => recordedSeconds() >= 120);
  const again = bench.isolate();
  await again.call(record);
  const heard = speech.script.turns.filter(({ endMs }) => endMs < 110_000);
  await again.call({ do: "until", text: heard.at(-1)?.text ?? "" });
  const screen = await again.call<string>({ do: "text" });
  expect(screen).toMatch(/Elapsed\n[2-9]:\d\d/);
  expect(screen).toContain("Stop Recording");
  // What is shown grows: it is the recording itself, and not its last picture.
  const next = speech.script.turns.find(({ startMs }) => startMs > recordedSeconds() * 1000);
  await again.call({ do: "until", text: next?.text ?? "nothing" });
  await again.call({ do: "perform", action: "Stop Recording" });
  await until("it is finished", () => finished() !== undefined);
  await again.call({ do: "until", text: "Record Again" });
  expect(bench.locations()).toHaveLength(1);
  const seconds = recordedSeconds();
  expect(seconds).toBeGreaterThan(120);
  expect(finished()).toMatchObject({ outcome: "complete", durationMs: Math.round(seconds * 1000) });
  const whole = speech.script.turns.filter(({ endMs }) => endMs < (seconds - 1) * 1000).map(({ text }) => text);
  expect(bench.said().slice(0, whole.length)).toEqual(whole);
  expect((await again.world()).clipboard).toEqual([bench.said().join("\n")]);
});
