/**
 * The ordered publication of one connection: provider events go in, messages and gaps come out in the order of the
 * conversation (Session file format, Realtime retention and ordered publication).
 */
import { type JsonObject } from "../format/schema";
import { type EngineAction, type ProvisionalTurn } from "./actions";
import { AnswerOrder } from "./answer-order";
import { ClientItems } from "./client-items";
import { type ProviderEvent, type ProviderItem } from "./events";
import { nameOf, objectOf } from "./fields";
import { isNode, isTerminal, newNode, type GapReason, type Node, type NodeKind } from "./node";
import { type NodeState, type Tombstone } from "./node";
import { NodeOrder } from "./node-order";
import { type OrderBudget } from "./order-budget";
import { type OrderHost, type Place } from "./order-host";
import { orderGap, publishedTurn } from "./published-turn";
import { Removals } from "./removals";
import { TurnOrder } from "./turn-order";

type Emit = (action: EngineAction) => void;

export class ConnectionOrder {
  readonly connectionId: string;
  readonly removals = new Removals();
  readonly #order = new NodeOrder();
  readonly #turns: TurnOrder;
  readonly #answers: AnswerOrder;
  readonly #clientItems = new ClientItems();
  readonly #budget: OrderBudget;
  readonly #emit: Emit;
  /** Earlier connections are flushed, so this one may publish. */
  readonly #isFirst: () => boolean;
  #isClosed = false;

  constructor(connectionId: string, budget: OrderBudget, emit: Emit, isFirst: () => boolean) {
    this.connectionId = connectionId;
    this.#budget = budget;
    this.#emit = emit;
    this.#isFirst = isFirst;
    const host: OrderHost = {
      order: this.#order,
      ensure: (id, kind, nowMs, place) => this.#ensure(id, kind, nowMs, place),
      end: (node, state) => this.#end(node, state),
      charge: (node, bytes) => this.#budget.charge(node, bytes),
    };
    this.#turns = new TurnOrder(host);
    this.#answers = new AnswerOrder(host);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Closed, and everything of it published or named. */
  get isFlushed(): boolean {
    return this.#isClosed && this.#order.isEmpty;
  }

  /** Something is still expected from the provider. */
  get isOpen(): boolean {
    if (this.#isClosed) return false;
    return (
      this.#order.hasHeld ||
      this.#order.nodes.some((node) => !isTerminal(node)) ||
      this.#answers.isWaiting ||
      this.#turns.isWaiting ||
      this.#turns.unheard > 0 ||
      this.removals.isWaiting
    );
  }

  get nextDeadlineMs(): number | undefined {
    const deadlines = [this.#order.nextDeadlineMs, this.removals.nextDeadlineMs];
    return deadlines.reduce((a, b) => (a === undefined ? b : b === undefined ? a : Math.min(a, b)), undefined);
  }

  get provisional(): ProvisionalTurn[] {
    return this.#order.nodes.flatMap((node): ProvisionalTurn[] => {
      const { kind, state } = node;
      if (kind !== "user" && kind !== "assistant") return [];
      if (isTerminal(node) && state.phase !== "ok") return [];
      const turn = { connectionId: this.connectionId, itemId: node.id, role: kind };
      if (state.phase === "ok") return [{ ...turn, text: state.text, state: "completed_blocked" }];
      return [{ ...turn, text: node.provisional, state: "unresolved" }];
    });
  }

  isPublished(itemId: string): boolean {
    const node = this.#order.get(itemId);
    return node !== undefined && !isNode(node) && node.passed === "published";
  }

  /** An event that the client sent, or tried to. */
  observeSend(event: JsonObject, failed: boolean): void {
    if (this.#isClosed) return;
    const eventId = nameOf(event, "event_id");
    switch (nameOf(event, "type") ?? "") {
      case "input_audio_buffer.commit":
        this.#turns.commit(eventId, failed);
        break;
      case "response.create":
        if (!failed) this.#answers.request(eventId, objectOf(event, "response")?.conversation !== "none");
        break;
      case "conversation.item.create": {
        const item = objectOf(event, "item");
        if (!failed && item !== undefined) this.#clientItems.expect(item);
        break;
      }
      case "conversation.item.delete": {
        const unsent = failed && eventId !== undefined ? this.removals.unsent(eventId) : undefined;
        if (unsent !== undefined) this.#removalEnded(unsent, "rejected");
        break;
      }
    }
  }

  receive(event: ProviderEvent, nowMs: number): void {
    if (this.#isClosed) return;
    switch (event.kind) {
      case "session-updated":
      case "speech-started":
      case "speech-stopped":
      case "committed":
      case "cleared":
      case "transcription-delta":
      case "transcription-interim":
      case "transcription-completed":
      case "transcription-failed":
        this.#turns.receive(event, nowMs);
        break;
      case "item":
        this.#item(event.item, event.previousItemId, event.done, nowMs);
        break;
      case "item-deleted":
        this.#deleted(event.itemId);
        break;
      case "response-created":
      case "output-item":
      case "output-delta":
      case "output-text":
      case "response-done":
        this.#answers.receive(event, nowMs);
        break;
      case "error":
        this.#error(event);
        break;
      case "other":
        break;
    }
  }

  /** Ends the waiting for predecessors that is due. */
  expire(nowMs: number): void {
    this.#announceGhosts(this.#order.expire(nowMs));
  }

  /** Publishes, records or passes everything up to the first node that is not terminal. */
  publish(): void {
    if (!this.#isFirst()) return;
    for (let node = this.#order.head; node !== undefined && isTerminal(node); node = this.#order.head) {
      this.#pass(node);
    }
  }

  /** Ends the connection: what is open becomes a gap. Later frames are evidence only. */
  close(reason: GapReason): void {
    if (this.#isClosed) return;
    this.#announceGhosts(this.#order.releaseAll());
    const hadOpenTurn = this.#turns.open.length > 0;
    for (const node of this.#order.nodes) if (!isTerminal(node)) this.#end(node, { phase: "gap", reason });
    for (const responseId of this.#answers.abandonRunning()) this.#addResponseGap(responseId, reason);
    const { connectionId } = this;
    for (let count = this.#answers.abandonRequests(); count > 0; count -= 1) {
      this.#emit({ type: "gap", gap: { connectionId, reason: "response_not_created", role: "assistant" } });
    }
    const unanswered = this.#turns.unheard + (this.#turns.isWaiting && !hadOpenTurn ? 1 : 0);
    for (let count = unanswered; count > 0; count -= 1) {
      this.#emit({ type: "gap", gap: { connectionId, reason: "commit_unanswered", role: "user" } });
    }
    this.#turns.abandonCommits();
    for (const itemId of this.removals.abandon()) this.#removalEnded(itemId, "uncertain");
    this.#isClosed = true;
  }

  #item(item: ProviderItem, previousItemId: string | undefined, done: boolean, nowMs: number): void {
    const known = this.#order.get(item.id);
    const kind = kindOf(item);
    if (known === undefined) {
      const ownKind = this.#clientItems.take(item) ? "transparent" : kind;
      const node = this.#ensure(item.id, ownKind, nowMs, { predecessor: previousItemId, rank: 2 });
      if (node?.kind === "user") this.#turns.announced(node);
      return;
    }
    if (!isNode(known)) return;
    if (previousItemId !== undefined) this.#order.place(known, previousItemId, 2, nowMs);
    if (known.kind === "user" && kind === "user") this.#turns.announced(known);
    if (known.kind === "assistant" && done) this.#answers.finalTexts(known, item);
    if (known.kind !== "transparent" && kind === "transparent" && !isTerminal(known)) {
      known.kind = "transparent";
      this.#end(known, { phase: "pass" });
    }
  }

  #deleted(itemId: string | undefined): void {
    const settled = this.removals.acknowledge(itemId);
    if (settled !== undefined) {
      this.#emit({ type: "remove", connectionId: this.connectionId, itemId: settled });
      return;
    }
    if (itemId === undefined) return;
    const node = this.#order.get(itemId);
    if (node === undefined) this.#order.refuse({ id: itemId, kind: "transparent", passed: "refused" });
    // Even when it was complete: the provider took it out of the conversation before it was next.
    else if (isNode(node) && node.kind !== "transparent")
      this.#replace(node, { phase: "skip", reason: "deleted_remotely" });
  }

  #error(error: Extract<ProviderEvent, { kind: "error" }>): void {
    const rejected = this.removals.reject(error);
    if (rejected !== undefined) {
      this.#removalEnded(rejected, "rejected");
      return;
    }
    if (this.#answers.reject(error.eventId, error.code)) return;
    this.#turns.rejectCommit(error.eventId, error.code);
  }

  #removalEnded(itemId: string, outcome: "rejected" | "uncertain"): void {
    this.#emit({ type: "removal-ended", connectionId: this.connectionId, itemId, outcome });
  }

  /** The node of an id, made at its first mention. Undefined when it is behind the cursor, or there is no room. */
  #ensure(id: string, kind: NodeKind, nowMs: number, place?: Place): Node | undefined {
    const known = this.#order.get(id);
    if (known !== undefined) return isNode(known) ? known : undefined;
    if (!this.#budget.admit()) {
      this.#order.refuse({ id, kind, passed: "refused" });
      if (kind === "user" || kind === "assistant") {
        this.#emit({
          type: "gap",
          gap: { connectionId: this.connectionId, itemId: id, reason: "order_limit", role: kind },
        });
      }
      return undefined;
    }
    const node = newNode(id, kind, kind === "transparent" ? { phase: "pass" } : { phase: "open" });
    this.#order.add(node, place?.predecessor, place?.rank ?? 0, nowMs);
    return node;
  }

  #addResponseGap(responseId: string, reason: GapReason): void {
    const node = this.#ensure(responseId, "response", 0);
    if (node !== undefined) this.#end(node, { phase: "gap", reason });
  }

  /** Gives a node its outcome; the first one stays. */
  #end(node: Node, state: NodeState): void {
    if (!isTerminal(node)) this.#replace(node, state);
  }

  #replace(node: Node, state: NodeState): void {
    node.provisional = "";
    node.partTexts = undefined;
    const bytes = state.phase === "ok" ? Buffer.byteLength(state.text) : 0;
    // The next one to be published does not have to be kept.
    const fits = this.#budget.charge(node, bytes) || (this.#order.head === node && this.#isFirst());
    node.state = fits ? state : { phase: "gap", reason: "order_limit" };
  }

  #pass(node: Node): void {
    const { connectionId } = this;
    const { state } = node;
    let passed: Tombstone["passed"] = "closed";
    if (state.phase === "ok") {
      passed = "published";
      this.#emit({ type: "publish", turn: publishedTurn(connectionId, node, state, this.#turns.model) });
    } else if (state.phase === "gap") {
      this.#emit({ type: "gap", gap: orderGap(connectionId, node, state.reason) });
    } else if (state.phase === "skip") {
      this.#emit({ type: "skip", skipped: { connectionId, itemId: node.id, reason: state.reason } });
    }
    this.#order.pass(passed);
    this.#budget.release(node);
  }

  #announceGhosts(itemIds: readonly string[]): void {
    const { connectionId } = this;
    for (const itemId of new Set(itemIds)) {
      this.#emit({ type: "skip", skipped: { connectionId, itemId, reason: "unknown_predecessor" } });
    }
  }
}

/** A spoken turn, an answer, or something that only takes a place: typed text, system messages, tools, unknown types. */
function kindOf(item: ProviderItem): NodeKind {
  if (item.type !== "message" && item.type !== undefined) return "transparent";
  if (item.role === "assistant") return "assistant";
  if (item.role !== "user") return "transparent";
  const isSpoken =
    item.parts.length === 0 || item.parts.some((part) => part.type === "input_audio" || part.type === "audio");
  return isSpoken ? "user" : "transparent";
}
