import { type JsonRecord } from "../json";

export interface ConversationItem {
  id: string;
  value: JsonRecord;
}

/** The ordered items of one conversation. */
export class Conversation {
  #items: ConversationItem[] = [];

  /** Places an item after its predecessor: the end when undefined, the front for null; false when that is unknown. */
  insert(item: ConversationItem, previousId: string | null | undefined): boolean {
    if (this.find(item.id) !== undefined) return false;
    if (previousId === undefined) {
      this.#items.push(item);
      return true;
    }
    const at = previousId === null ? 0 : this.#items.findIndex(({ id }) => id === previousId) + 1;
    if (previousId !== null && at === 0) return false;
    this.#items.splice(at, 0, item);
    return true;
  }

  find(id: string): ConversationItem | undefined {
    return this.#items.find((item) => item.id === id);
  }

  remove(id: string): boolean {
    const before = this.#items.length;
    this.#items = this.#items.filter((item) => item.id !== id);
    return this.#items.length < before;
  }

  predecessorOf(id: string): string | null {
    const at = this.#items.findIndex((item) => item.id === id);
    return this.#items[at - 1]?.id ?? null;
  }

  get lastId(): string | null {
    return this.#items.at(-1)?.id ?? null;
  }

  get items(): readonly ConversationItem[] {
    return this.#items;
  }
}
