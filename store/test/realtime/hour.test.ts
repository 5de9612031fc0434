import { playTraffic } from "./hour";
import { Recording, RECORDING_ID } from "./recording";

test("one hour of traffic: every turn once and in order, audio only in the capture, memory flat", async () => {
  const minutes = Number(process.env.PERSYK_HOUR_MINUTES ?? 60);
  const recording = await Recording.begin();
  try {
    const { turns, frames, growthBytes } = await playTraffic(recording, minutes);
    const { outcome } = await recording.recorder.stop({ durationMs: minutes * 60_000 });
    expect(outcome).toBe("complete");
    const entries = await recording.entries();
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
    // The audio alone is 173 MB, its base64 230 MB; the collector of the test runner leaves tens of megabytes lying.
    expect(growthBytes).toBeLessThan(128 * 1_048_576);
  } finally {
    await recording.end();
  }
});
