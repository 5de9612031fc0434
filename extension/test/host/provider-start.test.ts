import { ScriptedEngine } from "../../src/provider/server/engines/scripted";
import { type SpeechEngine } from "../../src/provider/server/speech-engine";
import { record, removeBuilt, sampleBytes, script, spoken, wavOf, Workbench } from "./bench";

const bench = new Workbench();
afterAll(() => {
  bench.clear();
  removeBuilt();
});

describe("the provider starts beside the capture", () => {
  test("an engine that is found after the sound has ended costs no sample, and hears it from the first one", async () => {
    let found: (engine: SpeechEngine) => void = () => undefined;
    const search = new Promise<SpeechEngine>((resolve) => (found = resolve));
    const { result, states } = await record(bench.options(), {
      findEngine: () => search,
      onState: (state) => {
        // The sound is whole before anybody knows of an engine.
        if (state.phase === "finishing") found(new ScriptedEngine(script));
      },
    });
    expect(result.text.split("\n")).toEqual(spoken);
    expect(result.outcome).toBe("complete");
    expect(wavOf(result.session.location).subarray(44).equals(sampleBytes)).toBe(true);
    const listening = states.findIndex(({ phase }) => phase === "recording");
    expect(listening).toBeGreaterThan(0);
    expect(states[listening]?.provider.state).toBe("off");
  });

  test("a fault in its start is shown and noted, and the recording keeps its sound and names what was not heard", async () => {
    const faults: unknown[] = [];
    const fault = new Error("the search for an engine broke");
    const { result, entries } = await record(bench.options(), {
      findEngine: () => Promise.reject(fault),
      onFault: (error) => faults.push(error),
    });
    expect(faults).toEqual([fault]);
    expect(result.outcome).toBe("incomplete");
    expect(result.state.warnings.map(({ code }) => code)).toEqual(["not-started"]);
    expect(result.state.provider.state).toBe("failed");
    expect(wavOf(result.session.location).subarray(44).equals(sampleBytes)).toBe(true);
    const finished = entries.at(-1);
    expect(finished).toMatchObject({
      type: "recording.finished",
      gaps: [{ reason: "not_transcribed", startMs: 0, endMs: result.durationMs }],
    });
  });
});
