import { MAX_ORDERED_ITEMS, MAX_ORDERED_TEXT_BYTES } from "./limits";
import { type Node } from "./node";

/** Counts what is ordered but not published over all connections (Session file format: 256 items, 4 MiB of text). */
export class OrderBudget {
  #items = 0;
  #textBytes = 0;
  #isExceeded = false;

  /** Something was refused. Stays true: the recording has to finish. */
  get isExceeded(): boolean {
    return this.#isExceeded;
  }

  get items(): number {
    return this.#items;
  }

  /** Room for one more item. */
  admit(): boolean {
    if (this.#items >= MAX_ORDERED_ITEMS) {
      this.#isExceeded = true;
      return false;
    }
    this.#items += 1;
    return true;
  }

  /** Changes what a node's texts take; false, and nothing changed, when that does not fit. */
  charge(node: Node, textBytes: number): boolean {
    const total = this.#textBytes - node.textBytes + textBytes;
    if (total > MAX_ORDERED_TEXT_BYTES && textBytes > node.textBytes) {
      this.#isExceeded = true;
      return false;
    }
    this.#textBytes = total;
    node.textBytes = textBytes;
    return true;
  }

  release(node: Node): void {
    this.#items -= 1;
    this.#textBytes -= node.textBytes;
    node.textBytes = 0;
  }
}
