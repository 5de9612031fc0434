/**
 * The order of one connection's unpublished nodes (Session file format, Realtime retention and ordered publication:
 * canonical messages follow the provider's predecessors, not the order of completion).
 *
 * What is before the list is closed for ever: a published node leaves it, and nothing is placed before its first member.
 */
import { PREDECESSOR_WAIT_MS } from "./limits";
import { isNode, type Node, type PredecessorRank, type Tombstone } from "./node";

/** Nodes that wait, in this order, for an id that nothing has announced yet. */
interface HeldGroup {
  readonly awaitedId: string;
  readonly untilMs: number;
  nodes: Node[];
}

export class NodeOrder {
  #listed: Node[] = [];
  #held: HeldGroup[] = [];
  readonly #known = new Map<string, Node | Tombstone>();

  get(id: string): Node | Tombstone | undefined {
    return this.#known.get(id);
  }

  /** The first node that is not published. */
  get head(): Node | undefined {
    return this.#listed[0];
  }

  /** Unpublished nodes in order; those that wait for their predecessor come last. */
  get nodes(): Node[] {
    return [...this.#listed, ...this.#held.flatMap((group) => group.nodes)];
  }

  get isEmpty(): boolean {
    return this.#listed.length === 0 && this.#held.length === 0;
  }

  get hasHeld(): boolean {
    return this.#held.length > 0;
  }

  /** When the next waiting ends, in the clock of `place`. */
  get nextDeadlineMs(): number | undefined {
    return this.#held.length === 0 ? undefined : Math.min(...this.#held.map((group) => group.untilMs));
  }

  /** Takes up a new node at the end, or where the named predecessor puts it. */
  add(node: Node, predecessor: string | undefined, rank: PredecessorRank, nowMs: number): void {
    this.#known.set(node.id, node);
    this.#listed.push(node);
    if (predecessor !== undefined) this.place(node, predecessor, rank, nowMs);
    this.#collectFollowers(node);
  }

  /** Remembers an id that gets no place. */
  refuse(tombstone: Tombstone): void {
    this.#known.set(tombstone.id, tombstone);
  }

  /**
   * Moves a node behind the predecessor that an event names. No predecessor, its own id, a cycle, the one it has, or
   * one named by an event that counts less leave the node where it is.
   */
  place(node: Node, predecessor: string, rank: PredecessorRank, nowMs: number): void {
    if (predecessor === node.predecessor || this.#leadsTo(predecessor, node.id)) return;
    if (node.predecessor !== undefined && rank < node.rank) return;
    node.predecessor = predecessor;
    node.rank = rank;
    const moved = this.#detach(node);
    const anchor = this.#known.get(predecessor);
    if (anchor === undefined) {
      this.#held.push({ awaitedId: predecessor, untilMs: nowMs + PREDECESSOR_WAIT_MS, nodes: moved });
    } else {
      this.#insertAfter(anchor, moved);
    }
  }

  /** Ends the waiting that is due: those nodes go to the end. Gives the ids that never came. */
  expire(nowMs: number): string[] {
    return this.#release((group) => group.untilMs <= nowMs);
  }

  /** Ends all waiting. */
  releaseAll(): string[] {
    return this.#release(() => true);
  }

  /** Takes the head out of the order for ever. */
  pass(kind: Tombstone["passed"]): void {
    const node = this.#listed.shift();
    if (node !== undefined) this.#known.set(node.id, { id: node.id, kind: node.kind, passed: kind });
  }

  /** Whether the chain of predecessors that begins at `from` reaches `id`. */
  #leadsTo(from: string, id: string): boolean {
    const seen = new Set<string>();
    let current: string | undefined = from;
    while (current !== undefined && !seen.has(current)) {
      if (current === id) return true;
      seen.add(current);
      const node = this.#known.get(current);
      current = isNode(node) ? node.predecessor : undefined;
    }
    return false;
  }

  /** Takes a node, and what hangs on it, out of its place. */
  #detach(node: Node): Node[] {
    const home = this.#held.find((group) => group.nodes.includes(node));
    const members = home === undefined ? this.#listed : home.nodes;
    const moved = members.filter((member) => member === node || this.#leadsTo(member.id, node.id));
    const rest = members.filter((member) => !moved.includes(member));
    if (home === undefined) this.#listed = rest;
    else if (rest.length > 0) home.nodes = rest;
    else this.#held = this.#held.filter((group) => group !== home);
    // A node comes before what hangs on it, wherever that stood.
    return [node, ...moved.filter((member) => member !== node)];
  }

  #insertAfter(anchor: Node | Tombstone, nodes: readonly Node[]): void {
    if (!isNode(anchor)) {
      // Behind the cursor: the earliest open place. A refused item has no place, so what follows it goes to the end.
      if (anchor.passed === "refused") this.#listed.push(...nodes);
      else this.#listed.unshift(...nodes);
      return;
    }
    const group = this.#held.find((candidate) => candidate.nodes.includes(anchor));
    const members = group === undefined ? this.#listed : group.nodes;
    members.splice(members.indexOf(anchor) + 1, 0, ...nodes);
  }

  /** Puts behind a new node whatever named it as the predecessor before it was announced. */
  #collectFollowers(node: Node): void {
    const waiting = this.#held.filter((group) => group.awaitedId === node.id && !group.nodes.includes(node));
    if (waiting.length > 0) {
      this.#held = this.#held.filter((group) => !waiting.includes(group));
      for (const group of waiting) this.#insertAfter(node, group.nodes);
    }
    // These stopped waiting; they are not published, so they still find their place.
    for (const follower of this.#listed.filter((member) => member.predecessor === node.id)) {
      if (this.#listed.indexOf(follower) < this.#listed.indexOf(node)) {
        this.#insertAfter(node, this.#detach(follower));
      }
    }
  }

  #release(isDue: (group: HeldGroup) => boolean): string[] {
    const due = this.#held.filter(isDue);
    if (due.length === 0) return [];
    this.#held = this.#held.filter((group) => !due.includes(group));
    for (const group of due) this.#listed.push(...group.nodes);
    return due.map((group) => group.awaitedId);
  }
}
