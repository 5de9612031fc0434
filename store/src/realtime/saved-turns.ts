import { type SavedTurn } from "./recorder-types";

/** Turns of a snapshot. */
const TAIL = 200;

/** The turns of a recording that are durable messages: all by their ids, and the newest as they are shown. */
export class SavedTurns {
  readonly #entryIds = new Map<string, string>();
  readonly #turns = new Map<string, Omit<SavedTurn, "text">>();
  #tail: SavedTurn[] = [];

  add(turn: SavedTurn): void {
    const { entryId, role, connectionId, itemId } = turn;
    this.#entryIds.set(itemKey(connectionId, itemId), entryId);
    this.#turns.set(entryId, { entryId, role, connectionId, itemId });
    this.#tail = [...this.#tail.slice(1 - TAIL), turn];
  }

  /** The newest turns, oldest first. */
  get newest(): SavedTurn[] {
    return [...this.#tail];
  }

  /** All of them in order. Their texts are in the session. */
  get all(): Omit<SavedTurn, "text">[] {
    return [...this.#turns.values()];
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
