import { type SavedTurn } from "./recorder-types";

/** Turns of a snapshot. */
const TAIL = 200;

/** The turns of a recording that are durable messages and were not removed: all by their ids, the newest as shown. */
export class SavedTurns {
  readonly #entryIds = new Map<string, string>();
  readonly #turns = new Map<string, Omit<SavedTurn, "text">>();
  readonly #removed = new Set<string>();
  #tail: SavedTurn[] = [];

  add(turn: SavedTurn): void {
    const { entryId, role, connectionId, itemId } = turn;
    this.#entryIds.set(itemKey(connectionId, itemId), entryId);
    this.#turns.set(entryId, { entryId, role, connectionId, itemId });
    this.#tail = [...this.#tail.slice(1 - TAIL), turn];
  }

  /** The message is removed for good: it stays known by its ids, and is no text any more. */
  remove(entryId: string): void {
    this.#removed.add(entryId);
    this.#tail = this.#tail.filter((turn) => turn.entryId !== entryId);
  }

  /** The newest turns, oldest first. */
  get newest(): SavedTurn[] {
    return [...this.#tail];
  }

  /** All of them in order. Their texts are in the session. */
  get all(): Omit<SavedTurn, "text">[] {
    return [...this.#turns.values()].filter(({ entryId }) => !this.#removed.has(entryId));
  }

  /** The message of a provider's item. */
  entryIdOf(connectionId: string, itemId: string): string | undefined {
    return this.#entryIds.get(itemKey(connectionId, itemId));
  }

  /** The provider's item that a message was. */
  itemOf(entryId: string): { connectionId: string; itemId: string } | undefined {
    return this.#turns.get(entryId);
  }
}

/** One key for a provider's item: ids are those of their connection. */
export function itemKey(connectionId: string, itemId: string): string {
  return `${connectionId} ${itemId}`;
}
