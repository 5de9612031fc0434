/** One connection of the loopback server: a GA transcription or conversation session. */
import { BYTES_PER_MS } from "../../capture/protocol";
import { isRecord, type Json, type JsonRecord, recordAt, textAt } from "../json";
import { transcriptionModel } from "../models";
import { type VoiceActivity } from "../vad/voice-activity";
import { AudioInput } from "./audio-input";
import { Conversation } from "./conversation";
import { type Responder, ServerResponse } from "./response";
import { applyUpdate, initialSession, type SessionKind, transcriptionOf, vadOf } from "./session-config";
import { EngineFailure, type EngineTurn, type SpeechEngine } from "./speech-engine";

export interface ServerSessionOptions {
  kind: SessionKind;
  model: string | undefined;
  engine: SpeechEngine;
  responder: Responder | undefined;
  activity: VoiceActivity;
  nowMs: number;
  newId(prefix: string): string;
  send(event: JsonRecord): void;
}

/** A turn that is spoken or being recognised. */
interface Turn {
  itemId: string;
  engineTurn: EngineTurn;
  bytes: number;
  committed: boolean;
  /** Held until the commit for models that do not stream before it. */
  heldDeltas: string[];
  streams: boolean;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

export class ServerSession {
  readonly #conversation = new Conversation();
  readonly #input: AudioInput;
  #session: JsonRecord;
  #turn: Turn | undefined;
  /** The id that a running turn of the voice detection has announced. */
  #reservedItemId: string | undefined;
  readonly #running = new Set<Turn>();
  #response: ServerResponse | undefined;
  #isClosed = false;

  constructor(private readonly options: ServerSessionOptions) {
    this.#session = initialSession(options.kind, options.newId("sess"), options.model, options.nowMs);
    this.#input = new AudioInput(options.activity, {
      speechStarted: (audio_start_ms) => this.#speechStarted(audio_start_ms),
      turnStarted: (startMs, samples) => this.#startTurn(startMs, samples),
      turnAudio: (samples) => this.#pushAudio(samples),
      speechStopped: (audio_end_ms) =>
        this.#send({ type: "input_audio_buffer.speech_stopped", audio_end_ms, item_id: this.#itemId() }),
      committed: () => this.#commitTurn(),
    });
    this.#input.configure(vadOf(this.#session));
  }

  start(): void {
    this.#send({ type: "session.created", session: this.#session });
  }

  close(): void {
    this.#isClosed = true;
    this.#turn?.engineTurn.cancel();
    for (const turn of this.#running) turn.engineTurn.cancel();
    this.#response?.cancel("client_cancelled");
    this.options.activity.close();
  }

  receive(event: JsonRecord): void {
    const eventId = textAt(event, "event_id") ?? null;
    switch (event["type"]) {
      case "session.update":
        return this.#update(event, eventId);
      case "input_audio_buffer.append":
        return this.#append(event, eventId);
      case "input_audio_buffer.commit":
        return this.#commit(eventId);
      case "input_audio_buffer.clear":
        return this.#clear();
      case "conversation.item.create":
        return this.#createItem(event, eventId);
      case "conversation.item.delete":
        return this.#deleteItem(event, eventId);
      case "conversation.item.retrieve":
        return this.#retrieveItem(event, eventId);
      case "conversation.item.truncate":
        return this.#truncateItem(event, eventId);
      case "response.create":
        return this.#createResponse(recordAt(event, "response") ?? {}, eventId);
      case "response.cancel":
        return this.#cancelResponse(event, eventId);
      default:
        return this.#error("invalid_value", `Invalid value for 'type'.`, eventId, "type");
    }
  }

  malformed(): void {
    this.#error("invalid_json", "The frame is not a JSON object.", null);
  }

  #update(event: JsonRecord, eventId: string | null): void {
    const next = applyUpdate(this.#session, recordAt(event, "session") ?? {});
    if (!next.ok) return this.#error(next.rejection.code, next.rejection.message, eventId, next.rejection.param);
    this.#session = next.session;
    this.#input.configure(vadOf(next.session));
    this.#send({ type: "session.updated", session: next.session });
  }

  #append(event: JsonRecord, eventId: string | null): void {
    const audio = textAt(event, "audio");
    if (audio === undefined || !BASE64.test(audio)) {
      return this.#error("invalid_value", "Invalid base64 audio.", eventId, "audio");
    }
    this.#input.append(Buffer.from(audio, "base64"));
  }

  #commit(eventId: string | null): void {
    if (this.#input.commit()) return;
    const has = this.#input.uncommittedMs.toFixed(2);
    const message = `Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, but buffer only has ${has}ms of audio.`;
    this.#error("input_audio_buffer_commit_empty", message, eventId);
  }

  #clear(): void {
    this.#turn?.engineTurn.cancel();
    this.#turn = undefined;
    this.#reservedItemId = undefined;
    this.#input.clear();
    this.#send({ type: "input_audio_buffer.cleared" });
  }

  #itemId(): string {
    this.#reservedItemId ??= this.options.newId("item");
    return this.#reservedItemId;
  }

  #speechStarted(audio_start_ms: number): void {
    this.#send({ type: "input_audio_buffer.speech_started", audio_start_ms, item_id: this.#itemId() });
    if (vadOf(this.#session)?.interruptResponse === true) this.#response?.cancel("turn_detected");
  }

  #startTurn(startMs: number, samples: Buffer): void {
    const transcription = transcriptionOf(this.#session);
    const turn: Turn = {
      itemId: this.#itemId(),
      engineTurn: this.options.engine.openTurn({
        startMs,
        ...(transcription?.language === undefined ? {} : { language: transcription.language }),
        onPartial: (delta) => this.#partial(turn, delta),
      }),
      bytes: 0,
      committed: false,
      heldDeltas: [],
      streams: transcription !== null && transcriptionModel(transcription.model).streamsBeforeCommit,
    };
    this.#turn = turn;
    this.#pushAudio(samples);
  }

  #pushAudio(samples: Buffer): void {
    if (this.#turn === undefined) return;
    this.#turn.bytes += samples.length;
    this.#turn.engineTurn.push(samples);
  }

  #partial(turn: Turn, delta: string): void {
    if (transcriptionOf(this.#session) === null || delta === "") return;
    if (turn.committed || turn.streams) this.#sendDelta(turn, delta);
    else turn.heldDeltas.push(delta);
  }

  #sendDelta(turn: Turn, delta: string): void {
    const type = "conversation.item.input_audio_transcription.delta";
    this.#send({ type, item_id: turn.itemId, content_index: 0, delta });
  }

  #commitTurn(): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#turn = undefined;
    this.#reservedItemId = undefined;
    const item: JsonRecord = {
      id: turn.itemId,
      object: "realtime.item",
      type: "message",
      status: "completed",
      role: "user",
      content: [{ type: "input_audio", transcript: null }],
    };
    const previous_item_id = this.#conversation.lastId;
    this.#conversation.insert({ id: turn.itemId, value: item }, undefined);
    this.#send({ type: "input_audio_buffer.committed", previous_item_id, item_id: turn.itemId });
    this.#send({ type: "conversation.item.added", previous_item_id, item });
    this.#send({ type: "conversation.item.done", previous_item_id, item });
    turn.committed = true;
    for (const delta of turn.heldDeltas) this.#sendDelta(turn, delta);
    const replies = this.options.kind === "realtime" && vadOf(this.#session)?.createResponse === true;
    void this.#recognise(turn, replies && this.options.responder !== undefined);
  }

  async #recognise(turn: Turn, reply: boolean): Promise<void> {
    this.#running.add(turn);
    const wanted = transcriptionOf(this.#session) !== null;
    const ids = { item_id: turn.itemId, content_index: 0 };
    const name = "conversation.item.input_audio_transcription";
    try {
      const transcript = await turn.engineTurn.finish();
      const entry = this.#conversation.find(turn.itemId);
      if (entry !== undefined) entry.value = { ...entry.value, content: [{ type: "input_audio", transcript }] };
      const usage = { type: "duration", seconds: Math.round(turn.bytes / (100 * BYTES_PER_MS)) / 10 };
      if (wanted) this.#send({ type: `${name}.completed`, ...ids, transcript, usage });
    } catch (error) {
      const code = error instanceof EngineFailure ? error.code : "internal";
      const message = error instanceof EngineFailure ? error.message : "The recognition failed.";
      if (wanted)
        this.#send({ type: `${name}.failed`, ...ids, error: { type: "server_error", code, message, param: null } });
    } finally {
      this.#running.delete(turn);
    }
    if (reply && this.#response === undefined) this.#createResponse({}, null);
  }

  #createItem(event: JsonRecord, eventId: string | null): void {
    const given = recordAt(event, "item");
    if (given === undefined) return this.#error("missing_required_parameter", "Missing 'item'.", eventId, "item");
    const id = textAt(given, "id") ?? this.options.newId("item");
    const item: JsonRecord = { ...given, id, object: "realtime.item", status: "completed" };
    const previous = event["previous_item_id"];
    const after = previous === "root" ? null : typeof previous === "string" ? previous : undefined;
    if (!this.#conversation.insert({ id, value: item }, after)) {
      const message = "The previous item does not exist, or the item does already.";
      return this.#error("invalid_value", message, eventId, "previous_item_id");
    }
    const previous_item_id = this.#conversation.predecessorOf(id);
    this.#send({ type: "conversation.item.added", previous_item_id, item });
    this.#send({ type: "conversation.item.done", previous_item_id, item });
  }

  #deleteItem(event: JsonRecord, eventId: string | null): void {
    const item_id = textAt(event, "item_id") ?? "";
    if (this.#conversation.remove(item_id)) return this.#send({ type: "conversation.item.deleted", item_id });
    const message = `Error deleting item: the item with id '${item_id}' does not exist.`;
    this.#error("item_delete_invalid_item_id", message, eventId);
  }

  #retrieveItem(event: JsonRecord, eventId: string | null): void {
    const id = textAt(event, "item_id") ?? "";
    const found = this.#conversation.find(id);
    if (found !== undefined) return this.#send({ type: "conversation.item.retrieved", item: found.value });
    const message = `Error retrieving item: the item with id '${id}' does not exist.`;
    this.#error("item_retrieve_invalid_item_id", message, eventId);
  }

  #truncateItem(event: JsonRecord, eventId: string | null): void {
    const item_id = textAt(event, "item_id") ?? "";
    const item = this.#conversation.find(item_id);
    if (item === undefined || item.value["role"] !== "assistant") {
      return this.#error("item_truncate_invalid_item_id", "Only an assistant's audio is truncated.", eventId);
    }
    const audio_end_ms: Json = event["audio_end_ms"] ?? 0;
    this.#send({ type: "conversation.item.truncated", item_id, content_index: 0, audio_end_ms });
  }

  #createResponse(options: JsonRecord, eventId: string | null): void {
    if (this.options.kind === "transcription") {
      return this.#error("invalid_value", "A transcription session has no responses.", eventId, "type");
    }
    if (this.#response !== undefined) {
      const message = `Conversation already has an active response in progress: ${this.#response.id}.`;
      return this.#error("conversation_already_has_active_response", message, eventId);
    }
    const response = new ServerResponse(
      {
        conversation: this.#conversation,
        responder: this.options.responder,
        newId: this.options.newId,
        send: (event) => this.#send(event),
        modalities: () => this.#session["output_modalities"] ?? ["audio"],
      },
      options,
    );
    this.#response = response;
    void response.run().finally(() => (this.#response = undefined));
  }

  #cancelResponse(event: JsonRecord, eventId: string | null): void {
    const id = textAt(event, "response_id");
    if (this.#response === undefined || (id !== undefined && id !== this.#response.id)) {
      return this.#error("response_cancel_not_active", "Cancellation failed: no active response found.", eventId);
    }
    this.#response.cancel("client_cancelled");
  }

  #error(code: string, message: string, event_id: string | null, param: string | null = null): void {
    this.#send({ type: "error", error: { type: "invalid_request_error", code, message, param, event_id } });
  }

  #send(event: JsonRecord): void {
    if (!this.#isClosed) this.options.send({ event_id: this.options.newId("event"), ...event });
  }
}

/** The text of the newest user item, for scripted replies. */
export function lastUserText(items: readonly JsonRecord[]): string {
  const item = items.filter((value) => value["role"] === "user").at(-1);
  const content = item?.["content"];
  if (!Array.isArray(content)) return "";
  return content
    .filter(isRecord)
    .map((part) => textAt(part, "text") ?? textAt(part, "transcript") ?? "")
    .join("");
}
