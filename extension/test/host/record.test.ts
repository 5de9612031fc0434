import { once } from "node:events";
import { WebSocketServer } from "ws";
import * as z from "zod";
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

  test("a long recording: the result has every turn, also those that the state no longer shows", async () => {
    const turns = 230;
    const server = await manyTurns(turns);
    try {
      const provider = {
        kind: "compatible",
        endpoint: server.url,
        authStyle: "none",
        turnDetection: "server",
      } as const;
      const { result } = await record(bench.options({ provider }));
      const expected = Array.from({ length: turns }, (_, turn) => `turn ${turn}`);
      expect(result.text.split("\n")).toEqual(expected);
      expect(result.entryIds).toHaveLength(turns);
      expect(result.state.saved.length).toBeLessThan(turns);
      expect(result.state.saved.at(-1)?.text).toBe(expected.at(-1));
    } finally {
      server.close();
    }
  });
});

/** A server that hears many turns in the first sound that it gets. */
async function manyTurns(turns: number): Promise<{ url: string; close(): void }> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  server.on("connection", (socket) => {
    const say = (event: object): void => socket.send(JSON.stringify(event));
    let isHeard = false;
    say({ type: "session.created", session: { type: "transcription" } });
    socket.on("message", (data) => {
      const event: unknown = JSON.parse(String(data));
      const { type, event_id } = z.object({ type: z.string(), event_id: z.string().optional() }).parse(event);
      if (type === "session.update") say({ type: "session.updated", session: { type: "transcription" } });
      if (type === "input_audio_buffer.commit") {
        say({ type: "error", error: { code: "input_audio_buffer_commit_empty", message: "nothing new", event_id } });
      }
      if (type !== "input_audio_buffer.append" || isHeard) return;
      isHeard = true;
      for (let turn = 0; turn < turns; turn += 1) {
        const previous_item_id = turn === 0 ? null : `item_${turn - 1}`;
        say({ type: "input_audio_buffer.committed", item_id: `item_${turn}`, previous_item_id });
      }
      for (let turn = turns - 1; turn >= 0; turn -= 1) {
        const transcript = `turn ${turn}`;
        const completed = "conversation.item.input_audio_transcription.completed";
        say({ type: completed, item_id: `item_${turn}`, content_index: 0, transcript });
      }
    });
  });
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return { url: `ws://127.0.0.1:${port}/v1/realtime`, close: () => server.close() };
}
