import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { playTraffic } from "../test/realtime/hour";
import { Recording } from "../test/realtime/recording";
import { ms, rounds, sample } from "./measure";
import { type BenchRow } from "./row";

const MINUTES = 60;
const TURNS = 200;
const RECORD = Buffer.alloc(1_024, 0x20);
const MEBIBYTE = 1_048_576;

/** An hour of capture and transcription replayed as fast as it is persisted, and how long a final turn takes to disk. */
export async function bench(): Promise<BenchRow[]> {
  return [await hour(), await completedToDurable()];
}

async function hour(): Promise<BenchRow> {
  const recording = await Recording.begin();
  try {
    const before = process.memoryUsage().rss;
    let growthBytes = 0;
    let peakRssBytes = 0;
    let frames = 0;
    const taken = await sample(async () => {
      ({ growthBytes, peakRssBytes, frames } = await playTraffic(recording, MINUTES));
      await recording.recorder.stop({ durationMs: MINUTES * 60_000 });
    });
    const usedBytes = peakRssBytes - before;
    return {
      what: `one hour of capture and transcription (${frames.toLocaleString("en-US")} frames)`,
      ours: `${ms(taken.wallMs)} (${ms(taken.cpuMs)} CPU)`,
      against: "its own length",
      theirs: "3600 s",
      ratio: `${Math.round(3_600_000 / taken.wallMs)} × faster`,
      bar: "≤ 60 s, memory flat, ≤ 150 MB",
      met: taken.wallMs <= 60_000 && usedBytes <= 150 * MEBIBYTE && growthBytes <= 64 * MEBIBYTE,
      note: `memory at most ${Math.round(usedBytes / MEBIBYTE)} MB above the start, ${Math.round(growthBytes / MEBIBYTE)} MB more after the tenth minute`,
    };
  } finally {
    await recording.end();
  }
}

async function completedToDurable(): Promise<BenchRow> {
  const recording = await Recording.begin();
  const floor = openSync(join(recording.folder, "floor"), "w");
  try {
    const ours: number[] = [];
    const theirs: number[] = [];
    const count = TURNS * rounds(1);
    for (let turn = 0; turn < count; turn += 1) {
      await recording.turn(`i${turn}`, turn === 0 ? null : `i${turn - 1}`);
      await recording.recorder.settled();
      const start = performance.now();
      await recording.transcript(`i${turn}`, "A turn of some words, as they are spoken.");
      await recording.recorder.settled();
      const durable = performance.now();
      writeSync(floor, RECORD);
      fsyncSync(floor);
      ours.push(durable - start);
      theirs.push(performance.now() - durable);
    }
    const added = percentile(ours, 95) - percentile(theirs, 95);
    return {
      what: "provider `completed` → canonical message durable, p95",
      ours: ms(percentile(ours, 95)),
      against: "write + fsync on an open handle, p95",
      theirs: ms(percentile(theirs, 95)),
      ratio: `+ ${ms(Math.max(0, added))}`,
      bar: "+ ≤ 5 ms",
      met: added <= 5,
      note: `medians ${ms(percentile(ours, 50))} and ${ms(percentile(theirs, 50))}, ${count} turns`,
    };
  } finally {
    closeSync(floor);
    await recording.end();
  }
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * share) / 100))] ?? 0;
}
