/** The user's side of a connection: speech that reserves an id, commits of the input buffer, and transcriptions. */
import { Commits } from "./commits";
import { type ProviderEvent } from "./events";
import { isNode, isTerminal, type Node, type NodeState, type SkipReason } from "./node";
import { type OrderHost, type Place } from "./order-host";
import { completedTranscription } from "./outcomes";

type TurnEvent = Extract<
  ProviderEvent,
  {
    kind:
      | "session-updated"
      | "speech-started"
      | "speech-stopped"
      | "committed"
      | "cleared"
      | "transcription-delta"
      | "transcription-interim"
      | "transcription-completed"
      | "transcription-failed";
  }
>;

const ARRIVAL: Place = { predecessor: undefined, rank: 0 };

export class TurnOrder {
  readonly #host: OrderHost;
  readonly #commits = new Commits();
  #transcription: "enabled" | "disabled" | "unstated" = "unstated";
  #model: string | undefined;

  constructor(host: OrderHost) {
    this.#host = host;
  }

  /** The transcription model of the effective configuration. */
  get model(): string | undefined {
    return this.#model;
  }

  /** A commit has no answer. */
  get isWaiting(): boolean {
    return this.#commits.isWaiting;
  }

  /** Turns that were committed without a name and of which nothing was heard since. */
  get unheard(): number {
    return this.#commits.unheard;
  }

  /** Turns without an outcome. */
  get open(): Node[] {
    return this.#host.order.nodes.filter((node) => node.kind === "user" && !isTerminal(node));
  }

  commit(eventId: string | undefined, failed: boolean): void {
    if (failed) this.#commits.unsent();
    else this.#commits.sent(eventId);
  }

  rejectCommit(eventId: string | undefined, code: string | undefined): void {
    this.#commits.reject(eventId, code);
  }

  abandonCommits(): void {
    this.#commits.abandon();
  }

  receive(event: TurnEvent, nowMs: number): void {
    switch (event.kind) {
      case "session-updated":
        if (event.transcription !== "unstated") this.#transcription = event.transcription;
        if (event.model !== undefined) this.#model = event.model;
        break;
      case "speech-started": {
        const node = this.#turn(event.itemId, ARRIVAL, nowMs, { phase: "reserved" });
        if (node === undefined) break;
        node.ownSpeech = true;
        node.audioStartMs ??= event.audioStartMs;
        node.audioEndMs ??= event.audioEndMs;
        break;
      }
      case "speech-stopped": {
        const node = this.#host.order.get(event.itemId);
        if (isNode(node)) node.audioEndMs ??= event.audioEndMs;
        break;
      }
      case "committed":
        this.#committed(event.itemId, event.previousItemId, nowMs);
        break;
      case "cleared":
        for (const node of this.open) if (!node.committed) this.#host.end(node, skip("cleared"));
        break;
      case "transcription-delta":
        this.#interim(event.itemId, nowMs, (node) => {
          // Some servers number growing partials with the content index; others send increments under one index.
          const grows = event.contentIndex !== node.provisionalIndex && event.delta.startsWith(node.provisional);
          node.provisionalIndex = event.contentIndex;
          return grows ? event.delta : node.provisional + event.delta;
        });
        break;
      case "transcription-interim":
        this.#interim(event.itemId, nowMs, () => event.text);
        break;
      case "transcription-completed":
        this.#transcribed(event.itemId, completedTranscription(event.transcript, event.usage), nowMs);
        break;
      case "transcription-failed":
        this.#transcribed(event.itemId, { phase: "gap", reason: "transcription_failed" }, nowMs);
        break;
    }
  }

  /** The item of a turn was announced; a new one may be what a nameless commit made. */
  announced(node: Node): void {
    this.#exists(node, node.committed || isTerminal(node) ? undefined : this.#commits.heard());
  }

  #committed(itemId: string | undefined, predecessor: string | undefined, nowMs: number): void {
    const ordinal = this.#commits.acknowledged(itemId !== undefined);
    if (itemId === undefined) return;
    const node = this.#turn(itemId, { predecessor, rank: 1 }, nowMs, { phase: "open" });
    if (node !== undefined) this.#exists(node, ordinal);
  }

  /** The item of a turn exists now. */
  #exists(node: Node, ordinal: number | undefined): void {
    if (isTerminal(node)) return;
    node.commitOrdinal ??= ordinal;
    if (node.committed) return;
    node.committed = true;
    if (node.state.phase === "reserved") node.state = { phase: "open" };
    // One input buffer a connection: a commit under an id of its own took the audio of what was reserved before.
    if (!node.ownSpeech) {
      for (const other of this.open) {
        if (other.state.phase === "reserved") this.#host.end(other, skip("absorbed_by_commit"));
      }
    }
    if (this.#transcription === "disabled") this.#host.end(node, { phase: "gap", reason: "transcription_disabled" });
  }

  #interim(itemId: string, nowMs: number, textOf: (node: Node) => string): void {
    const node = this.#turn(itemId, ARRIVAL, nowMs, { phase: "open" });
    if (node === undefined || isTerminal(node)) return;
    if (node.state.phase === "reserved") node.state = { phase: "open" };
    const text = textOf(node);
    // What does not fit is only not shown: the observation itself is evidence.
    node.provisional = this.#host.charge(node, Buffer.byteLength(text)) ? text : "";
    if (node.provisional === "") this.#host.charge(node, 0);
  }

  #transcribed(itemId: string, state: NodeState, nowMs: number): void {
    const node = this.#turn(itemId, ARRIVAL, nowMs, { phase: "open" });
    if (node === undefined) return;
    if (!node.committed && !isTerminal(node)) node.commitOrdinal ??= this.#commits.heard();
    this.#host.end(node, state);
  }

  /** The node of a user item; undefined when the id is closed, refused, or something else. */
  #turn(id: string, place: Place, nowMs: number, state: NodeState): Node | undefined {
    const { order } = this.#host;
    const known = order.get(id);
    if (known === undefined) {
      const node = this.#host.ensure(id, "user", nowMs, place);
      if (node !== undefined) node.state = state;
      return node;
    }
    if (!isNode(known)) return undefined;
    if (place.predecessor !== undefined) order.place(known, place.predecessor, place.rank, nowMs);
    return known.kind === "user" ? known : undefined;
  }
}

function skip(reason: SkipReason): NodeState {
  return { phase: "skip", reason };
}
