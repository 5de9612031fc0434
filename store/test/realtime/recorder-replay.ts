import { StoreError } from "../../src/errors";
import { isObject, type JsonObject } from "../../src/format/schema";
import { nameOf, objectOf } from "../../src/realtime/fields";
import { parseJson } from "../../src/realtime/json-text";
import { type ReplayDocument } from "../../src/realtime/replay";
import { type RecordingOutcome } from "../../src/realtime/recorder-types";
import { type TraceLine } from "../../src/realtime/trace";
import { Recording } from "./recording";

const DELETE = "conversation.item.delete";

/**
 * Plays a trace through the recorder into a session file and reads the answer from that file. With a bound, draining has
 * to be over that many milliseconds after the stop.
 */
export async function recordTrace(trace: readonly TraceLine[], maxDrainMs?: number): Promise<ReplayDocument> {
  const recording = await Recording.begin([]);
  try {
    return await new Player(recording).play(trace, maxDrainMs);
  } finally {
    await recording.end();
  }
}

class Player {
  readonly #recording: Recording;
  readonly #eventIds = new Map<string, string>();
  readonly #unseen: { connectionId: string; event: JsonObject }[] = [];
  readonly #connected = new Set<string>();
  readonly #checkpoints: ReplayDocument["checkpoints"] = [];
  readonly #sends: Record<string, number> = {};
  #seenSends = 0;
  #stopped: Promise<RecordingOutcome> | undefined;
  #removalsToFail = 0;
  #lastSend = 0;
  #isStopping = false;
  readonly #startMs: number;

  constructor(recording: Recording) {
    this.#recording = recording;
    this.#startMs = recording.clock.now();
    recording.beforeAppend = (entries) => {
      if (this.#removalsToFail === 0 || !entries.some((entry) => entry.type === "message.removed")) return;
      this.#removalsToFail -= 1;
      throw new StoreError("io-error");
    };
  }

  async play(trace: readonly TraceLine[], maxDrainMs: number | undefined): Promise<ReplayDocument> {
    const { recorder, clock } = this.#recording;
    this.#lastSend = trace.findLast((line) => line.step.kind === "send")?.line ?? 0;
    for (const line of trace) {
      clock.advanceTo(this.#startMs + line.atMs);
      await this.#step(line);
      if (line.step.kind === "local" && line.step.action === "stop") this.#isStopping = true;
      // The recorder is stopped when the client has sent the rest.
      if (this.#isStopping && this.#stopped === undefined && line.line >= this.#lastSend) {
        this.#stopped = recorder.stop({ durationMs: clock.now() - this.#startMs });
      }
      // Waiting for the disk after every line of a long trace would only be slow.
      if (trace.length < 200 || line.line % 32 === 0) await recorder.settled();
      this.#noteSends();
      this.#checkpoints.push({ after_line: line.line, published: recorder.snapshot.saved.length });
    }
    this.#stopped ??= recorder.stop({ durationMs: clock.now() - this.#startMs });
    if (maxDrainMs !== undefined) {
      clock.advanceTo(clock.now() + maxDrainMs);
      expect(this.#recording.closed).toEqual([...this.#connected]);
    }
    clock.advanceTo(clock.now() + 30_000);
    const { outcome } = await this.#stopped;
    await recorder.settled();
    this.#noteSends();
    return this.#document(outcome);
  }

  async #step({ connectionId, step }: TraceLine): Promise<void> {
    const { recorder } = this.#recording;
    if (step.kind !== "local" && !this.#connected.has(connectionId)) {
      this.#connected.add(connectionId);
      await this.#recording.connect(connectionId);
    }
    switch (step.kind) {
      case "receive":
        void recorder.observeReceived(connectionId, this.#withRealEventId(step.frame));
        break;
      case "transport":
        await recorder.transport(connectionId, step.event);
        break;
      case "send":
        await this.#send(connectionId, step.event);
        break;
      case "local":
        await this.#local(step.action, step.itemId);
        break;
    }
  }

  async #local(action: string, itemId: string | undefined): Promise<void> {
    const { recorder } = this.#recording;
    if (action === "remove_request") {
      await this.#requestRemoval(itemId ?? "");
    } else if (action === "persist_fail_next") {
      this.#removalsToFail += 1;
    } else if (action === "retry_intents") {
      recorder.retryRemovals();
    }
  }

  async #requestRemoval(itemId: string): Promise<void> {
    const { recorder } = this.#recording;
    await recorder.settled();
    const saved = recorder.snapshot.saved.find((turn) => turn.itemId === itemId);
    void recorder.requestRemoval(saved?.entryId ?? "not-saved");
    await recorder.settled();
  }

  async #send(connectionId: string, event: JsonObject): Promise<void> {
    const { recorder } = this.#recording;
    if (event.type !== DELETE) {
      const type = nameOf(event, "type") ?? "unknown";
      this.#sends[type] = (this.#sends[type] ?? 0) + 1;
      void recorder.observeSend(connectionId, event, { observation: "send_attempt" });
      return;
    }
    const itemId = nameOf(event, "item_id");
    const find = () => {
      this.#noteSends();
      return this.#unseen.findIndex((sent) => sent.connectionId === connectionId && sent.event.item_id === itemId);
    };
    if (find() === -1) await this.#requestRemoval(itemId ?? "");
    const index = find();
    const sent = index === -1 ? undefined : this.#unseen.splice(index, 1)[0];
    if (sent !== undefined) this.#eventIds.set(nameOf(event, "event_id") ?? "", nameOf(sent.event, "event_id") ?? "");
  }

  #noteSends(): void {
    for (const sent of this.#recording.sent.slice(this.#seenSends)) {
      this.#sends[DELETE] = (this.#sends[DELETE] ?? 0) + 1;
      this.#unseen.push(sent);
    }
    this.#seenSends = this.#recording.sent.length;
  }

  #withRealEventId(text: string): string {
    const frame = parseJson(text);
    if (!isObject(frame)) return text;
    const error = objectOf(frame, "error");
    const eventId = this.#eventIds.get(nameOf(error, "event_id") ?? "");
    return eventId === undefined ? text : JSON.stringify({ ...frame, error: { ...error, event_id: eventId } });
  }

  async #document(outcome: "complete" | "incomplete"): Promise<ReplayDocument> {
    const entries = await this.#recording.entries();
    const document: ReplayDocument = {
      messages: [],
      gaps: [],
      skipped: [],
      removed: [],
      unanswered: [],
      provisional_at_stop: [],
      received: 0,
      sends: this.#sends,
      outcome,
      finishing: this.#recording.recorder.snapshot.captureStop?.reason === "order-limit",
      capture_stopped: [this.#recording.recorder.snapshot.captureStop?.reason ?? []].flat(),
      checkpoints: this.#checkpoints,
    };
    const places = new Map<string, { conn: string; item: string }>();
    for (const entry of entries) {
      if (entry.type === "realtime_event" && entry.observation === "received") document.received += 1;
      if (entry.type === "message" && entry.message.role !== "toolResult") {
        const realtime = objectOf(entry.message as JsonObject, "realtime");
        const place = { conn: nameOf(realtime, "connectionId") ?? "", item: nameOf(realtime, "itemId") ?? "" };
        places.set(entry.id, place);
        const [block] = entry.message.content;
        const text = block !== undefined && "text" in block ? String(block.text) : "";
        const stopReason = entry.message.role === "assistant" ? entry.message.stopReason : undefined;
        document.messages.push({
          ...place,
          role: entry.message.role,
          text,
          ...(stopReason === undefined || stopReason === "toolUse" ? {} : { stopReason }),
        });
      }
      if (entry.type === "message.removed") document.removed.push(places.get(entry.targetId) ?? { conn: "", item: "" });
      if (entry.type === "recording.finished") {
        expect(entry.outcome).toBe(outcome);
        for (const gap of entry.gaps ?? []) {
          const { connectionId, itemId, responseId } = gap;
          if (itemId === undefined && responseId === undefined) {
            document.unanswered.push({ conn: String(connectionId), reason: gap.reason });
            continue;
          }
          document.gaps.push({
            conn: String(connectionId),
            ...(typeof itemId === "string" ? { item: itemId } : {}),
            ...(typeof responseId === "string" ? { response: responseId } : {}),
            reason: gap.reason,
          });
        }
      }
    }
    expect(entries.filter((entry) => entry.type === "recording.finished")).toHaveLength(1);
    return document;
  }
}
