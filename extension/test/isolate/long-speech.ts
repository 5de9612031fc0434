import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { wavHeader } from "@persyk/store";
import { type Script } from "../../src/provider/server/engines/scripted";
import { BYTES_PER_SECOND, HEADER_BYTES, sample, script } from "./recording-fixture";

export interface LongSpeech {
  /** The WAV file. */
  file: string;
  script: Script;
  words: string[];
}

/** The sample said over and over for so many seconds. Every turn has its number, so that no two are the same. */
export function longSpeech(folder: string, seconds: number): LongSpeech {
  const sound = readFileSync(sample).subarray(HEADER_BYTES);
  const bytes = seconds * BYTES_PER_SECOND;
  const rounds = Math.ceil(bytes / sound.length);
  const whole = Buffer.concat(Array.from({ length: rounds }, () => sound)).subarray(0, bytes);
  const file = path.join(folder, `speech-${seconds}.wav`);
  writeFileSync(file, Buffer.concat([wavHeader(bytes), whole]));
  const roundMs = (sound.length / BYTES_PER_SECOND) * 1000;
  const turns = Array.from({ length: rounds }, (_none, round) =>
    script.turns.map((turn, at) => ({
      startMs: turn.startMs + round * roundMs,
      endMs: turn.endMs + round * roundMs,
      text: `${round * script.turns.length + at + 1} ${turn.text}`,
    })),
  )
    .flat()
    .filter(({ endMs }) => endMs <= seconds * 1000);
  return { file, script: { turns }, words: turns.map(({ text }) => text) };
}
