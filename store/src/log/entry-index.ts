import { type IndexedEntry } from "../format/plain-record";
import { type EntryType, entryTypes } from "../format/schema";

const FIRST_CAPACITY = 64;
const NO_PARENT = -1;

const ordinals: ReadonlyMap<EntryType, number> = new Map(entryTypes.map((type, ordinal) => [type, ordinal]));

/**
 * Where the entries of a log are and how they hang together, without their bodies: about 100 bytes an entry. Entries
 * are numbered by position in the file, from 0; a parent is always at a lower position.
 *
 * Ancestry is asked for with jump pointers (Myers, "An applicative random-access stack"), so that a file with many
 * removals deep in a long branch opens in n log n.
 */
export class EntryIndex {
  readonly #positions = new Map<string, number>();
  readonly #ids: string[] = [];
  #offsets = new Float64Array(FIRST_CAPACITY);
  #lengths = new Uint32Array(FIRST_CAPACITY);
  #types = new Uint8Array(FIRST_CAPACITY);
  #parents = new Int32Array(FIRST_CAPACITY);
  #depths = new Uint32Array(FIRST_CAPACITY);
  #jumps = new Int32Array(FIRST_CAPACITY);
  /** Target position of each removal, by the removal's position. */
  readonly #removals = new Map<number, number>();
  /** The removals of each target. */
  readonly #removers = new Map<number, number[]>();

  get count(): number {
    return this.#ids.length;
  }

  /** The id of the last entry of any type, which is the default leaf; null in an empty session. */
  get lastId(): string | null {
    return this.#ids[this.#ids.length - 1] ?? null;
  }

  has(id: string): boolean {
    return this.#positions.has(id);
  }

  /** -1 when there is no such entry. */
  positionOf(id: string): number {
    return this.#positions.get(id) ?? -1;
  }

  idOf(position: number): string {
    const id = this.#ids[position];
    if (id === undefined) throw new RangeError("no entry at this position");
    return id;
  }

  typeOf(position: number): EntryType {
    const type = entryTypes[this.#types[position] ?? -1];
    if (type === undefined || position >= this.count) throw new RangeError("no entry at this position");
    return type;
  }

  /** Bytes from the start of the file. */
  offsetOf(position: number): number {
    return this.#offsets[position] ?? 0;
  }

  /** Bytes without the LF. */
  lengthOf(position: number): number {
    return this.#lengths[position] ?? 0;
  }

  /** -1 at a root. */
  parentOf(position: number): number {
    return this.#parents[position] ?? NO_PARENT;
  }

  /** The target of a removal. */
  removalTargetOf(position: number): number | undefined {
    return this.#removals.get(position);
  }

  /** The positions of all removals of a target, on whatever branch. */
  removersOf(position: number): readonly number[] {
    return this.#removers.get(position) ?? [];
  }

  /** Whether `ancestor` is `position` itself or an entry above it. */
  isOnPath(ancestor: number, position: number): boolean {
    if (ancestor < 0 || position < 0) return false;
    const depth = this.#depths[ancestor] ?? 0;
    let at = position;
    while (at > ancestor && (this.#depths[at] ?? 0) > depth) {
      const jump = this.#jumps[at] ?? NO_PARENT;
      at = jump >= 0 && (this.#depths[jump] ?? 0) >= depth ? jump : this.parentOf(at);
    }
    return at === ancestor;
  }

  /** The positions from the root to `position`, both included. */
  pathTo(position: number): Int32Array {
    if (position < 0) return new Int32Array(0);
    const path = new Int32Array((this.#depths[position] ?? 0) + 1);
    let at = position;
    for (let index = path.length - 1; index >= 0; index -= 1) {
      path[index] = at;
      at = this.parentOf(at);
    }
    return path;
  }

  /** The positions of all entries of some types, ascending. */
  positionsOf(types: readonly EntryType[]): number[] {
    const wanted = new Set(types.map((type) => ordinals.get(type)));
    const positions: number[] = [];
    for (let position = 0; position < this.count; position += 1) {
      if (wanted.has(this.#types[position])) positions.push(position);
    }
    return positions;
  }

  /** Takes up the next entry. The caller has checked that its relations hold. */
  add(entry: IndexedEntry, offset: number, length: number): void {
    const position = this.#ids.length;
    if (position === this.#offsets.length) this.#grow();
    const parent = entry.parentId === null ? NO_PARENT : this.positionOf(entry.parentId);
    this.#ids.push(entry.id);
    this.#positions.set(entry.id, position);
    this.#offsets[position] = offset;
    this.#lengths[position] = length;
    this.#types[position] = ordinals.get(entry.type) ?? 0;
    this.#parents[position] = parent;
    this.#link(position, parent);
    if (entry.type === "message.removed") this.#addRemoval(position, this.positionOf(entry.targetId));
  }

  #link(position: number, parent: number): void {
    if (parent === NO_PARENT) {
      this.#depths[position] = 0;
      this.#jumps[position] = NO_PARENT;
      return;
    }
    this.#depths[position] = (this.#depths[parent] ?? 0) + 1;
    const jump = this.#jumps[parent] ?? NO_PARENT;
    const depthOf = (at: number): number => (at < 0 ? -1 : (this.#depths[at] ?? 0));
    const further = jump < 0 ? NO_PARENT : (this.#jumps[jump] ?? NO_PARENT);
    const even = jump >= 0 && depthOf(parent) - depthOf(jump) === depthOf(jump) - depthOf(further);
    this.#jumps[position] = even ? further : parent;
  }

  #addRemoval(position: number, target: number): void {
    this.#removals.set(position, target);
    const removers = this.#removers.get(target);
    if (removers === undefined) this.#removers.set(target, [position]);
    else removers.push(position);
  }

  #grow(): void {
    const capacity = this.#offsets.length * 2;
    this.#offsets = enlarge(this.#offsets, new Float64Array(capacity));
    this.#lengths = enlarge(this.#lengths, new Uint32Array(capacity));
    this.#types = enlarge(this.#types, new Uint8Array(capacity));
    this.#parents = enlarge(this.#parents, new Int32Array(capacity));
    this.#depths = enlarge(this.#depths, new Uint32Array(capacity));
    this.#jumps = enlarge(this.#jumps, new Int32Array(capacity));
  }
}

function enlarge<T extends { set(from: ArrayLike<number>): void }>(from: ArrayLike<number>, to: T): T {
  to.set(from);
  return to;
}
