/** Faults that real clients of Realtime servers had, each tried against this one. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { providerFailure } from "../../src/provider/failure";
import { type JsonRecord, recordAt, textAt } from "../../src/provider/json";
import { transcriptionModels } from "../../src/provider/models";
import { planConnection } from "../../src/provider/plan";
import { type ServerHooks } from "../../src/provider/server/realtime-server";
import { ScriptedEngine } from "../../src/provider/server/engines/scripted";
import { lastUserText } from "../../src/provider/server/server-session";
import { sampleBytes, script, spoken } from "../host/bench";
import { clearRigs, KEY, openedRigs, Rig, type RigOptions, type RigResult, typesOf } from "./rig";

afterAll(clearRigs);

/** Two sentences are enough for most of it. */
const sound = sampleBytes.subarray(0, 8_400 * 48);
const said = spoken.slice(0, 2);

const COMPLETED = "conversation.item.input_audio_transcription.completed";
const FAILED = "conversation.item.input_audio_transcription.failed";

async function run(options: RigOptions = {}, times: { idleMs?: number; settleMs?: number } = {}): Promise<RigResult> {
  return (await Rig.open(options)).run(times);
}

/** After every fault, of every recording in it: no secret in any file, state or error; and nothing failed to be saved. */
afterEach(() => {
  for (const rig of openedRigs.splice(0)) {
    expect(rig.secretsFound()).toEqual([]);
    expect(rig.errors).toEqual([]);
  }
});

test("the search for secrets finds one in a file, a state and an error", async () => {
  const planted = new Map<string, (rig: Rig) => void>([
    ["file", (rig) => writeFileSync(path.join(rig.folder, "left-behind.txt"), `x${KEY}x`)],
    ["state", (rig) => rig.states.push({ kind: "failed", failure: { ...providerFailure("http-404"), message: KEY } })],
    ["error", (rig) => rig.errors.push(new Error(`Bearer ${KEY}`))],
  ]);
  for (const plant of planted.values()) {
    const rig = await Rig.open();
    await rig.run();
    expect(rig.secretsFound()).toEqual([]);
    plant(rig);
    expect(rig.secretsFound()).not.toEqual([]);
  }
  openedRigs.splice(0);
});

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function delayed(type: string, ms: number): ServerHooks {
  return {
    outgoing: (event, send) => void (event["type"] === type ? setTimeout(() => send(event), ms) : send(event)),
  };
}

function lastState(result: RigResult): string {
  const state = result.states.filter(({ kind }) => kind === "failed" || kind === "waiting").at(-1);
  return state !== undefined && "failure" in state ? state.failure.code : "";
}

describe("fault 1: speech before the socket is ready is dropped", () => {
  test.each<[string, ServerHooks]>([
    ["the upgrade comes 3 s late", { upgrade: async () => void (await later(3_000)) }],
    ["session.created comes 1 s late", delayed("session.created", 1_000)],
    ["session.updated comes 1 s late", delayed("session.updated", 1_000)],
  ])("%s: the bytes sent are the WAV from its first sample to its last", async (_name, hooks) => {
    const result = await run({ hooks });
    expect(result.audio).toHaveLength(1);
    expect(result.audio[0]?.equals(sound)).toBe(true);
    expect(result.messages).toEqual(said);
  });
});

test("fault 2: no audio before the session is configured", async () => {
  const result = await run();
  const types = typesOf(result.received[0]);
  expect(types[0]).toBe("session.update");
  expect(types.lastIndexOf("session.update")).toBeLessThan(types.indexOf("input_audio_buffer.append"));
});

test("fault 3: transcripts that complete in reverse are published in the order they were spoken", async () => {
  const held: (() => void)[] = [];
  const result = await run({
    hooks: {
      outgoing: (event, send) => {
        if (event["type"] !== COMPLETED) return send(event);
        held.push(() => send(event));
        if (held.length === said.length) for (const release of held.reverse()) release();
      },
    },
  });
  expect(result.messages).toEqual(said);
});

test("fault 4: a reply is not stored before its question", async () => {
  let question: (() => void) | undefined;
  const result = await run({
    samples: sampleBytes.subarray(0, 4_300 * 48),
    settings: { mode: "conversation", model: "gpt-realtime" },
    responder: { reply: async (items) => `you said: ${lastUserText(items)}` },
    hooks: {
      outgoing: (event, send) => {
        if (event["type"] === COMPLETED) question = () => send(event);
        else send(event);
        if (event["type"] === "response.done") question?.();
      },
    },
  });
  expect(result.messages).toEqual([spoken[0], `you said: ${spoken[0]}`]);
});

test("fault 5: a completion that comes four times is one message", async () => {
  const result = await run({
    hooks: {
      outgoing: (event, send) => {
        for (let count = event["type"] === COMPLETED ? 4 : 1; count > 0; count -= 1) send(event);
      },
    },
  });
  expect(result.messages).toEqual(said);
});

test("fault 6: a failed turn is a gap, and the turns after it are kept", async () => {
  const [first, second, third] = script.turns;
  if (first === undefined || second === undefined || third === undefined) throw new Error("the sample has three turns");
  const failing = { ...second, failure: { code: "server_error", message: "no" } };
  const result = await run({ samples: sampleBytes, engine: new ScriptedEngine({ turns: [first, failing, third] }) });
  expect(result.messages).toEqual([spoken[0], spoken[2]]);
  expect(result.outcome).toBe("incomplete");
  expect(result.gaps).toHaveLength(1);
});

test("fault 7: a completion before its item is announced is not lost", async () => {
  const held: (() => void)[] = [];
  const result = await run({
    hooks: {
      outgoing: (event, send) => {
        if (String(event["type"]).startsWith("conversation.item.added")) held.push(() => send(event));
        else send(event);
        if (event["type"] === COMPLETED) for (const release of held.splice(0)) release();
      },
    },
  });
  expect(result.messages).toEqual(said);
});

test("fault 8: a transcript that came is not lost at the stop because another never came", async () => {
  let completions = 0;
  const result = await run(
    {
      hooks: {
        outgoing: (event, send) => {
          if (event["type"] === COMPLETED && (completions += 1) === 1) return;
          send(event);
        },
      },
    },
    { settleMs: 200 },
  );
  expect(result.messages).toEqual(said.slice(1));
  expect(result.outcome).toBe("incomplete");
});

test("fault 9: an answer that was refused because another is running is asked for again, and comes", async () => {
  const replies: (() => void)[] = [];
  const result = await run({
    settings: { mode: "conversation", model: "gpt-realtime", turnDetection: "none" },
    responder: {
      reply: (items) =>
        new Promise((resolve) => {
          const text = `you said: ${lastUserText(items)}`;
          // The first answer takes until the second has been refused.
          replies.push(() => resolve(text));
          if (replies.length > 1) resolve(text);
        }),
    },
    hooks: {
      outgoing: (event, send) => {
        send(event);
        if (textAt(recordAt(event, "error"), "code") === "conversation_already_has_active_response") replies[0]?.();
      },
    },
  });
  expect(result.messages.filter((text) => text.startsWith("you said:"))).toHaveLength(2);
  expect(result.messages).toEqual(expect.arrayContaining(said));
});

test("fault 9: an answer that is always refused does not stall the recording", async () => {
  const result = await run(
    {
      settings: { mode: "conversation", model: "gpt-realtime", turnDetection: "none" },
      responder: { reply: async (items) => `you said: ${lastUserText(items)}` },
      hooks: {
        incoming: (event, connection) => {
          if (event["type"] !== "response.create") return true;
          const code = "conversation_already_has_active_response";
          connection.send({
            type: "error",
            error: { type: "invalid_request_error", code, message: "busy", event_id: event["event_id"] ?? null },
          });
          return false;
        },
      },
    },
    { settleMs: 300 },
  );
  expect(result.messages).toEqual(said);
});

test("fault 10: an answer that is interrupted keeps what was said and nothing fails", async () => {
  const result = await run(
    {
      settings: { mode: "conversation", model: "gpt-realtime" },
      responder: {
        reply: (_items, signal) =>
          new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("interrupted")))),
      },
    },
    { settleMs: 2_000 },
  );
  expect(result.messages).toEqual(said);
  expect(result.states.some(({ kind }) => kind === "failed")).toBe(false);
}, 60_000);

describe("fault 11: too little audio is not committed", () => {
  test.each([
    ["40 ms of sound", sampleBytes.subarray(1_000 * 48, 1_040 * 48)],
    ["no sound at all", Buffer.alloc(0)],
  ])("%s", async (_name, samples) => {
    const result = await run({ samples, settings: { model: "gpt-live-transcribe" } });
    expect(typesOf(result.received[0])).not.toContain("input_audio_buffer.commit");
    expect(result.messages).toEqual([]);
    expect(result.outcome).toBe("complete");
  });
});

describe("fault 12: the last words at the stop", () => {
  const cut = sampleBytes.subarray(0, 7_560 * 48);

  test.each(["gpt-live-transcribe", "on-device"])(
    "%s: one commit, after the last sample, and its words",
    async (model) => {
      const result = await run({ samples: cut, settings: { model } });
      expect(result.messages).toEqual(said);
      const types = typesOf(result.received[0]);
      expect(types.at(-1)).toBe("input_audio_buffer.commit");
      expect(types.filter((type) => type === "input_audio_buffer.commit")).toHaveLength(model === "on-device" ? 1 : 2);
      expect(result.audio[0]?.equals(cut)).toBe(true);
    },
  );

  test("an answer that never comes is a gap, not a success", async () => {
    const hooks: ServerHooks = { outgoing: (event, send) => (event["type"] === COMPLETED ? undefined : send(event)) };
    const result = await run({ hooks, samples: sampleBytes.subarray(0, 4_300 * 48) }, { settleMs: 200 });
    expect(result.outcome).toBe("incomplete");
    expect(result.gaps).toHaveLength(1);
  });
});

describe("faults 13, 14 and 15: the connection ends in mid-session", () => {
  const lossAfter = (
    turns: number,
    lose: (connection: Parameters<NonNullable<ServerHooks["connected"]>>[0]) => void,
  ): ServerHooks => {
    let completions = 0;
    return {
      outgoing: (event, send, connection) => {
        // What the lost connection would still have answered never comes from it.
        if (event["type"] === COMPLETED && connection.index === 0 && completions === turns) return;
        send(event);
        if (event["type"] === COMPLETED && (completions += 1) === turns) setImmediate(() => lose(connection));
      },
    };
  };

  test.each<[string, ServerHooks]>([
    ["13: cut (1006)", lossAfter(1, (connection) => connection.destroy())],
    ["14: closed cleanly (1000)", lossAfter(1, (connection) => connection.close(1000, ""))],
    [
      "15: ended at its maximum length",
      lossAfter(1, (connection) => {
        connection.send({
          type: "error",
          error: { type: "invalid_request_error", code: "session_expired", message: "60 minutes" },
        });
        connection.close(1001, "Your session hit the maximum duration of 60 minutes.");
      }),
    ],
  ])("%s: a new connection goes on where nothing is lost", async (_name, hooks) => {
    const result = await run({ hooks, growing: false });
    expect(new Set(result.messages)).toEqual(new Set(said));
    expect(result.messages).toHaveLength(said.length);
    const connections = result.entries.filter((entry) => entry.type === "api_connection");
    expect(connections).toHaveLength(2);
    // What the lost connection left open was heard again: nothing is missing.
    expect(result.gaps).toEqual([]);
    expect(result.outcome).toBe("complete");
  });

  test("13: what no later connection could hear is a gap, and the recording incomplete", async () => {
    let upgrades = 0;
    const hooks: ServerHooks = {
      ...lossAfter(1, (connection) => connection.destroy()),
      upgrade: async () => ((upgrades += 1) === 1 ? undefined : { status: 401 }),
    };
    const result = await run({ hooks });
    expect(result.messages).toEqual(said.slice(0, 1));
    expect(result.outcome).toBe("incomplete");
  });

  test("13: cut when everything was sent and an answer is due: the turn is heard again", async () => {
    const hooks: ServerHooks = {
      outgoing: (event, send, connection) => {
        if (event["type"] === COMPLETED && connection.index === 0) connection.destroy();
        else send(event);
      },
    };
    // The wait before the new connection is longer than it takes to look at what is open.
    const samples = sampleBytes.subarray(0, 4_300 * 48);
    const settings = { model: "gpt-live-transcribe" };
    const result = await run({ hooks, samples, settings, timing: { retryMs: [300] } });
    expect(result.messages).toEqual(said.slice(0, 1));
    expect(result.received).toHaveLength(2);
    expect(result.gaps).toEqual([]);
    expect(result.outcome).toBe("complete");
  });

  test("15: before the limit of an hour a new connection takes over at a pause, and no word is lost", async () => {
    const result = await run({
      timing: { maxConnectionAgeMs: 0 },
      settings: { model: "gpt-live-transcribe" },
    });
    expect(result.messages.join(" ")).toBe(said.join(" "));
    expect(result.received.length).toBeGreaterThan(1);
    expect(Buffer.concat(result.audio).equals(sound)).toBe(true);
  });

  test("15: it takes over once, when the connection is 55 minutes old and not a minute before", async () => {
    const minute = 60_000;
    let nowMs = 0;
    const turnsBy: number[] = [];
    const hooks: ServerHooks = {
      outgoing: (event, send, connection) => {
        send(event);
        if (event["type"] !== COMPLETED) return;
        turnsBy.push(connection.index);
        nowMs = turnsBy.length === 1 ? 54 * minute : 56 * minute;
      },
    };
    const rig = await Rig.open({
      samples: sampleBytes,
      hooks,
      nowMs: () => nowMs,
      growing: true,
      settings: { model: "gpt-live-transcribe" },
    });
    rig.transcriber.start();
    // Each sentence is there only when the one before it has its words: time passes between them.
    for (const [turn, endMs] of [4_300, 8_400].entries()) {
      rig.feed.announce(endMs * 48);
      while (turnsBy.length <= turn) await later(5);
    }
    rig.feed.complete();
    const result = await rig.finish();
    expect(result.messages).toEqual(spoken);
    expect(result.received).toHaveLength(2);
    expect(turnsBy).toEqual([0, 0, 1]);
    expect(Buffer.concat(result.audio).equals(sampleBytes)).toBe(true);
    expect(result.gaps).toEqual([]);
    expect(result.outcome).toBe("complete");
  });

  test("the number of new connections is bounded, and the end is visible", async () => {
    const result = await run({ hooks: { connected: (connection) => connection.destroy() } });
    expect(result.requests).toHaveLength(6);
    expect(lastState(result)).toBe("connection-lost");
  });
});

test("fault 16: items of an old connection do not leak into the new", async () => {
  let old: ((event: JsonRecord) => void) | undefined;
  const result = await run({
    hooks: {
      outgoing: (event, send, connection) => {
        if (connection.index === 0 && event["type"] === "input_audio_buffer.speech_started") {
          old = send;
          send(event);
          return connection.destroy();
        }
        // The same item id, as some servers count from the start again.
        send(event);
        if (connection.index === 1)
          old?.({ type: COMPLETED, item_id: textAt(event, "item_id") ?? "", transcript: "ghost" });
      },
    },
  });
  expect(result.messages).toEqual(said);
});

test("fault 17: a refused session.update is a visible failure, not silence", async () => {
  const result = await run({ settings: { model: "gpt-live-transcribe", turnDetection: "server" } });
  expect(lastState(result)).toBe("session-refused");
  expect(result.requests).toHaveLength(1);
  expect(result.audio[0]?.length).toBe(0);
});

test.each([...transcriptionModels])("fault 18: %s gets only the fields it accepts", (model, facts) => {
  const planned = planConnection({ kind: "openai", model }, { apiKey: KEY, language: "de", vocabulary: ["Persyk"] });
  if (!planned.ok) throw new Error(planned.code);
  const input = recordAt(recordAt(planned.plan.sessionUpdate, "audio"), "input");
  const transcription = recordAt(input, "transcription");
  expect(
    [transcription?.["language"], transcription?.["languages"]].filter((field) => field !== undefined),
  ).toHaveLength(1);
  expect(transcription?.["prompt"] === undefined).toBe(!(facts.prompt && !facts.keywords));
  expect(input?.["turn_detection"] === null).toBe(facts.turnDetection === "none");
  // What is sent as an event is saved as evidence: the key is not part of it.
  expect(JSON.stringify([planned.plan.sessionUpdate, planned.plan.endpoint])).not.toContain(KEY);
});

test("fault 19: memory does not grow with the length of the recording", async () => {
  // Eight minutes of sound without a turn: 23 MB raw, 30 MB on the wire, 4,800 frames.
  const samples = Buffer.concat(Array.from({ length: 36 }, () => sampleBytes));
  const rig = await Rig.open({
    samples,
    forgetful: true,
    growing: true,
    engine: new ScriptedEngine({ turns: [] }),
  });
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  const retained = async (): Promise<number> => {
    for (let round = 0; round < 3; round += 1) {
      await later(10);
      if (typeof collect === "function") collect();
    }
    return process.memoryUsage().heapUsed + process.memoryUsage().external;
  };
  rig.transcriber.start();
  const sizes: number[] = [];
  for (let quarter = 1; quarter <= 4; quarter += 1) {
    const upTo = Math.floor(samples.length / 4 / 4_800) * 4_800 * quarter;
    rig.feed.announce(upTo);
    while (rig.transcriber.sentTo < upTo) await later(5);
    await rig.recorder.settled();
    sizes.push(await retained());
  }
  rig.feed.complete();
  const result = await rig.finish();
  expect(result.messages).toEqual([]);
  // What was sent between the first and the last quarter is 23 MB on the wire; the log's index grows with its entries.
  expect((sizes[3] ?? Infinity) - (sizes[0] ?? 0)).toBeLessThan(12 * 1024 * 1024);
});

test("fault 20: a peer that hangs is not fed without end", async () => {
  const samples = Buffer.concat(Array.from({ length: 12 }, () => sampleBytes));
  const rig = await Rig.open({
    samples,
    timing: { deadMs: 1_000, retryMs: [] },
    hooks: { incoming: (event, connection) => event["type"] === "session.update" || (connection.stall(), true) },
  });
  const result = await rig.run();
  const sends = result.entries.filter((entry) => entry.type === "realtime_event" && entry.direction === "outgoing");
  // 7.6 MB of sound would be 10 MB on the wire; about one is in flight at most.
  expect(sends.length).toBeGreaterThan(1);
  expect(sends.length).toBeLessThan(260);
  expect(lastState(result)).toBe("not-answering");
});

describe("faults 21 and 28: a refusal is not tried again, and carries no key on", () => {
  test.each([
    [401, "invalid_api_key"],
    [403, "invalid_api_key"],
    [429, "rate_limit_exceeded"],
    [404, "http-404"],
    [302, "redirected"],
  ])("HTTP %i", async (status, code) => {
    const headers = { location: "http://127.0.0.1:9/steal", "retry-after": "1" };
    const body = JSON.stringify({ error: { message: `Incorrect API key provided: ${KEY}` } });
    const result = await run({ hooks: { upgrade: async () => ({ status, headers, body }) } });
    expect(result.requests).toHaveLength(1);
    expect(lastState(result)).toBe(code);
  });

  test("insufficient_quota after the upgrade", async () => {
    const error = { type: "insufficient_quota", code: "insufficient_quota", message: `key ${KEY}`, event_id: null };
    const hooks: ServerHooks = { connected: (connection) => connection.send({ type: "error", error }) };
    const result = await run({ hooks });
    expect(result.requests).toHaveLength(1);
    expect(lastState(result)).toBe("insufficient_quota");
  });

  test("a key in the query or in a header of another name is in no file either", async () => {
    const byHeader = await run({ settings: { authStyle: "header:api-key" } });
    expect(byHeader.messages).toEqual(said);
    const hooks: ServerHooks = { upgrade: async (request) => void (request.headers.authorization = `Bearer ${KEY}`) };
    const byQuery = await run({ settings: { authStyle: "query:api_key" }, hooks });
    expect(byQuery.requests[0]?.url).toContain(KEY);
    expect(byQuery.messages).toEqual(said);
  });

  test("the server's text with the key in it, in errors and in the close reason", async () => {
    const error = { type: "server_error", code: "server_error", message: `Bearer ${KEY}`, event_id: null };
    const hooks: ServerHooks = {
      outgoing: (event, send, connection) => {
        send(event);
        if (event["type"] !== COMPLETED) return;
        send({ type: "error", error });
        connection.close(4000, `bad key ${KEY}`);
      },
    };
    await run({ hooks });
  });
});

test("fault 22: the beta header is never sent; a server of that shape is shown clearly", async () => {
  const plain = await run();
  expect(plain.requests[0]?.headers["openai-beta"]).toBeUndefined();
  const code = "beta_api_shape_disabled";
  const hooks: ServerHooks = {
    connected: (connection) => {
      connection.send({
        type: "error",
        error: { type: "invalid_request_error", code, message: "beta", event_id: null },
      });
      connection.close(4000, `invalid_request_error.${code}`);
    },
  };
  const refused = await run({ hooks });
  expect(refused.requests).toHaveLength(1);
  expect(lastState(refused)).toBe(code);
});

describe("fault 23: removal", () => {
  async function removeFirst(hooks: ServerHooks): Promise<{ rig: Rig; kind: string }> {
    const rig = await Rig.open({ hooks });
    rig.transcriber.start();
    await rig.transcriber.finishSending(20_000);
    await rig.transcriber.settled(20_000);
    await rig.recorder.settled();
    const entryId = rig.snapshot.saved[0]?.entryId ?? "";
    const { kind } = await rig.recorder.requestRemoval(entryId);
    return { rig, kind };
  }

  test("an acknowledgement without its item id is matched", async () => {
    const { rig, kind } = await removeFirst({
      outgoing: (event, send) =>
        send(event["type"] === "conversation.item.deleted" ? { ...event, item_id: "" } : event),
    });
    expect(kind).toBe("removed");
    const result = await rig.finish();
    expect(result.entries.some(({ type }) => type === "message.removed")).toBe(true);
  });

  test("a rejection leaves the message", async () => {
    const { rig, kind } = await removeFirst({
      incoming: (event, connection) => {
        if (event["type"] !== "conversation.item.delete") return true;
        const id = textAt(event, "item_id") ?? "";
        const code = "item_delete_invalid_item_id";
        connection.send({
          type: "error",
          error: { type: "invalid_request_error", code, message: `no item ${id}`, event_id: null },
        });
        return false;
      },
    });
    expect(kind).toBe("rejected");
    const result = await rig.finish();
    expect(result.entries.some(({ type }) => type === "message.removed")).toBe(false);
  });
});

test("fault 24: a retrieved item does not change what is saved", async () => {
  const result = await run({
    hooks: {
      outgoing: (event, send) => {
        send(event);
        if (event["type"] === COMPLETED) {
          const content = [{ type: "input_audio", transcript: null }];
          send({
            type: "conversation.item.retrieved",
            item: { id: textAt(event, "item_id") ?? "", type: "message", role: "user", content },
          });
        }
      },
    },
  });
  expect(result.messages).toEqual(said);
});

test("fault 25: a dead connection is noticed in silence", async () => {
  const rig = await Rig.open({
    growing: true,
    timing: { pingMs: 50, deadMs: 100, retryMs: [] },
    hooks: {
      incoming: (event, connection) => (setImmediate(() => connection.stall()), event["type"] === "session.update"),
    },
  });
  rig.transcriber.start();
  while (rig.transcriber.state.kind !== "failed") await later(10);
  rig.feed.complete();
  const result = await rig.finish();
  expect(lastState(result)).toBe("not-answering");
});

test("fault 26: a late completion of the last recording is not written into the next", async () => {
  const lateSends: (() => void)[] = [];
  const hooks: ServerHooks = {
    outgoing: (event, send) => void (event["type"] === COMPLETED ? lateSends.push(() => send(event)) : send(event)),
  };
  const first = await run({ hooks, samples: sampleBytes.subarray(0, 4_300 * 48) }, { settleMs: 100 });
  expect(first.messages).toEqual([]);
  const second = await Rig.open();
  second.transcriber.start();
  for (const send of lateSends) send();
  const result = await second.finish();
  expect(result.messages).toEqual(said);
});

test.each(["gpt-live-transcribe", "on-device"])(
  "fault 27: silence is not committed, so no words are invented (%s)",
  async (model) => {
    const result = await run({
      samples: Buffer.alloc(5 * 48_000),
      settings: { model },
      engine: new ScriptedEngine({ turns: [{ startMs: 0, endMs: 5_000, text: "thanks for watching" }] }),
    });
    expect(result.messages).toEqual([]);
    expect(typesOf(result.received[0])).not.toContain("input_audio_buffer.commit");
    expect(result.audio[0]?.length).toBe(5 * 48_000);
    expect(result.outcome).toBe("complete");
  },
);

test("fault 28: quota that runs out in mid-session ends the sending, and says which", async () => {
  const result = await run({
    hooks: {
      outgoing: (event, send) =>
        send(
          event["type"] === COMPLETED
            ? {
                type: FAILED,
                item_id: textAt(event, "item_id") ?? "",
                content_index: 0,
                error: { type: "insufficient_quota", code: "insufficient_quota", message: "quota", param: null },
              }
            : event,
        ),
    },
  });
  expect(lastState(result)).toBe("insufficient_quota");
  expect(result.requests).toHaveLength(1);
  expect(result.outcome).toBe("incomplete");
});

test("a long file is split: at pauses where there are any, and never later than half a limit after it", async () => {
  // Speech without a pause, then the sample with its own.
  const voiced = sampleBytes.subarray(600 * 48, 2_400 * 48);
  const samples = Buffer.concat([...Array.from({ length: 8 }, () => voiced), sampleBytes]);
  const maxTurnMs = 3_000;
  const result = await run({ samples, settings: { model: "gpt-live-transcribe" }, timing: { maxTurnMs } });
  expect(result.audio[0]?.equals(samples)).toBe(true);
  const turnsMs: number[] = [];
  let bytes = 0;
  for (const event of result.received[0] ?? []) {
    if (event["type"] === "input_audio_buffer.append")
      bytes += Buffer.from(textAt(event, "audio") ?? "", "base64").length;
    if (event["type"] !== "input_audio_buffer.commit") continue;
    turnsMs.push(bytes / 48);
    bytes = 0;
  }
  expect(Math.max(...turnsMs)).toBeLessThanOrEqual(maxTurnMs * 1.5 + 100);
  // 14.4 s without a pause take four turns at least.
  expect(turnsMs.length).toBeGreaterThanOrEqual(4 + spoken.length - 1);
  // Only silence is left uncommitted.
  expect(turnsMs.reduce((sum, turn) => sum + turn, 0) + bytes / 48).toBeCloseTo(samples.length / 48, 0);
  expect(result.messages.slice(-2)).toEqual(spoken.slice(-2));
});
