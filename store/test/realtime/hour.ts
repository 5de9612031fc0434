import { type JsonObject } from "../../src/format/schema";
import { type Recording } from "./recording";

const HEADER_BYTES = 44;
/** 100 ms of 24 kHz PCM16. */
const CHUNK_BYTES = 4_800;
const CHUNKS_PER_TURN = 50;

export interface HourReport {
  turns: number;
  frames: number;
  /** Most resident memory above the start, of samples taken once a minute of the hour, in bytes; the first ten left out. */
  growthBytes: number;
  peakRssBytes: number;
  completedToDurableMs: number[];
}

/**
 * Plays traffic of a server-VAD transcription as fast as it can be persisted: audio in 100 ms chunks whose bytes are in
 * the capture, a turn each five seconds with deltas, completions that come two turns late and in swapped order.
 */
export async function playTraffic(recording: Recording, minutes: number): Promise<HourReport> {
  const { recorder, clock } = recording;
  const start = clock.now();
  const turns = (minutes * 60_000) / (CHUNKS_PER_TURN * 100);
  const report: HourReport = { turns, frames: 0, growthBytes: 0, peakRssBytes: 0, completedToDurableMs: [] };
  const receive = async (event: JsonObject): Promise<void> => {
    report.frames += 1;
    await recording.receive(event);
  };
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const complete = async (turn: number): Promise<void> => {
    const item_id = `item_${turn}`;
    for (let n = 0; n < 8; n += 1) {
      await receive({ type: "conversation.item.input_audio_transcription.delta", item_id, delta: `word${n} ` });
    }
    await receive({
      type: "conversation.item.input_audio_transcription.completed",
      item_id,
      transcript: `Turn ${turn} of the hour, in words as they are spoken.`,
      usage: { type: "duration", seconds: 5 },
    });
  };
  let written = 0;
  let baseline = 0;
  for (let turn = 0; turn < turns; turn += 1) {
    const item_id = `item_${turn}`;
    const previous_item_id = turn === 0 ? null : `item_${turn - 1}`;
    for (let n = 0; n < CHUNKS_PER_TURN; n += 1) {
      chunk.writeUInt32LE(turn * CHUNKS_PER_TURN + n, 0);
      await recording.capture.write(chunk);
      const wav = { start: HEADER_BYTES + written, end: HEADER_BYTES + written + CHUNK_BYTES };
      written += CHUNK_BYTES;
      const event = { type: "input_audio_buffer.append", audio: chunk.toString("base64") };
      report.frames += 1;
      void recorder.observeSend("c1", event, { observation: "send_attempt", wav });
      clock.advanceTo(start + (turn * CHUNKS_PER_TURN + n) * 100);
    }
    recorder.captureSynced(written);
    await receive({ type: "input_audio_buffer.speech_started", item_id, audio_start_ms: turn * 5_000 + 100 });
    await receive({ type: "input_audio_buffer.speech_stopped", item_id, audio_end_ms: turn * 5_000 + 4_800 });
    await receive({ type: "input_audio_buffer.committed", item_id, previous_item_id });
    const item = { id: item_id, type: "message", role: "user", content: [{ type: "input_audio", transcript: null }] };
    await receive({ type: "conversation.item.added", previous_item_id, item });
    if (turn % 2 === 1) {
      await complete(turn);
      const before = performance.now();
      await complete(turn - 1);
      await recorder.settled();
      report.completedToDurableMs.push(performance.now() - before);
    }
    if (turn % 12 === 0) {
      const { rss } = process.memoryUsage();
      report.peakRssBytes = Math.max(report.peakRssBytes, rss);
      const minute = turn / 12;
      if (minute === 10) baseline = rss;
      if (minute > 10) report.growthBytes = Math.max(report.growthBytes, rss - baseline);
    }
  }
  return report;
}
