import { CAPTURE_DATA_OFFSET } from "../../src/assets/wav-format";
import { type JsonObject } from "../../src/format/schema";
import { type Recording } from "./recording";

/** 100 ms of 24 kHz PCM16. */
const CHUNK_BYTES = 4_800;
const CHUNKS_PER_TURN = 50;
const TURNS_PER_MINUTE = 600 / CHUNKS_PER_TURN;

export interface HourReport {
  turns: number;
  frames: number;
  /**
   * Most memory above that of the tenth minute, of samples taken once a minute, in bytes: resident, and what is held after
   * a collection. Run it in a process of its own that exposes the collector: any other one also counts its neighbours.
   */
  growthBytes: number;
  heldGrowthBytes: number;
  peakRssBytes: number;
}

/**
 * Plays traffic of a server-VAD transcription as fast as it can be persisted: audio in 100 ms chunks whose bytes are in
 * the capture, a turn each five seconds with deltas, completions that come two turns late and in swapped order.
 */
export async function playTraffic(recording: Recording, minutes: number): Promise<HourReport> {
  const { recorder, clock } = recording;
  const start = clock.now();
  const turns = (minutes * 60_000) / (CHUNKS_PER_TURN * 100);
  const report: HourReport = { turns, frames: 0, growthBytes: 0, heldGrowthBytes: 0, peakRssBytes: 0 };
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
  let tenth = { rssBytes: 0, heldBytes: 0 };
  for (let turn = 0; turn < turns; turn += 1) {
    const item_id = `item_${turn}`;
    const previous_item_id = turn === 0 ? null : `item_${turn - 1}`;
    for (let n = 0; n < CHUNKS_PER_TURN; n += 1) {
      chunk.writeUInt32LE(turn * CHUNKS_PER_TURN + n, 0);
      await recording.capture.write(chunk);
      const wav = { start: CAPTURE_DATA_OFFSET + written, end: CAPTURE_DATA_OFFSET + written + CHUNK_BYTES };
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
      await complete(turn - 1);
      await recorder.settled();
    }
    if (turn % TURNS_PER_MINUTE === 0) {
      const minute = turn / TURNS_PER_MINUTE;
      const { rssBytes, heldBytes } = measureMemory();
      report.peakRssBytes = Math.max(report.peakRssBytes, rssBytes);
      if (minute === 10) tenth = { rssBytes, heldBytes };
      if (minute > 10) {
        report.growthBytes = Math.max(report.growthBytes, rssBytes - tenth.rssBytes);
        report.heldGrowthBytes = Math.max(report.heldGrowthBytes, heldBytes - tenth.heldBytes);
      }
    }
  }
  return report;
}

/** Resident memory as it is; held memory, heap and buffers, when the collector has run. */
function measureMemory(): { rssBytes: number; heldBytes: number } {
  const { rss } = process.memoryUsage();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return { rssBytes: rss, heldBytes: heapUsed + external };
}
