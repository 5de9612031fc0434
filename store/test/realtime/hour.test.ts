import { rmSync } from "node:fs";
import { bundleProgram, Program, removeBundles } from "../support/program";
import { type HourRun } from "../support/programs/realtime-hour";
import { readEntries, RECORDING_ID, recordingFolder } from "./recording";

const MEBIBYTE = 1_048_576;
/** The audio alone is 173 MB, its base64 230 MB. */
const HEAP_MB = 64;

const folder = recordingFolder();
afterAll(() => {
  removeBundles();
  rmSync(folder, { recursive: true, force: true });
});

/** In a process of its own: the test runner's memory grows by what else it loads and leaves lying. */
async function playHour(minutes: number): Promise<HourRun> {
  const flags = ["--no-warnings", "--expose-gc", `--max-old-space-size=${HEAP_MB}`];
  const program = new Program(process.execPath, [...flags, bundleProgram("realtime-hour"), folder, String(minutes)]);
  await program.success();
  return JSON.parse(program.lines.join("\n"));
}

test("one hour of traffic: every turn once and in order, audio only in the capture, memory flat", async () => {
  const minutes = Number(process.env.PERSYK_HOUR_MINUTES ?? 60);
  const { location, turns, frames, outcome, growthBytes, heldGrowthBytes } = await playHour(minutes);
  expect(outcome).toBe("complete");
  const entries = await readEntries(location);
  const messages = entries.filter((entry) => entry.type === "message");
  expect(messages).toHaveLength(turns);
  messages.forEach((entry, turn) => {
    const [text, audio] = entry.message.content;
    expect(text).toMatchObject({ text: `Turn ${turn} of the hour, in words as they are spoken.` });
    expect(audio).toMatchObject({
      recordingId: RECORDING_ID,
      startMs: turn * 5_000 + 100,
      endMs: turn * 5_000 + 4_800,
    });
  });
  const events = entries.filter((entry) => entry.type === "realtime_event");
  expect(events).toHaveLength(frames);
  const paths = events
    .flatMap((event) => event.media ?? [])
    .map(({ asset }) => asset.status === "available" && asset.path);
  expect(new Set(paths)).toEqual(new Set([`assets/${RECORDING_ID}.wav`]));
  expect(growthBytes).toBeLessThan(64 * MEBIBYTE);
  // Beside the buffers in flight only the index of the session grows, by about 100 bytes an entry.
  expect(heldGrowthBytes).toBeLessThan(16 * MEBIBYTE);
});
