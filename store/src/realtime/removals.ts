/** Removals that wait for the provider (Session file format: remote first, local on its acknowledgement). */
import { REMOVAL_TIMEOUT_MS } from "./limits";

interface Pending {
  readonly itemId: string;
  readonly eventId: string;
  readonly deadlineMs: number;
}

export class Removals {
  /** Oldest first. */
  #pending: Pending[] = [];
  /** Acknowledged by the provider, not yet saved here. */
  readonly #acknowledged = new Set<string>();
  readonly #saved = new Set<string>();

  get isWaiting(): boolean {
    return this.#pending.length > 0;
  }

  get nextDeadlineMs(): number | undefined {
    return this.#pending[0]?.deadlineMs;
  }

  /** Acknowledged ones whose entry could not be appended. */
  get unsaved(): readonly string[] {
    return [...this.#acknowledged];
  }

  stateOf(itemId: string): "none" | "pending" | "acknowledged" | "removed" {
    if (this.#saved.has(itemId)) return "removed";
    if (this.#acknowledged.has(itemId)) return "acknowledged";
    return this.#pending.some((removal) => removal.itemId === itemId) ? "pending" : "none";
  }

  request(itemId: string, eventId: string, nowMs: number): void {
    this.#pending.push({ itemId, eventId, deadlineMs: nowMs + REMOVAL_TIMEOUT_MS });
  }

  /** Takes an item as acknowledged that has no provider to ask any more. */
  acknowledgeLocally(itemId: string): void {
    this.#acknowledged.add(itemId);
  }

  /** An acknowledgement; one without an item id is the oldest's. Gives the item whose removal it settles. */
  acknowledge(itemId: string | undefined): string | undefined {
    const settled = this.#take((removal) => itemId === undefined || removal.itemId === itemId);
    if (settled !== undefined) this.#acknowledged.add(settled);
    return settled;
  }

  /**
   * An error: it is a rejection of the removal whose event it names. Servers that name no event are understood only
   * when the code is that of a deletion and the message holds the item's id.
   */
  reject(error: { eventId: string | undefined; code: string | undefined; message: string }): string | undefined {
    if (error.eventId !== undefined) return this.#take((removal) => removal.eventId === error.eventId);
    if (error.code !== "item_delete_invalid_item_id") return undefined;
    return this.#take((removal) => namesId(error.message, removal.itemId));
  }

  /** The request never left. */
  unsent(eventId: string): string | undefined {
    return this.#take((removal) => removal.eventId === eventId);
  }

  isDue(nowMs: number): boolean {
    return this.#pending.some((removal) => removal.deadlineMs <= nowMs);
  }

  /** Gives up on every answer. */
  abandon(): string[] {
    const abandoned = this.#pending.map((removal) => removal.itemId);
    this.#pending = [];
    return abandoned;
  }

  saved(itemId: string): void {
    this.#acknowledged.delete(itemId);
    this.#saved.add(itemId);
  }

  #take(matches: (removal: Pending) => boolean): string | undefined {
    const index = this.#pending.findIndex(matches);
    if (index === -1) return undefined;
    return this.#pending.splice(index, 1)[0]?.itemId;
  }
}

const ID_CHARACTER = /[A-Za-z0-9_-]/;

/** Whether a message holds an id as a whole, not as a part of a longer one. */
function namesId(message: string, id: string): boolean {
  for (let at = message.indexOf(id); at !== -1; at = message.indexOf(id, at + 1)) {
    const before = message.charAt(at - 1);
    const after = message.charAt(at + id.length);
    if (!ID_CHARACTER.test(before) && !ID_CHARACTER.test(after)) return true;
  }
  return false;
}
