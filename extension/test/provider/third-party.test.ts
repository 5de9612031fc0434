/** Independent judges: other people's clients on this server, and this client on another people's server. */
import net from "node:net";
import { LLMock } from "@copilotkit/aimock";
import { OpenAIRealtimeVoice } from "@mastra/voice-openai-realtime";
import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession } from "@openai/agents-realtime";
import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import { startRealtimeServer, type RealtimeServer } from "../../src/provider/server/realtime-server";
import { lastUserText } from "../../src/provider/server/server-session";
import { sampleBytes, spoken } from "../host/bench";
import { SampleEngine } from "../host/sample-engine";
import { clearRigs, Rig, type RigResult } from "../faults/rig";

const KEY = "sk-test-third-party";
const sound = sampleBytes.subarray(0, 8_400 * 48);
const said = spoken.slice(0, 2);
/** The same sound, parted in the pause after the first turn. */
const turns = [sound.subarray(0, 4_400 * 48), sound.subarray(4_400 * 48)];
/** A WebSocket's code for a finished closing handshake that named none; a cut connection has 1006. */
const CLOSED_WITHOUT_CODE = 1005;
const servers: RealtimeServer[] = [];

async function serve(): Promise<RealtimeServer> {
  const responder = { reply: async (items: Parameters<typeof lastUserText>[0]) => `you said: ${lastUserText(items)}` };
  const server = await startRealtimeServer({ engine: new SampleEngine(), responder, key: KEY });
  servers.push(server);
  return server;
}

afterAll(async () => {
  for (const server of servers) await server.close();
  clearRigs();
});

function pieces(samples: Buffer): Buffer[] {
  const all: Buffer[] = [];
  for (let at = 0; at < samples.length; at += 4_800) all.push(samples.subarray(at, at + 4_800));
  return all;
}

describe("the openai package on this server", () => {
  function client(port: number, session: { intent: "transcription" } | { model: string }): OpenAIRealtimeWS {
    const openai = new OpenAI({ apiKey: KEY, baseURL: `http://127.0.0.1:${port}/v1`, dangerouslyAllowBrowser: true });
    const createConnection = (): net.Socket => net.connect({ host: "127.0.0.1", port });
    return new OpenAIRealtimeWS({ ...session, options: { createConnection } }, openai);
  }

  test("a transcription session", async () => {
    const server = await serve();
    const realtime = client(server.port, { intent: "transcription" });
    const transcripts: string[] = [];
    await new Promise<void>((resolve, reject) => {
      realtime.on("error", reject);
      realtime.on("session.created", () =>
        realtime.send({
          type: "session.update",
          session: { type: "transcription", audio: { input: { transcription: { model: "gpt-4o-transcribe" } } } },
        }),
      );
      realtime.on("session.updated", () => {
        for (const piece of pieces(sound)) {
          realtime.send({ type: "input_audio_buffer.append", audio: piece.toString("base64") });
        }
      });
      realtime.on("conversation.item.input_audio_transcription.completed", ({ transcript }) => {
        transcripts.push(transcript);
        if (transcripts.length === said.length) resolve();
      });
    });
    realtime.close();
    expect(transcripts.sort()).toEqual([...said].sort());
  });

  test("a conversation in text", async () => {
    const server = await serve();
    const realtime = client(server.port, { model: "gpt-realtime" });
    const text = await new Promise<string>((resolve, reject) => {
      realtime.on("error", reject);
      realtime.on("session.created", () => {
        realtime.send({
          type: "conversation.item.create",
          item: { type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] },
        });
        realtime.send({ type: "response.create", response: { output_modalities: ["text"] } });
      });
      realtime.on("response.output_text.done", (event) => resolve(event.text));
    });
    realtime.close();
    expect(text).toBe("you said: hello");
  });
});

test("@openai/agents-realtime on this server: no error, and its history is in order", async () => {
  const server = await serve();
  const transport = new OpenAIRealtimeWebSocket({ url: `${server.url}?model=gpt-realtime`, useInsecureApiKey: true });
  const session = new RealtimeSession(new RealtimeAgent({ name: "test" }), { transport, model: "gpt-realtime" });
  const problems: unknown[] = [];
  session.on("error", (error) => problems.push(error));
  await session.connect({ apiKey: KEY });
  const replied = new Promise<void>((resolve) => {
    transport.on("*", (event: { type: string }) => {
      if (event.type === "response.done") resolve();
    });
  });
  session.sendMessage("hello");
  await replied;
  const texts = session.history.flatMap((item) =>
    item.type === "message" ? item.content.map((part) => ("text" in part ? part.text : (part.transcript ?? ""))) : [],
  );
  session.close();
  expect(problems).toEqual([]);
  expect(texts).toEqual(["hello", "you said: hello"]);
});

describe("@mastra/voice-openai-realtime on this server", () => {
  test("a spoken conversation: each turn is heard and answered before the next, and the close is clean", async () => {
    const server = await serve();
    const voice = new OpenAIRealtimeVoice({ url: server.url, model: "gpt-realtime", apiKey: KEY });
    const written = { user: "", assistant: "" };
    const sessions: unknown[] = [];
    const statuses: string[] = [];
    const problems: unknown[] = [];
    const troubled = new Promise<void>((resolve) =>
      voice.on("error", (error: unknown) => resolve(void problems.push(error))),
    );
    const closed = new Promise<number>((resolve) => voice.on("close", ({ code }: { code: number }) => resolve(code)));
    voice.on("session.updated", ({ session }: { session: unknown }) => sessions.push(session));
    voice.on("writing", ({ role, text }: { role: "user" | "assistant"; text: string }) => (written[role] += text));
    voice.on("response.done", ({ response }: { response: { status: string } }) => statuses.push(response.status));
    await voice.connect();
    for (const turn of turns) {
      const answered = new Promise<void>((resolve) => voice.on("response.done", () => resolve()));
      for (const piece of pieces(turn)) await voice.send(new Int16Array(new Uint8Array(piece).buffer));
      await Promise.race([answered, troubled, closed]);
    }
    voice.close();
    expect(await closed).toBe(CLOSED_WITHOUT_CODE);
    expect(problems).toEqual([]);
    expect(sessions).toMatchObject([{ type: "realtime", audio: { input: { transcription: { model: "whisper-1" } } } }]);
    expect(written.user.split("\n")).toEqual([...said, ""]);
    expect(written.assistant.split("\n")).toEqual([...said.map((text) => `you said: ${text}`), ""]);
    expect(statuses).toEqual(["completed", "completed"]);
  });

  test("without the right key it is told so and has no session", async () => {
    const server = await serve();
    const voice = new OpenAIRealtimeVoice({ url: server.url, model: "gpt-realtime", apiKey: "sk-test-wrong" });
    await expect(voice.connect()).rejects.toThrow("401");
    expect(server.connectionCount).toBe(0);
  });
});

describe("this client on @copilotkit/aimock", () => {
  test("a transcription with client commits becomes messages", async () => {
    const mock = await LLMock.create({ port: 0 });
    mock.on(
      { endpoint: "realtime-transcription", predicate: () => true },
      { transcription: { text: "from elsewhere" } },
    );
    const endpoint = `${mock.url.replace("http", "ws")}/v1/realtime`;
    const rig = await Rig.open({ settings: { endpoint, model: "gpt-live-transcribe" } });
    const result = await rig.run();
    await mock.stop();
    expect(result.messages).toEqual(["from elsewhere", "from elsewhere"]);
    expect(result.outcome).toBe("complete");
    expect(rig.secretsFound()).toEqual([]);
  });

  test("a connection that it cuts in mid-turn ends visibly, with a gap", async () => {
    const mock = await LLMock.create({ port: 0 });
    mock.on(
      { endpoint: "realtime-transcription", predicate: () => true },
      { transcription: { text: "one two three four five" } },
      { truncateAfterChunks: 1, chunkSize: 4 },
    );
    const endpoint = `${mock.url.replace("http", "ws")}/v1/realtime`;
    const rig = await Rig.open({ settings: { endpoint, model: "gpt-live-transcribe" } });
    const result = await rig.run();
    await mock.stop();
    expect(result.messages).toEqual([]);
    expect(result.outcome).toBe("incomplete");
    expect(result.states.at(-1)?.kind).toBe("failed");
  });

  describe("in a conversation, whose turns it commits without ids and without transcripts", () => {
    const settings = { mode: "conversation", model: "gpt-realtime", turnDetection: "none" } as const;

    /** Two turns are committed, and each is answered. */
    async function converse(answer: Parameters<LLMock["on"]>[1]): Promise<{ rig: Rig; result: RigResult }> {
      const mock = await LLMock.create({ port: 0 });
      mock.on({ predicate: () => true }, answer);
      const endpoint = `${mock.url.replace("http", "ws")}/v1/realtime`;
      const rig = await Rig.open({ settings: { ...settings, endpoint } });
      const result = await rig.run({ settleMs: 1_000 });
      await mock.stop();
      expect(rig.secretsFound()).toEqual([]);
      expect(rig.errors).toEqual([]);
      return { rig, result };
    }

    test("its answers are messages, and the client knows that it transcribed nothing", async () => {
      const { rig, result } = await converse({ content: "an answer from elsewhere" });
      expect(result.messages).toEqual(["an answer from elsewhere", "an answer from elsewhere"]);
      expect(rig.transcriber.unsettledFrom).toBe(0);
      // What was said is named as missing: without its words the recording is not complete.
      expect(result.gaps).toEqual(["commit_unanswered", "commit_unanswered"]);
      expect(result.outcome).toBe("incomplete");
    });

    test("an answer that fails ends nothing and becomes no message", async () => {
      const { result } = await converse({ error: { message: "overloaded", type: "server_error" }, status: 503 });
      expect(result.messages).toEqual([]);
      expect(result.states.some(({ kind }) => kind === "failed")).toBe(false);
      expect(result.gaps.sort()).toEqual([
        "commit_unanswered",
        "commit_unanswered",
        "response_failed",
        "response_failed",
      ]);
      expect(result.outcome).toBe("incomplete");
    });
  });
});
