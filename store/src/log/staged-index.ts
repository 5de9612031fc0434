import { type Entry, type EntryType } from "../format/schema";
import { type EntryIndex } from "./entry-index";

/**
 * The entries of a log with those of a batch behind them. The batch is checked against this, member by member, while
 * the index itself stays as it is until the bytes are durable.
 */
export class StagedIndex {
  readonly #base: EntryIndex;
  readonly #entries: Entry[] = [];
  readonly #positions = new Map<string, number>();

  constructor(base: EntryIndex) {
    this.#base = base;
  }

  get lastId(): string | null {
    return this.#entries.at(-1)?.id ?? this.#base.lastId;
  }

  has(id: string): boolean {
    return this.#positions.has(id) || this.#base.has(id);
  }

  /** The member of the batch with this id. */
  staged(id: string): Entry | undefined {
    const position = this.#positions.get(id);
    return position === undefined ? undefined : this.#entryAt(position);
  }

  positionOf(id: string): number {
    return this.#positions.get(id) ?? this.#base.positionOf(id);
  }

  typeOf(position: number): EntryType {
    return this.#entryAt(position)?.type ?? this.#base.typeOf(position);
  }

  isOnPath(ancestor: number, position: number): boolean {
    let at = position;
    for (let entry = this.#entryAt(at); entry !== undefined; entry = this.#entryAt(at)) {
      if (at === ancestor) return true;
      at = entry.parentId === null ? -1 : this.positionOf(entry.parentId);
    }
    return this.#base.isOnPath(ancestor, at);
  }

  removersOf(position: number): readonly number[] {
    const target = this.#entryAt(position)?.id ?? (position >= 0 ? this.#base.idOf(position) : undefined);
    const staged = this.#entries.filter((entry) => entry.type === "message.removed" && entry.targetId === target);
    return [...this.#base.removersOf(position), ...staged.map((entry) => this.positionOf(entry.id))];
  }

  add(entry: Entry): void {
    this.#positions.set(entry.id, this.#base.count + this.#entries.length);
    this.#entries.push(entry);
  }

  #entryAt(position: number): Entry | undefined {
    return this.#entries[position - this.#base.count];
  }
}
