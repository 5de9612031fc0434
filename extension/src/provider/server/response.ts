import { type Json, type JsonRecord } from "../json";
import { type Conversation } from "./conversation";

/** Writes the assistant's replies of a conversation session. Local servers have none; tests script one. */
export interface Responder {
  reply(conversation: readonly JsonRecord[], signal: AbortSignal): Promise<string>;
}

export interface ResponseHost {
  readonly conversation: Conversation;
  readonly responder: Responder | undefined;
  newId(prefix: string): string;
  send(event: JsonRecord): void;
  modalities(): Json;
}

type Ending =
  { status: "completed" | "failed"; details: JsonRecord | null } | { status: "cancelled"; details: JsonRecord };

/** One response from `response.created` to `response.done`, which always comes. */
export class ServerResponse {
  readonly id: string;
  #text = "";
  #itemId: string | undefined;
  readonly #abort = new AbortController();
  #cancelled: string | undefined;
  readonly #outOfBand: boolean;
  readonly #isAudio: boolean;
  readonly #metadata: Json;

  constructor(
    private readonly host: ResponseHost,
    options: JsonRecord,
  ) {
    this.id = host.newId("resp");
    this.#outOfBand = options["conversation"] === "none";
    const modalities = options["output_modalities"] ?? host.modalities();
    this.#isAudio = Array.isArray(modalities) && modalities.includes("audio");
    this.#metadata = options["metadata"] ?? null;
  }

  get itemId(): string | undefined {
    return this.#itemId;
  }

  cancel(reason: "turn_detected" | "client_cancelled"): void {
    this.#cancelled ??= reason;
    this.#abort.abort();
  }

  async run(): Promise<void> {
    this.host.send({ type: "response.created", response: this.#value("in_progress", null, []) });
    const ending = await this.#speak();
    const item = this.#itemValue(ending.status === "completed" ? "completed" : "incomplete");
    if (this.#itemId !== undefined && item !== undefined) this.#closeItem(this.#itemId, item);
    this.host.send({
      type: "response.done",
      response: this.#value(ending.status, ending.details, item === undefined ? [] : [item]),
    });
  }

  async #speak(): Promise<Ending> {
    const { responder, conversation } = this.host;
    if (responder === undefined) {
      const error = { type: "invalid_request_error", code: "no_responder", message: "This server does not reply." };
      return { status: "failed", details: { type: "failed", error } };
    }
    try {
      const text = await responder.reply(
        conversation.items.map(({ value }) => value),
        this.#abort.signal,
      );
      this.#abort.signal.throwIfAborted();
      this.#openItem();
      for (const delta of text.match(/\s*\S+/g) ?? []) {
        this.#abort.signal.throwIfAborted();
        this.#text += delta;
        this.#part("delta", { delta });
        await Promise.resolve();
      }
      return { status: "completed", details: null };
    } catch (error) {
      if (this.#cancelled !== undefined) {
        return { status: "cancelled", details: { type: "cancelled", reason: this.#cancelled } };
      }
      const message = error instanceof Error ? error.message : "The reply failed.";
      return {
        status: "failed",
        details: { type: "failed", error: { type: "server_error", code: "reply_failed", message } },
      };
    }
  }

  #openItem(): void {
    const id = this.host.newId("item");
    this.#itemId = id;
    const item = { ...this.#itemShape("in_progress"), content: [] };
    this.host.send({ type: "response.output_item.added", response_id: this.id, output_index: 0, item });
    if (!this.#outOfBand) {
      this.host.conversation.insert({ id, value: item }, undefined);
      const previous = this.host.conversation.predecessorOf(id);
      this.host.send({ type: "conversation.item.added", previous_item_id: previous, item });
    }
    this.host.send({
      type: "response.content_part.added",
      ...this.#partIds(),
      part: this.#isAudio ? { type: "audio", transcript: "" } : { type: "text", text: "" },
    });
  }

  #closeItem(id: string, item: JsonRecord): void {
    this.#part("done", this.#isAudio ? { transcript: this.#text } : { text: this.#text });
    if (this.#isAudio) this.host.send({ type: "response.output_audio.done", ...this.#partIds() });
    this.host.send({
      type: "response.content_part.done",
      ...this.#partIds(),
      part: this.#isAudio ? { type: "audio", transcript: this.#text } : { type: "text", text: this.#text },
    });
    this.host.send({ type: "response.output_item.done", response_id: this.id, output_index: 0, item });
    const entry = this.host.conversation.find(id);
    if (entry !== undefined) {
      entry.value = item;
      const previous = this.host.conversation.predecessorOf(id);
      this.host.send({ type: "conversation.item.done", previous_item_id: previous, item });
    }
  }

  #part(step: "delta" | "done", fields: JsonRecord): void {
    const name = this.#isAudio ? "output_audio_transcript" : "output_text";
    this.host.send({ type: `response.${name}.${step}`, ...this.#partIds(), ...fields });
  }

  #partIds(): JsonRecord {
    return { response_id: this.id, item_id: this.#itemId ?? "", output_index: 0, content_index: 0 };
  }

  #itemShape(status: string): JsonRecord {
    return { id: this.#itemId ?? "", object: "realtime.item", type: "message", status, role: "assistant" };
  }

  #itemValue(status: string): JsonRecord | undefined {
    if (this.#itemId === undefined) return undefined;
    const content = this.#isAudio
      ? { type: "output_audio", transcript: this.#text }
      : { type: "output_text", text: this.#text };
    return { ...this.#itemShape(status), content: [content] };
  }

  #value(status: string, details: JsonRecord | null, output: JsonRecord[]): JsonRecord {
    return {
      object: "realtime.response",
      id: this.id,
      status,
      status_details: details,
      output,
      conversation_id: this.#outOfBand ? null : "conv_1",
      output_modalities: [this.#isAudio ? "audio" : "text"],
      max_output_tokens: "inf",
      usage: status === "in_progress" ? null : { total_tokens: 0, input_tokens: 0, output_tokens: 0 },
      metadata: this.#metadata,
    };
  }
}
