import { createHash } from "node:crypto";
import { StoreError } from "../../src/errors";
import { type Entry, type JsonObject, type RealtimeEventEntry } from "../../src/format/schema";
import { MAX_ORDERED_ITEMS, MAX_QUEUED_BYTES, MAX_QUEUED_JOBS } from "../../src/realtime/limits";
import { reportUnfinished, resumeRemovals } from "../../src/realtime/unfinished";
import { Recording, RECORDING_ID } from "./recording";

const HEADER = 44;
let recording: Recording;

beforeEach(async () => {
  recording = await Recording.begin();
});
afterEach(() => recording.end());

async function evidence(): Promise<RealtimeEventEntry[]> {
  return (await recording.entries()).filter((entry): entry is RealtimeEventEntry => entry.type === "realtime_event");
}

function ofType<T extends Entry["type"]>(entries: Entry[], type: T): Extract<Entry, { type: T }>[] {
  return entries.filter((entry): entry is Extract<Entry, { type: T }> => entry.type === type);
}

function append(bytes: Buffer): JsonObject {
  return { type: "input_audio_buffer.append", audio: bytes.toString("base64") };
}

/** Bytes that are different in each chunk, as speech is. */
function pcm(seed: number, length = 4_800): Buffer {
  return Buffer.from(Array.from({ length }, (_, index) => (index * 31 + seed * 7) & 0xff));
}

async function saved(id: string, previous: string | null = null): Promise<string> {
  await recording.turn(id, previous);
  await recording.transcript(id, `text of ${id}`);
  await recording.recorder.settled();
  const turn = recording.recorder.snapshot.saved.find((candidate) => candidate.itemId === id);
  if (turn === undefined) throw new Error("not saved");
  return turn.entryId;
}

describe("evidence", () => {
  test("every frame once, in order, with its observation, time and sequence; equal event ids are not merged", async () => {
    const { recorder, clock } = recording;
    void recorder.observeSend(
      "c1",
      { type: "session.update", event_id: "e1", session: {} },
      { observation: "send_attempt" },
    );
    clock.advanceTo(clock.now() + 5);
    for (let n = 0; n < 3; n += 1) await recording.receive({ type: "rate_limits.updated", event_id: "same", n });
    void recorder.observeSend("c1", { type: "response.create" }, { observation: "send_failed" });
    await recorder.settled();
    const events = await evidence();
    expect(events.map((event) => [event.sequence, event.direction, event.observation, event.remoteEventId])).toEqual([
      [0, "outgoing", "send_attempt", "e1"],
      [1, "incoming", "received", "same"],
      [2, "incoming", "received", "same"],
      [3, "incoming", "received", "same"],
      [4, "outgoing", "send_failed", undefined],
    ]);
    expect(events[0]?.observedAt).toBe("2026-01-01T00:00:00.000Z");
    expect(events[1]?.observedAt).toBe("2026-01-01T00:00:00.005Z");
    expect(events.map((event) => event.payload.n)).toEqual([undefined, 0, 1, 2, undefined]);
  });

  test("is told as kept only when it is durable, and at once when nothing can be kept any more", async () => {
    await recording.recorder.settled();
    let release: () => void = () => undefined;
    recording.beforeAppend = () => new Promise<void>((resolve) => (release = resolve));
    let isKept = false;
    const kept = recording.recorder.observeReceived("c1", '{"type":"x"}').then(() => (isKept = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isKept).toBe(false);
    recording.beforeAppend = () => undefined;
    release();
    await kept;
    expect(await evidence()).toHaveLength(1);
    recording.beforeAppend = () => {
      throw new StoreError("disk-full");
    };
    await recording.recorder.observeReceived("c1", '{"type":"y"}');
    expect(recording.recorder.snapshot.phase).toBe("halted");
    await recording.recorder.observeReceived("c1", '{"type":"z"}');
  });

  test("the endpoint is kept without user, query and fragment", async () => {
    await recording.recorder.settled();
    const [connection] = ofType(await recording.entries(), "api_connection");
    expect(connection?.endpoint).toBe("wss://api.openai.com/v1/realtime");
  });

  test("what is no record is kept in a wrapped form inside the limits", async () => {
    const { recorder } = recording;
    const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    const deepList = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const large = JSON.stringify({ type: "big", data: "x".repeat(1_500_000) });
    const frames: (string | Uint8Array)[] = [
      "not json",
      "[1,2]",
      '"text"',
      '{"type":"split","delta":"\\ud83d"}',
      '{"type":"huge","n":1e999}',
      deep,
      deepList,
      large,
      Buffer.from([0xff, 0xfe, 0x00]),
      Buffer.from('{"type":"bytes"}'),
      "",
    ];
    for (const frame of frames) void recorder.observeReceived("c1", frame);
    await recorder.settled();
    const events = await evidence();
    expect(events).toHaveLength(frames.length);
    const reasons = events.map((event) => (event.payload.wrapped as JsonObject | undefined)?.reason);
    expect(reasons).toEqual([
      "not-json",
      "not-an-object",
      "not-an-object",
      "not-scalar-text",
      "not-scalar-text",
      "too-deep",
      "not-an-object",
      "too-large",
      "not-text",
      undefined,
      "not-json",
    ]);
    expect((events[3]?.payload.wrapped as JsonObject).text).toBe('{"type":"split","delta":"\\ud83d"}');
    // Nothing of them is lost.
    const [media] = events[7]?.media ?? [];
    expect(media?.path).toBe("/wrapped/text");
    const reader = await recording.session.openAsset(media!.asset);
    expect((await reader.read(0, reader.size)).toString()).toBe(large);
    expect(await reader.verify()).toBe("verified");
    await reader.close();
  });

  test("media go into synced assets with exact ranges and digests; the payload keeps their place", async () => {
    const { recorder } = recording;
    const chunks = [pcm(1), pcm(2), pcm(3)];
    for (const chunk of chunks) {
      await recording.receive({ type: "response.output_audio.delta", item_id: "x", delta: chunk.toString("base64") });
    }
    let referenced = 0;
    recording.beforeAppend = async (entries) => {
      for (const entry of entries) {
        for (const { asset } of entry.type === "realtime_event" ? (entry.media ?? []) : []) {
          // Before the reference is written, the bytes are there.
          const reader = await recording.session.openAsset(asset);
          expect(await reader.read(0, reader.size)).toEqual(chunks[referenced]);
          await reader.close();
          referenced += 1;
        }
      }
    };
    await recorder.settled();
    expect(referenced).toBe(chunks.length);
    const events = await evidence();
    for (const [index, event] of events.entries()) {
      expect(event.payload.delta).toBeNull();
      const [media] = event.media ?? [];
      expect(media).toMatchObject({ path: "/delta", asset: { encoding: "pcm_s16le", mimeType: "audio/pcm" } });
      const { asset } = media!;
      expect(asset.status === "available" && asset.path).toMatch(/^assets\/protocol-.*\.bin$/);
      const reader = await recording.session.openAsset(asset);
      expect(await reader.read(0, reader.size)).toEqual(chunks[index]);
      expect(await reader.verify()).toBe("verified");
      await reader.close();
    }
  });
});

describe("ranges of the capture", () => {
  const send = (bytes: Buffer, start: number) =>
    recording.recorder.observeSend("c1", append(bytes), {
      observation: "send_attempt",
      wav: { start, end: start + bytes.length },
    });

  test("wait for the capture to be durable and are used when byte-identical; messages do not wait", async () => {
    const chunk = pcm(1);
    void send(chunk, HEADER);
    await recording.turn("a", null);
    await recording.transcript("a", "said at once");
    await recording.recorder.settled();
    expect(await evidence()).toEqual([]);
    expect(await recording.texts()).toEqual(["said at once"]);
    await recording.capture.write(chunk);
    recording.recorder.captureSynced(chunk.length);
    await recording.recorder.settled();
    const [sent] = await evidence();
    expect(sent?.payload).toEqual({ type: "input_audio_buffer.append", audio: null });
    expect(sent?.media).toEqual([
      {
        path: "/audio",
        asset: {
          status: "available",
          path: `assets/${RECORDING_ID}.wav`,
          mimeType: "audio/wav",
          byteRange: { start: HEADER, end: HEADER + chunk.length },
          encoding: "pcm_s16le",
          sha256: createHash("sha256").update(chunk).digest("hex"),
        },
      },
    ]);
  });

  test("other bytes, a range beyond the file and a capture that ended early are kept on their own", async () => {
    const chunk = pcm(1);
    await recording.capture.write(chunk);
    void send(pcm(2), HEADER);
    void send(pcm(3), HEADER + 1_000_000);
    recording.recorder.captureSynced(chunk.length);
    const { outcome } = await recording.recorder.stop({ durationMs: 100 });
    expect(outcome).toBe("complete");
    const events = await evidence();
    for (const [index, event] of events.entries()) {
      const asset = event.media?.[0]?.asset;
      expect(asset?.status === "available" && asset.path).toMatch(/protocol-/);
      const reader = await recording.session.openAsset(asset!);
      expect(await reader.read(0, reader.size)).toEqual(pcm(index + 2));
      await reader.close();
    }
  });

  test("a turn knows where in the recording it was said, by the client's commits", async () => {
    const { recorder } = recording;
    for (let n = 0; n < 4; n += 1) {
      await recording.capture.write(pcm(n));
      // The client leaves out the second piece.
      if (n !== 1) void send(pcm(n), HEADER + n * 4_800);
    }
    void recorder.observeSend("c1", { type: "input_audio_buffer.commit" }, { observation: "send_attempt" });
    recorder.captureSynced(4 * 4_800);
    await recording.turn("a", null);
    await recording.transcript("a", "hello");
    await recorder.settled();
    const [message] = ofType(await recording.entries(), "message");
    expect(message?.message.content[1]).toMatchObject({
      type: "audio",
      recordingId: RECORDING_ID,
      startMs: 0,
      endMs: 400,
    });
  });
});

describe("gaps", () => {
  test("name the part of the recording that has no text", async () => {
    for (let n = 0; n < 10; n += 1) {
      await recording.capture.write(pcm(n));
      const start = HEADER + n * 4_800;
      const wav = { start, end: start + 4_800 };
      void recording.recorder.observeSend("c1", append(pcm(n)), { observation: "send_attempt", wav });
    }
    await recording.receive({ type: "input_audio_buffer.speech_started", item_id: "a", audio_start_ms: 100 });
    await recording.receive({ type: "input_audio_buffer.speech_stopped", item_id: "a", audio_end_ms: 400 });
    await recording.turn("a", null);
    await recording.receive({ type: "input_audio_buffer.speech_started", item_id: "b", audio_start_ms: 600 });
    await recording.recorder.transport("c1", { type: "close", code: 1006 });
    const { gaps } = await recording.recorder.stop({ durationMs: 1_000 });
    expect(gaps).toEqual([
      { reason: "transport_closed", startMs: 100, endMs: 400, connectionId: "c1", itemId: "a" },
      { reason: "transport_closed", startMs: 600, endMs: 1_000, connectionId: "c1", itemId: "b" },
    ]);
  });

  test("fit the record of the end, however many there are and whatever the provider calls them", async () => {
    const turns = 1_200;
    for (let turn = 0; turn < turns; turn += 1) {
      const id = `${turn}`.padEnd(300, "\u0001");
      await recording.turn(id, null);
      await recording.receive({ type: "conversation.item.input_audio_transcription.failed", item_id: id });
      if (turn % 100 === 0) await recording.recorder.settled();
    }
    const { outcome, gaps } = await recording.recorder.stop({ durationMs: 1 });
    expect(outcome).toBe("incomplete");
    const last = gaps.at(-1);
    expect(last).toEqual({ reason: "further_gaps", count: turns - (gaps.length - 1) });
    expect(gaps[0]).toMatchObject({ reason: "transcription_failed", connectionId: "c1" });
    const [finished] = ofType(await recording.entries(), "recording.finished");
    expect(finished?.gaps).toEqual(gaps);
  });
});

describe("canonical messages", () => {
  test("carry the text verbatim, provenance, usage and the item they are", async () => {
    await recording.receive({
      type: "session.updated",
      session: { audio: { input: { transcription: { model: "gpt-x" } } } },
    });
    await recording.turn("a", null);
    await recording.receive({
      type: "conversation.item.input_audio_transcription.completed",
      item_id: "a",
      transcript: "  two\nlines \u{1f600}",
      usage: { type: "tokens", input_tokens: 4, output_tokens: 2, total_tokens: 6 },
    });
    await recording.recorder.settled();
    const [message] = ofType(await recording.entries(), "message");
    expect(message?.message).toMatchObject({
      role: "user",
      content: [{ type: "text", text: "  two\nlines \u{1f600}" }],
      provider: "openai",
      api: "openai-realtime",
      model: "gpt-x",
      usage: { input: 4, output: 2, totalTokens: 6 },
      realtime: { connectionId: "c1", itemId: "a" },
    });
  });

  test("hostile ids, models and codes neither halt the recording nor lose a turn", async () => {
    const ids = ["\ud83d", "x".repeat(100_000), "__proto__", "a\u0000b"];
    await recording.receive({
      type: "session.updated",
      session: { audio: { input: { transcription: { model: "\udc00m" } } } },
    });
    for (const id of ids) {
      await recording.turn(id, null);
      await recording.transcript(id, "said");
      await recording.receive({
        type: "response.done",
        response: {
          id: `r${id}`,
          status: "cancelled",
          status_details: { reason: id },
          output: [
            { id: `o${id}`, type: "message", role: "assistant", content: [{ type: "output_text", text: "ok" }] },
          ],
        },
      });
    }
    await recording.recorder.settled();
    expect(recording.recorder.snapshot.phase).toBe("recording");
    expect(await recording.texts()).toEqual(ids.flatMap(() => ["said", "ok"]));
  });

  test("provisional text is shown apart and cannot be removed", async () => {
    await recording.turn("a", null);
    await recording.receive({
      type: "conversation.item.input_audio_transcription.delta",
      item_id: "a",
      delta: "not yet",
    });
    await recording.recorder.settled();
    const { saved: savedTurns, provisional } = recording.recorder.snapshot;
    expect(savedTurns).toEqual([]);
    expect(provisional).toEqual([{ connectionId: "c1", itemId: "a", role: "user", text: "not yet" }]);
    expect(await recording.recorder.requestRemoval("a")).toEqual({ kind: "refused", reason: "not-saved" });
    expect(recording.sent).toEqual([]);
  });

  test("are all told in order, also when the snapshot shows only the newest", async () => {
    const turns = Array.from({ length: 230 }, (_, turn) => `i${turn}`);
    for (const id of turns) {
      await recording.turn(id, null);
      await recording.transcript(id, `text of ${id}`);
    }
    await recording.recorder.settled();
    const all = await recording.recorder.savedTurns();
    expect(all.map((turn) => turn.itemId)).toEqual(turns);
    expect(all.map((turn) => turn.text)).toEqual(turns.map((id) => `text of ${id}`));
    expect(recording.recorder.snapshot.saved).toEqual(all.slice(-200));
  });

  test("a turn is saved only when it is durable", async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    recording.beforeAppend = () => gate;
    await recording.turn("a", null);
    await recording.transcript("a", "hello");
    expect(recording.recorder.snapshot.saved).toEqual([]);
    release();
    await recording.recorder.settled();
    expect(recording.recorder.snapshot.saved.map((turn) => turn.text)).toEqual(["hello"]);
  });
});

describe("bounds of the queue", () => {
  const stall = (): (() => void) => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    recording.beforeAppend = () => gate;
    return release;
  };

  test("512 observations wait; the one after them halts the recording visibly, and what is final is still saved", async () => {
    await recording.recorder.settled();
    const release = stall();
    await recording.turn("a", null);
    await recording.transcript("a", "kept");
    for (let n = 2; n < MAX_QUEUED_JOBS; n += 1) await recording.receive({ type: "noise", n });
    expect(recording.recorder.snapshot.phase).toBe("recording");
    await recording.receive({ type: "noise", n: -1 });
    expect(recording.recorder.snapshot).toMatchObject({ phase: "halted", halted: { code: "backpressure" } });
    release();
    const { outcome, gaps } = await recording.recorder.stop({ durationMs: 1 });
    expect(outcome).toBe("incomplete");
    expect(gaps).toEqual([{ reason: "observations_not_kept", count: 1 }]);
    expect(await recording.texts()).toEqual(["kept"]);
    expect(await evidence()).toHaveLength(MAX_QUEUED_JOBS);
  });

  test("8 MiB wait; the frame that goes beyond them halts", async () => {
    await recording.recorder.settled();
    const release = stall();
    const frame = { type: "noise", data: "x".repeat(512 * 1024 - 40) };
    const fits = Math.floor(MAX_QUEUED_BYTES / JSON.stringify(frame).length);
    for (let n = 0; n < fits; n += 1) await recording.receive(frame);
    expect(recording.recorder.snapshot.phase).toBe("recording");
    await recording.receive(frame);
    expect(recording.recorder.snapshot.phase).toBe("halted");
    release();
    await recording.recorder.stop({ durationMs: 1 });
    expect(await evidence()).toHaveLength(fits);
  });

  test("the 257th open item enters finishing and is named", async () => {
    for (let n = 0; n <= MAX_ORDERED_ITEMS; n += 1) await recording.turn(`i${n}`, n === 0 ? null : `i${n - 1}`);
    expect(recording.recorder.snapshot).toMatchObject({ phase: "finishing", captureStop: { reason: "order-limit" } });
    const stopped = recording.recorder.stop({ durationMs: 1 });
    recording.clock.advanceTo(recording.clock.now() + 10_000);
    const { gaps } = await stopped;
    expect(gaps).toHaveLength(MAX_ORDERED_ITEMS + 1);
  });
});

describe("failures of the disk", () => {
  test("halt the recording; stop writes what is left with the same ids, and reports when it cannot", async () => {
    await recording.recorder.settled();
    recording.beforeAppend = () => {
      throw new StoreError("disk-full");
    };
    await recording.turn("a", null);
    await recording.transcript("a", "survives");
    await recording.recorder.settled();
    expect(recording.recorder.snapshot).toMatchObject({ phase: "halted", halted: { code: "disk-full" }, saved: [] });
    await expect(recording.recorder.stop({ durationMs: 5 })).rejects.toMatchObject({ code: "disk-full" });
    recording.beforeAppend = () => undefined;
    await expect(recording.recorder.stop({ durationMs: 5 })).resolves.toEqual({ outcome: "complete", gaps: [] });
    expect(await recording.texts()).toEqual(["survives"]);
    expect(await evidence()).toHaveLength(2);
    expect(ofType(await recording.entries(), "recording.finished")).toHaveLength(1);
  });

  test("a failure of the end itself is made good by stopping again, with one end", async () => {
    await saved("a");
    recording.beforeAppend = (entries) => {
      if (entries.some((entry) => entry.type === "recording.finished")) throw new StoreError("io-error");
    };
    await expect(recording.recorder.stop({ durationMs: 5 })).rejects.toMatchObject({ code: "io-error" });
    recording.beforeAppend = () => undefined;
    await recording.recorder.stop({ durationMs: 5 });
    expect(ofType(await recording.entries(), "recording.finished")).toHaveLength(1);
    expect(recording.recorder.snapshot.phase).toBe("finished");
  });
});

describe("stop", () => {
  test("drains for ten seconds of the injected clock, then names what is open and publishes the rest in order", async () => {
    await recording.turn("a", null);
    await recording.turn("b", "a");
    await recording.transcript("b", "second");
    let ended = false;
    const stopped = recording.recorder.stop({ durationMs: 1_234 }).then((result) => {
      ended = true;
      return result;
    });
    recording.clock.advanceTo(recording.clock.now() + 9_999);
    await recording.recorder.settled();
    expect(ended).toBe(false);
    recording.clock.advanceTo(recording.clock.now() + 1);
    const { outcome, gaps } = await stopped;
    expect(outcome).toBe("incomplete");
    expect(gaps).toEqual([{ reason: "unfinished", connectionId: "c1", itemId: "a" }]);
    expect(recording.closed).toEqual(["c1"]);
    expect(await recording.texts()).toEqual(["second"]);
    const [finished] = ofType(await recording.entries(), "recording.finished");
    expect(finished).toMatchObject({ recordingId: RECORDING_ID, durationMs: 1_234, outcome, gaps });
    expect(recording.clock.pending).toBe(0);
  });

  test("without a provider the recording is complete; a gap of the caller makes it incomplete", async () => {
    recording.recorder.addGap({ reason: "not transcribed at wss://x/?token=abc", startMs: 0, endMs: 100 });
    const { outcome, gaps } = await recording.recorder.stop({ durationMs: 100 });
    expect(outcome).toBe("incomplete");
    expect(gaps).toEqual([{ reason: "not transcribed at wss://x/?token=[redacted]", startMs: 0, endMs: 100 }]);
  });

  test("an interruption keeps what was final and says why", async () => {
    await saved("a");
    await recording.turn("b", "a");
    await recording.recorder.interrupt("the capture helper ended", 50);
    const entries = await recording.entries();
    expect(ofType(entries, "recording.interrupted")[0]).toMatchObject({
      reason: "the capture helper ended",
      durationMs: 50,
    });
    expect(await recording.texts()).toEqual(["text of a"]);
  });

  test("late frames are evidence after the end too", async () => {
    await recording.turn("a", null);
    await recording.recorder.transport("c1", { type: "close", code: 1006 });
    await recording.recorder.stop({ durationMs: 1 });
    await recording.transcript("a", "too late");
    await recording.recorder.settled();
    expect(await recording.texts()).toEqual([]);
    expect(await evidence()).toHaveLength(2);
  });
});

describe("removal", () => {
  const acknowledge = (id: string) => recording.receive({ type: "conversation.item.deleted", item_id: id });
  const removed = async () => ofType(await recording.entries(), "message.removed").map((entry) => entry.targetId);

  test("keeps the intent before anything is sent, and removes on the acknowledgement, once", async () => {
    const entryId = await saved("a");
    const result = recording.recorder.requestRemoval(entryId);
    await recording.recorder.settled();
    expect(recording.sent).toHaveLength(1);
    expect(recording.sent[0]?.event).toMatchObject({ type: "conversation.item.delete", item_id: "a" });
    expect(ofType(await recording.entries(), "custom").map((entry) => entry.data)).toEqual([
      { state: "requested", targetId: entryId, connectionId: "c1", itemId: "a" },
    ]);
    expect(await removed()).toEqual([]);
    await acknowledge("a");
    await acknowledge("a");
    expect(await result).toEqual({ kind: "removed" });
    expect(await removed()).toEqual([entryId]);
    expect(recording.recorder.snapshot.saved).toEqual([]);
    expect(await recording.recorder.savedTurns()).toEqual([]);
    expect(await recording.recorder.requestRemoval(entryId)).toEqual({ kind: "refused", reason: "already-removed" });
    expect(recording.sent).toHaveLength(1);
  });

  test("a rejection leaves the message", async () => {
    const entryId = await saved("a");
    const result = recording.recorder.requestRemoval(entryId);
    await recording.recorder.settled();
    const eventId = recording.sent[0]?.event.event_id ?? null;
    await recording.receive({ type: "error", error: { code: "invalid_value", message: "no", event_id: eventId } });
    expect(await result).toEqual({ kind: "rejected" });
    expect(await removed()).toEqual([]);
    expect((await recording.recorder.stop({ durationMs: 1 })).outcome).toBe("complete");
  });

  test("no answer for ten seconds closes the connection, stops the capture and removes nothing", async () => {
    const entryId = await saved("a");
    const result = recording.recorder.requestRemoval(entryId);
    await recording.recorder.settled();
    recording.clock.advanceTo(recording.clock.now() + 10_000);
    expect(await result).toEqual({ kind: "uncertain" });
    await acknowledge("a");
    expect(recording.closed).toEqual(["c1"]);
    expect(recording.recorder.snapshot).toMatchObject({
      phase: "finishing",
      captureStop: { reason: "removal-timeout" },
    });
    expect((await recording.recorder.stop({ durationMs: 1 })).outcome).toBe("incomplete");
    expect(await removed()).toEqual([]);
  });

  test("acknowledged and not saved: the intent stays and is tried again without asking the provider", async () => {
    const entryId = await saved("a");
    const result = recording.recorder.requestRemoval(entryId);
    await recording.recorder.settled();
    recording.beforeAppend = (entries) => {
      if (entries.some((entry) => entry.type === "message.removed")) throw new StoreError("io-error");
    };
    await acknowledge("a");
    expect(await result).toEqual({ kind: "not-saved", code: "io-error" });
    expect(recording.recorder.snapshot.phase).toBe("recording");
    expect(recording.recorder.snapshot.saved).toMatchObject([{ entryId }]);
    recording.beforeAppend = () => undefined;
    recording.recorder.retryRemovals();
    await recording.recorder.settled();
    expect(await removed()).toEqual([entryId]);
    expect(recording.recorder.snapshot.saved).toEqual([]);
    expect(recording.sent).toHaveLength(1);
  });

  test("a message of an earlier connection is removed at once; nothing is sent on the new one", async () => {
    const entryId = await saved("a");
    await recording.recorder.transport("c1", { type: "close", code: 1000, expected: true });
    await recording.connect("c2");
    expect(await recording.recorder.requestRemoval(entryId)).toEqual({ kind: "removed" });
    expect(recording.sent).toEqual([]);
    expect(await removed()).toEqual([entryId]);
  });
});

describe("a restart", () => {
  test("names what is unfinished and never makes a message of it", async () => {
    await saved("a");
    await recording.turn("b", "a");
    recording.beforeAppend = (entries) => {
      if (entries.some((entry) => entry.type === "message")) throw new StoreError("io-error");
    };
    await recording.transcript("c", "final, but behind what is not");
    await recording.receive({ type: "conversation.item.input_audio_transcription.delta", item_id: "b", delta: "half" });
    await recording.recorder.settled();
    const before = await recording.entries();
    const report = await reportUnfinished(recording.session);
    expect(report.recordings).toEqual([{ recordingId: RECORDING_ID }]);
    expect(report.unresolved.map((item) => item.itemId)).toEqual(["b", "c"]);
    expect(report.removals).toEqual([]);
    expect(await recording.entries()).toEqual(before);
  });

  test("reads frames in their wrapped form, and is not misled by a provider that calls a member so", async () => {
    await recording.receive({ type: "any", wrapped: { reason: "mine", text: "no JSON {" } });
    await recording.turn("a", null);
    const split = { type: "conversation.item.input_audio_transcription.delta", item_id: "b", delta: "\ud83d" };
    await recording.receive(split);
    await recording.recorder.settled();
    const report = await reportUnfinished(recording.session);
    expect(report.unresolved.map((item) => item.itemId)).toEqual(["a", "b"]);
  });

  test("finds final turns whose message was never written", async () => {
    const append = recording.session.append.bind(recording.session);
    await recording.recorder.settled();
    const observedAt = "2026-01-01T00:00:00.000Z";
    const event = (sequence: number, payload: JsonObject) =>
      ({
        type: "realtime_event",
        connectionId: "c1",
        direction: "incoming",
        observation: "received",
        observedAt,
        sequence,
        payload,
      }) as const;
    await append(
      [
        event(100, { type: "input_audio_buffer.committed", item_id: "x", previous_item_id: null }),
        event(101, { type: "conversation.item.input_audio_transcription.completed", item_id: "x", transcript: "lost" }),
      ],
      { parentId: recording.recorder.leaf },
    );
    const report = await reportUnfinished(recording.session);
    expect(report.unmaterialized).toEqual([{ connectionId: "c1", itemId: "x", role: "user" }]);
    expect(await recording.texts()).toEqual([]);
  });

  test("a removal that the provider acknowledged is finished without asking again", async () => {
    const entryId = await saved("a");
    const keptId = await saved("b", "a");
    void recording.recorder.requestRemoval(entryId);
    void recording.recorder.requestRemoval(keptId);
    await recording.recorder.settled();
    recording.beforeAppend = (entries) => {
      if (entries.some((entry) => entry.type === "message.removed")) throw new StoreError("io-error");
    };
    await recording.receive({ type: "conversation.item.deleted", item_id: "a" });
    await recording.recorder.settled();
    const report = await reportUnfinished(recording.session);
    expect(report.removals.map(({ itemId, state }) => [itemId, state])).toEqual([
      ["a", "acknowledged"],
      ["b", "unanswered"],
    ]);
    expect(await resumeRemovals(recording.session)).toEqual([entryId]);
    expect(await resumeRemovals(recording.session)).toEqual([]);
    expect((await recording.session.history()).map((item) => item.id)).toEqual([keptId]);
  });

  test("a finished recording leaves nothing to report", async () => {
    await saved("a");
    await recording.turn("b", "a");
    const stopped = recording.recorder.stop({ durationMs: 1 });
    recording.clock.advanceTo(recording.clock.now() + 10_000);
    await stopped;
    expect(await reportUnfinished(recording.session)).toEqual({
      recordings: [],
      unmaterialized: [],
      unresolved: [],
      removals: [],
    });
  });
});

describe("changes", () => {
  test("are told once for all that happens in a turn of the event loop", async () => {
    recording.keepSnapshots = true;
    const before = recording.snapshots.length;
    await recording.turn("a", null);
    await recording.recorder.settled();
    expect(recording.snapshots.length).toBeGreaterThan(before);
    expect(recording.snapshots.at(-1)?.provisional.map((turn) => turn.itemId)).toEqual(["a"]);
  });
});
