import { record, removeBuilt, sampleBytes, script, spoken, wavOf, Workbench } from "./bench";

const bench = new Workbench();
afterAll(() => {
  bench.clear();
  removeBuilt();
});

describe("a recording, in this process", () => {
  test("speech becomes ordered messages, with its sound and its evidence in the session", async () => {
    const { result, states, entries } = await record(bench.options());
    expect(result.text.split("\n")).toEqual(spoken);
    expect(result.outcome).toBe("complete");
    const types = entries.map((entry) => entry.type);
    expect(types[0]).toBe("recording.started");
    expect(types.at(-1)).toBe("recording.finished");
    expect(types).toContain("api_connection");
    expect(types.filter((type) => type === "message")).toHaveLength(spoken.length);
    expect(wavOf(result.session.location).subarray(44).equals(sampleBytes)).toBe(true);
    const phases = [...new Set(states.map((state) => state.phase))];
    expect(phases).toEqual(["starting", "recording", "finishing", "finished"]);
    expect(states.some((state) => state.provisional.some(({ text }) => text !== ""))).toBe(true);
    expect(script.turns).toHaveLength(3);
  });

  test("without an engine the sound is kept, no text is invented, and it says so", async () => {
    const { result, entries } = await record(bench.options(), { findEngine: async () => undefined });
    expect(result.text).toBe("");
    expect(result.outcome).toBe("incomplete");
    expect(entries.some((entry) => entry.type === "message")).toBe(false);
    expect(wavOf(result.session.location).subarray(44).equals(sampleBytes)).toBe(true);
    expect(result.state.warnings.map(({ code }) => code)).toEqual(["no-engine"]);
  });

  test("record now, transcribe later: the same session gets the words from the sound that it has", async () => {
    const first = await record(bench.options({ provider: { kind: "none" } }));
    expect(first.result.outcome).toBe("complete");
    const { location } = first.result.session;
    const asset = `${location}/assets/${first.result.recordingId}.wav`;
    const again = await record(bench.options({ session: location, source: { kind: "file", path: asset } }));
    expect(again.result.text.split("\n")).toEqual(spoken);
    expect(bench.files(`${location}/assets`)).toEqual([asset]);
  });
});
