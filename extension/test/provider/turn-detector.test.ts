import { readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { BYTES_PER_MS } from "../../src/capture/protocol";
import { TurnDetector, type TurnEvent } from "../../src/provider/vad/turn-detector";
import { createVoiceActivity, type VoiceActivity } from "../../src/provider/vad/voice-activity";

const sample = readFileSync(path.join(__dirname, "../../../assets/sample.wav")).subarray(44);

/** Feeds pieces and collects the turns as pairs of milliseconds. */
function turnsOf(detector: TurnDetector, pieces: Iterable<Buffer>): [number, number][] {
  const events: TurnEvent[] = [];
  for (const piece of pieces) events.push(...detector.push(piece));
  const turns: [number, number][] = [];
  for (const event of events) {
    if (event.kind === "started") turns.push([event.atByte / BYTES_PER_MS, Infinity]);
    else turns[turns.length - 1] = [turns.at(-1)?.[0] ?? NaN, event.atByte / BYTES_PER_MS];
  }
  return turns;
}

/** A detector whose answer is written in the sound: a frame that starts with a non-zero sample is speech. */
const marked: VoiceActivity = { isSpeech: (frame) => frame.readInt16LE(0) !== 0, close: () => undefined };

function frames(pattern: string): Buffer {
  return Buffer.concat([...pattern].map((letter) => Buffer.alloc(960, letter === "x" ? 1 : 0)));
}

describe("voice activity", () => {
  test("the three sentences of the sample are three turns", async () => {
    const activity = await createVoiceActivity();
    const turns = turnsOf(new TurnDetector(activity), [sample]);
    activity.close();
    expect(turns).toHaveLength(3);
    const spoken = [
      [540, 3_420],
      [4_640, 7_560],
      [8_800, 12_220],
    ];
    for (const [at, [start, end]] of turns.entries()) {
      const [from, to] = spoken[at] ?? [];
      // A turn begins before its first word and ends after its last.
      expect(start).toBeLessThanOrEqual(from ?? NaN);
      expect(end).toBeGreaterThanOrEqual((to ?? NaN) - 100);
    }
  });

  test("digital silence is never speech", async () => {
    const activity = await createVoiceActivity();
    expect(turnsOf(new TurnDetector(activity), [Buffer.alloc(48_000 * 10)])).toEqual([]);
    activity.close();
  });

  test("faint noise is not a turn", async () => {
    const activity = await createVoiceActivity();
    const noise = Buffer.alloc(48_000 * 10);
    let state = 1;
    for (let at = 0; at < noise.length; at += 2) {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      noise.writeInt16LE((state % 61) - 30, at);
    }
    expect(turnsOf(new TurnDetector(activity), [noise])).toEqual([]);
    activity.close();
  });
});

describe("turn detector", () => {
  test("a click is not a turn; speech is, with what comes before it and the silence that ends it", () => {
    const sound = frames(`${"-".repeat(50)}x${"-".repeat(49)}${"x".repeat(50)}${"-".repeat(50)}`);
    const turns = turnsOf(new TurnDetector(marked), [sound]);
    expect(turns).toEqual([[2_000 - 300, 3_000 + 500]]);
  });

  test("a turn never reaches back into the turn before it", () => {
    const sound = frames(`${"x".repeat(50)}${"-".repeat(26)}${"x".repeat(50)}${"-".repeat(30)}`);
    const turns = turnsOf(new TurnDetector(marked), [sound]);
    expect(turns).toEqual([
      [0, 1_500],
      [1_500, 2_520 + 500],
    ]);
  });

  test("how the sound is cut into pieces changes nothing", () => {
    const pattern = fc.array(fc.constantFrom("x", "x", "-"), { minLength: 10, maxLength: 300 });
    fc.assert(
      fc.property(pattern, fc.array(fc.integer({ min: 1, max: 7_000 }), { minLength: 1 }), (letters, cuts) => {
        const sound = frames(letters.join(""));
        const pieces: Buffer[] = [];
        for (let at = 0, turn = 0; at < sound.length; turn += 1) {
          const length = cuts[turn % cuts.length] ?? 1;
          pieces.push(sound.subarray(at, at + length));
          at += length;
        }
        expect(turnsOf(new TurnDetector(marked), pieces)).toEqual(turnsOf(new TurnDetector(marked), [sound]));
      }),
    );
  });
});
