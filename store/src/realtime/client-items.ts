import { type JsonObject } from "../format/schema";
import { type ProviderItem } from "./events";
import { nameOf, objectsOf, stringOf } from "./fields";

interface ClientItem {
  id: string | undefined;
  type: string | undefined;
  role: string | undefined;
  partTypes: string;
}

/** Items that the client put into the conversation itself: context, which takes a place and is never a message. */
export class ClientItems {
  #expected: ClientItem[] = [];

  /** Notes the item of a `conversation.item.create`. */
  expect(item: JsonObject): void {
    this.#expected.push({
      id: nameOf(item, "id"),
      type: stringOf(item, "type"),
      role: stringOf(item, "role"),
      partTypes: objectsOf(item, "content")
        .map((part) => stringOf(part, "type"))
        .join(),
    });
    // A server that never announces them must not make this grow.
    if (this.#expected.length > 256) this.#expected.shift();
  }

  /** Whether an announced item is one of them. Without an id of ours, its shape decides, and spoken turns never match. */
  take(item: ProviderItem): boolean {
    const partTypes = item.parts.map((part) => part.type).join();
    const index = this.#expected.findIndex((expected) =>
      expected.id !== undefined
        ? expected.id === item.id
        : expected.type === item.type &&
          expected.role === item.role &&
          expected.partTypes === partTypes &&
          !partTypes.includes("audio"),
    );
    if (index === -1) return false;
    this.#expected.splice(index, 1);
    return true;
  }
}
