import { ScriptedEngine } from "../../src/provider/server/engines/scripted";
import { type EngineTurn, type SpeechEngine, type TurnOptions } from "../../src/provider/server/speech-engine";
import { sampleBytes, script } from "./bench";

const PROBE_BYTES = 960;
const BYTES_PER_MS = 48;

/** Knows the sample by its sound, wherever in a connection it comes: what is sent again is recognised again. */
export class SampleEngine implements SpeechEngine {
  readonly name = "the sample's own words";
  readonly #script = new ScriptedEngine(script);

  openTurn(options: TurnOptions): EngineTurn {
    let heard = Buffer.alloc(0);
    let turn: EngineTurn | undefined;
    return {
      push: (samples) => {
        if (turn !== undefined) return turn.push(samples);
        heard = Buffer.concat([heard, samples]);
        for (let at = 0; at + PROBE_BYTES <= heard.length; at += PROBE_BYTES) {
          const found = sampleBytes.indexOf(heard.subarray(at, at + PROBE_BYTES));
          // Silence is the same everywhere; only sound says where it is from.
          const isUnique = found >= 0 && sampleBytes.indexOf(heard.subarray(at, at + PROBE_BYTES), found + 1) < 0;
          if (!isUnique) continue;
          turn = this.#script.openTurn({ ...options, startMs: (found - at) / BYTES_PER_MS });
          return turn.push(heard);
        }
      },
      finish: async () => (await turn?.finish()) ?? "",
      cancel: () => turn?.cancel(),
    };
  }

  async close(): Promise<void> {}
}
