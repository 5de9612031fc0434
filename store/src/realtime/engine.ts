/**
 * The ordering engine of a recording: pure, without timers, sockets or files. Observations and the time go in; what has
 * to be done comes out as actions, in order (Session file format, Realtime retention and ordered publication).
 */
import { type JsonObject } from "../format/schema";
import { type EngineAction, type OrderGap, type ProvisionalTurn } from "./actions";
import { ConnectionOrder } from "./connection-order";
import { readProviderEvent } from "./events";
import { DRAIN_MS } from "./limits";
import { type GapReason } from "./node";
import { OrderBudget } from "./order-budget";

type Phase =
  | { kind: "live" }
  /** Finishing. It may end early once the caller has stopped the capture and sent the rest of the audio. */
  | { kind: "draining"; untilMs: number; mayEndEarly: boolean }
  | { kind: "drained" };

export type RemovalDecision =
  | { kind: "requested"; eventId: string }
  /** Without a live connection; the action `remove` follows. */
  | { kind: "local" }
  /** The same removal waits already. */
  | { kind: "pending" }
  | { kind: "refused"; reason: "not-saved" | "removed" };

export interface TransportEvent {
  type: "open" | "close" | "error";
  code?: number;
  reason?: string;
  /** The close was asked for by this side. */
  expected?: boolean;
}

export class RealtimeEngine {
  readonly #connections = new Map<string, ConnectionOrder>();
  readonly #budget = new OrderBudget();
  #actions: EngineAction[] = [];
  #phase: Phase = { kind: "live" };
  #isIncomplete = false;
  /** Gaps without those that came of the loss of a connection. */
  #gapCount = 0;
  /** Lost connections whose open turns no later one has heard. */
  readonly #lost = new Set<string>();

  /** `incomplete` as soon as something is a gap or a connection was lost whose open turns were not heard again. */
  get outcome(): "complete" | "incomplete" {
    return this.#isIncomplete || this.#gapCount > 0 || this.#lost.size > 0 ? "incomplete" : "complete";
  }

  get phase(): Phase["kind"] {
    return this.#phase.kind;
  }

  /** What is not saved yet, in order. */
  get provisional(): ProvisionalTurn[] {
    return [...this.#connections.values()].flatMap((connection) => connection.provisional);
  }

  /** Ordered and unpublished items. */
  get orderedItems(): number {
    return this.#budget.items;
  }

  /** When `advance` has something to do next. */
  get nextDeadlineMs(): number | undefined {
    const deadlines = [...this.#connections.values()].flatMap((connection) => connection.nextDeadlineMs ?? []);
    if (this.#phase.kind === "draining") deadlines.push(this.#phase.untilMs);
    return deadlines.length === 0 ? undefined : Math.min(...deadlines);
  }

  /** The actions since the last call. */
  takeActions(): EngineAction[] {
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }

  isConnectionOpen(connectionId: string): boolean {
    const connection = this.#connections.get(connectionId);
    return connection !== undefined && !connection.isClosed;
  }

  /** Takes up a connection; publication follows the order of these calls. */
  open(connectionId: string): void {
    this.#connection(connectionId);
  }

  receive(connectionId: string, frame: JsonObject, nowMs: number): void {
    const connection = this.#connection(connectionId);
    if (this.#phase.kind === "drained" || connection.isClosed) return;
    const event = readProviderEvent(frame);
    connection.receive(event, nowMs);
    if (event.kind === "error" && event.code === "session_expired") this.#lose(connection, "session_expired");
    this.#settle(nowMs);
  }

  observeSend(connectionId: string, event: JsonObject, failed: boolean, nowMs: number): void {
    this.#connection(connectionId).observeSend(event, failed);
    this.#settle(nowMs);
  }

  transport(connectionId: string, event: TransportEvent, nowMs: number): void {
    const connection = this.#connection(connectionId);
    if (event.type === "open" || connection.isClosed) return;
    if (event.expected === true || this.#phase.kind === "drained") connection.close("unfinished");
    else this.#lose(connection, "transport_closed");
    this.#settle(nowMs);
  }

  /**
   * Everything that a lost connection left open was sent again on a later one and has its outcome there: the loss has
   * cost nothing. Without effect for a connection that was not lost.
   */
  heardAgain(connectionId: string): void {
    this.#lost.delete(connectionId);
  }

  /** Asks for the removal of a saved message. `eventId` identifies the client event, if one has to be sent. */
  requestRemoval(connectionId: string, itemId: string, eventId: string, nowMs: number): RemovalDecision {
    const connection = this.#connections.get(connectionId);
    if (connection?.isPublished(itemId) !== true) return { kind: "refused", reason: "not-saved" };
    const { removals } = connection;
    const state = removals.stateOf(itemId);
    if (state === "removed") return { kind: "refused", reason: "removed" };
    if (state === "pending") return { kind: "pending" };
    if (state === "acknowledged" || connection.isClosed || this.#phase.kind === "drained") {
      removals.acknowledgeLocally(itemId);
      this.#emit({ type: "remove", connectionId, itemId });
      return { kind: "local" };
    }
    removals.request(itemId, eventId, nowMs);
    const event = { type: "conversation.item.delete", event_id: eventId, item_id: itemId };
    this.#emit({ type: "request-removal", connectionId, itemId, eventId, event });
    return { kind: "requested", eventId };
  }

  removalSaved(connectionId: string, itemId: string): void {
    this.#connections.get(connectionId)?.removals.saved(itemId);
  }

  /** Removals that the provider acknowledged and that could not be saved: asks for them again, without the provider. */
  retryRemovals(): void {
    for (const [connectionId, connection] of this.#connections) {
      for (const itemId of connection.removals.unsaved) this.#emit({ type: "remove", connectionId, itemId });
    }
  }

  /** The provider did not answer a removal in time: the connection is given up, nothing is removed. */
  removalTimedOut(connectionId: string, nowMs: number): void {
    const connection = this.#connections.get(connectionId);
    if (connection === undefined || connection.isClosed || !connection.removals.isWaiting) return;
    this.#lose(connection, "removal_timeout");
    this.#emit({ type: "close", connectionId });
    this.#settle(nowMs);
  }

  /**
   * The capture has stopped: drains for ten seconds at most, and ends early once nothing is open. While the client has
   * still something to send, such as the last audio and its commit, nothing open is no reason to end.
   */
  stop(nowMs: number, options: { hasMoreToSend?: boolean } = {}): void {
    if (this.#phase.kind === "drained") return;
    this.retryRemovals();
    this.#phase = { kind: "draining", untilMs: nowMs + DRAIN_MS, mayEndEarly: options.hasMoreToSend !== true };
    this.#settle(nowMs);
  }

  /** The client has sent everything that it had left at `stop`. */
  allSent(nowMs: number): void {
    if (this.#phase.kind === "draining") this.#phase = { ...this.#phase, mayEndEarly: true };
    this.#settle(nowMs);
  }

  /** Ends draining at once. */
  endDrain(nowMs: number): void {
    if (this.#phase.kind === "drained") return;
    this.#phase = { kind: "drained" };
    for (const connection of this.#connections.values()) {
      if (connection.isClosed) continue;
      // An unanswered removal leaves the message; whether the provider still has it is not known.
      if (connection.removals.isWaiting) this.#isIncomplete = true;
      connection.close("unfinished");
      this.#emit({ type: "close", connectionId: connection.connectionId });
    }
    this.#settle(nowMs);
    this.#emit({ type: "drained" });
  }

  /** Does what is due by now. */
  advance(nowMs: number): void {
    for (const connection of this.#connections.values()) {
      connection.expire(nowMs);
      if (connection.removals.isDue(nowMs)) this.removalTimedOut(connection.connectionId, nowMs);
    }
    this.#settle(nowMs);
    if (this.#phase.kind === "draining" && this.#phase.untilMs <= nowMs) this.endDrain(nowMs);
  }

  #connection(connectionId: string): ConnectionOrder {
    const known = this.#connections.get(connectionId);
    if (known !== undefined) return known;
    const earlier = [...this.#connections.values()];
    const connection = new ConnectionOrder(
      connectionId,
      this.#budget,
      (action) => this.#emit(action),
      () => earlier.every((other) => other.isFlushed),
    );
    this.#connections.set(connectionId, connection);
    return connection;
  }

  #lose(connection: ConnectionOrder, reason: GapReason): void {
    if (connection.isClosed) return;
    // A removal that was not answered leaves it open what the provider still has: no other connection can tell.
    if (isLossOfTransport(reason)) this.#lost.add(connection.connectionId);
    else this.#isIncomplete = true;
    connection.close(reason);
    const cause = reason === "removal_timeout" ? "removal-timeout" : "transport-lost";
    this.#emit({ type: "stop-capture", connectionId: connection.connectionId, reason: cause });
  }

  /** Publishes what can be published, and looks whether a bound was passed or draining is over. */
  #settle(nowMs: number): void {
    for (const connection of this.#connections.values()) connection.publish();
    if (this.#budget.isExceeded && this.#phase.kind === "live") {
      this.#phase = { kind: "draining", untilMs: nowMs + DRAIN_MS, mayEndEarly: false };
      this.#emit({ type: "stop-capture", reason: "order-limit" });
    }
    if (this.#phase.kind !== "draining" || !this.#phase.mayEndEarly) return;
    if (![...this.#connections.values()].some((connection) => connection.isOpen)) this.endDrain(nowMs);
  }

  #emit(action: EngineAction): void {
    if (action.type !== "gap") {
      this.#actions.push(action);
    } else if (!this.#isOfLoss(action.gap)) {
      this.#gapCount += 1;
      this.#actions.push(action);
    } else if (this.#lost.has(action.gap.connectionId)) {
      // Without effect when a later connection has heard it before its turn to be published came.
      this.#actions.push({ ...action, isOfLoss: true });
    }
  }

  /** True for what a connection left open when it was lost. */
  #isOfLoss({ connectionId, reason }: OrderGap): boolean {
    return isLossOfTransport(reason) || (ENDED_WITH_IT.has(reason) && this.#lost.has(connectionId));
  }
}

/** Named when a connection ends, by whatever. */
const ENDED_WITH_IT: ReadonlySet<GapReason> = new Set<GapReason>(["response_not_created", "commit_unanswered"]);

function isLossOfTransport(reason: GapReason): boolean {
  return reason === "transport_closed" || reason === "session_expired";
}
