import { type Node, type NodeKind, type NodeState, type PredecessorRank } from "./node";
import { type NodeOrder } from "./node-order";

/** What the order of a connection offers to its two sides, the spoken turns and the answers. */
export interface OrderHost {
  readonly order: NodeOrder;
  /** The node of an id, made at its first mention. Undefined when it is behind the cursor, or there is no room. */
  ensure(id: string, kind: NodeKind, nowMs: number, place?: Place): Node | undefined;
  /** Gives a node its outcome; the first one stays. */
  end(node: Node, state: NodeState): void;
  /** Changes what a node's texts take; false, and nothing changed, when that does not fit. */
  charge(node: Node, textBytes: number): boolean;
}

/** A predecessor as an event names it, and how much that event counts. */
export interface Place {
  readonly predecessor: string | undefined;
  readonly rank: PredecessorRank;
}
