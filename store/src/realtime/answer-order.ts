/** The assistant's side of a connection: responses, their items, and the outcome at `response.done`. */
import { type ProviderEvent, type ProviderItem, type ProviderResponse } from "./events";
import { isNode, isTerminal, type Node, type NodeKind } from "./node";
import { type OrderHost } from "./order-host";
import { endedAnswer, itemText } from "./outcomes";
import { Responses } from "./responses";

type AnswerEvent = Extract<
  ProviderEvent,
  { kind: "response-created" | "output-item" | "output-delta" | "output-text" | "response-done" }
>;

export class AnswerOrder {
  readonly #host: OrderHost;
  readonly #responses = new Responses();

  constructor(host: OrderHost) {
    this.#host = host;
  }

  /** A response in the conversation was asked for or runs. */
  get isWaiting(): boolean {
    return this.#responses.requestedCount > 0 || this.#responses.running.length > 0;
  }

  request(eventId: string | undefined, inConversation: boolean): void {
    this.#responses.request(eventId, inConversation);
  }

  reject(eventId: string | undefined, code: string | undefined): boolean {
    return this.#responses.reject(eventId, code);
  }

  /** Gives up on running responses; those that never had an item are named here. */
  abandonRunning(): string[] {
    return this.#responses.running.filter((response) => response.itemIds.size === 0).map((response) => response.id);
  }

  /** Gives up on requests that nothing answered; their number. */
  abandonRequests(): number {
    const count = this.#responses.requestedCount;
    this.#responses.clear();
    return count;
  }

  receive(event: AnswerEvent, nowMs: number): void {
    switch (event.kind) {
      case "response-created":
        this.#responses.created(event.response);
        if (!event.response.inConversation) this.#dropItems(event.response);
        break;
      case "output-item": {
        const node = this.#memberOf(event.responseId, event.item, nowMs);
        if (node !== undefined && event.done) this.finalTexts(node, event.item);
        break;
      }
      case "output-delta": {
        const node = this.#textItem(event.responseId, event.itemId, nowMs);
        if (node === undefined || isTerminal(node)) break;
        const text = node.provisional + event.delta;
        if (this.#host.charge(node, node.textBytes + Buffer.byteLength(event.delta))) node.provisional = text;
        break;
      }
      case "output-text": {
        const node = this.#textItem(event.responseId, event.itemId, nowMs);
        if (node !== undefined) this.#finalText(node, event.contentIndex, event.text);
        break;
      }
      case "response-done":
        this.#done(event.response, nowMs);
        break;
    }
  }

  /** Final texts of an item as its own `.done` events give them, for responses that end without naming them again. */
  finalTexts(node: Node, item: ProviderItem): void {
    item.parts.forEach((part, index) => {
      if (part.text !== undefined && part.text !== "") this.#finalText(node, index, part.text);
    });
  }

  #finalText(node: Node, contentIndex: number, text: string): void {
    if (node.kind !== "assistant" || isTerminal(node)) return;
    const previous = node.partTexts?.get(contentIndex) ?? "";
    const bytes = node.textBytes - Buffer.byteLength(previous) + Buffer.byteLength(text);
    if (this.#host.charge(node, bytes)) (node.partTexts ??= new Map()).set(contentIndex, text);
    // A text that cannot be kept must not turn into an answer without text.
    else this.#host.end(node, { phase: "gap", reason: "order_limit" });
  }

  #done(response: ProviderResponse, nowMs: number): void {
    const ended = this.#responses.end(response);
    if (ended === undefined) return;
    if (!ended.inConversation) {
      this.#dropItems(response, ended.itemIds);
      return;
    }
    const outputs = new Map<string, ProviderItem>();
    for (const item of response.output) {
      outputs.set(item.id, item);
      ended.itemIds.add(item.id);
      const node = this.#host.ensure(item.id, answerKind(item), nowMs);
      if (node !== undefined) node.responseId ??= response.id;
    }
    for (const id of ended.itemIds) {
      const node = this.#host.order.get(id);
      if (!isNode(node) || node.kind !== "assistant") continue;
      const output = outputs.get(id);
      const text = (output === undefined ? undefined : itemText(output)) ?? doneText(node);
      this.#host.end(node, endedAnswer(response, text));
    }
    const hasFailed = response.status === "failed" || response.status === "incomplete";
    if (hasFailed && ended.itemIds.size === 0 && response.id !== undefined) {
      const node = this.#host.ensure(response.id, "response", nowMs);
      if (node !== undefined) this.#host.end(node, endedAnswer(response, undefined));
    }
  }

  /** The node of an output item, bound to its response. */
  #memberOf(responseId: string | undefined, item: ProviderItem, nowMs: number): Node | undefined {
    if (!this.#isLive(responseId, item.id)) return undefined;
    const kind = answerKind(item);
    const node = this.#host.ensure(item.id, kind, nowMs);
    this.#bind(node, responseId, item.id);
    if (node?.kind === "assistant" && kind === "transparent" && !isTerminal(node)) {
      node.kind = "transparent";
      this.#host.end(node, { phase: "pass" });
    }
    return node;
  }

  #textItem(responseId: string | undefined, itemId: string, nowMs: number): Node | undefined {
    if (!this.#isLive(responseId, itemId)) return undefined;
    const known = this.#host.order.get(itemId);
    if (known !== undefined) {
      const node = isNode(known) && known.kind === "assistant" ? known : undefined;
      this.#bind(node, responseId, itemId);
      return node;
    }
    if (responseId === undefined) return undefined;
    const node = this.#host.ensure(itemId, "assistant", nowMs);
    this.#bind(node, responseId, itemId);
    return node;
  }

  /** False for what follows the end of a response, and for responses outside of the conversation. */
  #isLive(responseId: string | undefined, itemId: string): boolean {
    if (responseId === undefined) return true;
    if (this.#responses.isEnded(responseId)) {
      const node = this.#host.order.get(itemId);
      // The item belongs to a response that is over, so nothing will ever complete it.
      if (node === undefined) this.#host.order.refuse({ id: itemId, kind: "assistant", passed: "closed" });
      else if (isNode(node) && node.kind === "assistant")
        this.#host.end(node, { phase: "skip", reason: "response_ended" });
      return false;
    }
    return this.#responses.enter(responseId)?.inConversation !== false;
  }

  #bind(node: Node | undefined, responseId: string | undefined, itemId: string): void {
    if (responseId === undefined) return;
    this.#responses.enter(responseId)?.itemIds.add(itemId);
    if (node !== undefined) node.responseId ??= responseId;
  }

  /** Items of a response outside of the conversation are never published. */
  #dropItems(response: ProviderResponse, itemIds: Iterable<string> = []): void {
    const known = response.id === undefined ? [] : (this.#responses.enter(response.id)?.itemIds ?? []);
    for (const id of new Set([...known, ...itemIds, ...response.output.map((item) => item.id)])) {
      const node = this.#host.order.get(id);
      if (node === undefined) this.#host.order.refuse({ id, kind: "assistant", passed: "closed" });
      else if (isNode(node) && node.kind === "assistant")
        this.#host.end(node, { phase: "skip", reason: "out_of_band" });
    }
  }
}

function answerKind(item: ProviderItem): NodeKind {
  const isMessage = item.type === "message" || item.type === undefined;
  return isMessage && (item.role === "assistant" || item.role === undefined) ? "assistant" : "transparent";
}

function doneText(node: Node): string | undefined {
  if (node.partTexts === undefined) return undefined;
  const texts = [...node.partTexts].sort(([a], [b]) => a - b).map(([, text]) => text);
  return texts.join("");
}
