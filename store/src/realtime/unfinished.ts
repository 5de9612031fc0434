/**
 * What a restart finds unfinished (Session file format, Realtime retention: reported, never made up). Evidence is run
 * through the ordering engine once more, only to name what it would have published; nothing is appended from it.
 */
import { type Entry, isObject, type JsonObject } from "../format/schema";
import { type Session } from "../session/session";
import { type EngineAction } from "./actions";
import { RealtimeEngine } from "./engine";
import { nameOf, objectOf } from "./fields";
import { parseJson } from "./json-text";
import { readRemovalRecord, REMOVAL_TYPE, type RemovalRecord } from "./removal-record";
import { itemKey } from "./saved-turns";

export interface UnfinishedReport {
  /** Recordings without an end. */
  recordings: { recordingId: string }[];
  /** Items that were final and next in order and have no message: their text is in the evidence only. */
  unmaterialized: { connectionId: string; itemId: string; role: "user" | "assistant" }[];
  /** Items without an outcome when the evidence ends, and final ones that wait behind them; named gaps are left out. */
  unresolved: { connectionId: string; itemId: string; role: "user" | "assistant" }[];
  /** Removals without an end: the provider has acknowledged it, or never answered. */
  removals: { targetId: string; connectionId: string; itemId: string; state: "acknowledged" | "unanswered" }[];
}

type ReportSession = Pick<Session, "entries" | "recordings">;

/** Reads a session's evidence. Nothing is written. */
export async function reportUnfinished(session: ReportSession): Promise<UnfinishedReport> {
  const open = (await session.recordings()).filter((recording) => recording.state === "open");
  const state = new EvidenceState();
  for (let after: string | undefined, more = true; more;) {
    const page = await session.entries(after === undefined ? {} : { after });
    for (const entry of page.entries) state.add(entry);
    after = page.next ?? undefined;
    more = after !== undefined;
  }
  return { recordings: open.map(({ recordingId }) => ({ recordingId })), ...state.report() };
}

/**
 * Saves the removals that the provider acknowledged before the program ended; nothing is sent. Gives the targets.
 * Messages that are removed already, or are not on the current branch, are left as they are.
 */
export async function resumeRemovals(
  session: ReportSession & Pick<Session, "removeMessage" | "history">,
): Promise<string[]> {
  const { removals } = await reportUnfinished(session);
  const surviving = new Set((await session.history()).map((item) => item.id));
  const resumed: string[] = [];
  for (const { targetId, state } of removals) {
    if (state !== "acknowledged" || !surviving.has(targetId)) continue;
    await session.removeMessage(targetId);
    resumed.push(targetId);
  }
  return resumed;
}

class EvidenceState {
  readonly #engine = new RealtimeEngine();
  readonly #removals = new Map<string, RemovalRecord & { isAcknowledged: boolean }>();
  readonly #published = new Map<string, { connectionId: string; itemId: string; role: "user" | "assistant" }>();
  readonly #saved = new Set<string>();
  readonly #named = new Set<string>();

  add(entry: Entry): void {
    switch (entry.type) {
      case "api_connection":
        this.#engine.open(entry.connectionId);
        break;
      case "realtime_event":
        this.#observe(entry.connectionId, entry.observation, entry.payload);
        break;
      case "message": {
        const realtime: unknown = entry.message.realtime;
        const item = isObject(realtime) ? realtime : undefined;
        this.#saved.add(itemKey(nameOf(item, "connectionId") ?? "", nameOf(item, "itemId") ?? ""));
        break;
      }
      case "message.removed":
        this.#removals.delete(entry.targetId);
        break;
      case "custom": {
        const record = entry.customType === REMOVAL_TYPE ? readRemovalRecord(entry.data) : undefined;
        if (record === undefined) break;
        if (record.state === "requested") this.#removals.set(record.targetId, { ...record, isAcknowledged: false });
        else this.#removals.delete(record.targetId);
        break;
      }
      case "recording.finished":
        for (const { connectionId, itemId } of entry.gaps ?? []) {
          this.#named.add(itemKey(String(connectionId), String(itemId)));
        }
        this.#end();
        break;
      case "recording.interrupted":
        this.#end();
        break;
      default:
        break;
    }
  }

  report(): Omit<UnfinishedReport, "recordings"> {
    const isMissing = ({ connectionId, itemId }: { connectionId: string; itemId: string }): boolean =>
      !this.#saved.has(itemKey(connectionId, itemId)) && !this.#named.has(itemKey(connectionId, itemId));
    const provisional = this.#engine.provisional.filter(isMissing);
    const items = provisional.map(({ connectionId, itemId, role }) => ({ connectionId, itemId, role }));
    return {
      unmaterialized: [...this.#published.values()].filter(isMissing),
      unresolved: items,
      removals: [...this.#removals.values()].map(({ targetId, connectionId, itemId, isAcknowledged }) => ({
        targetId,
        connectionId,
        itemId,
        state: isAcknowledged ? "acknowledged" : "unanswered",
      })),
    };
  }

  #observe(connectionId: string, observation: string, payload: JsonObject): void {
    if (observation !== "received") {
      this.#engine.observeSend(connectionId, payload, observation === "send_failed", 0);
    } else {
      if (payload.type === "conversation.item.deleted") this.#acknowledge(connectionId, nameOf(payload, "item_id"));
      this.#engine.receive(connectionId, wrappedFrame(payload) ?? payload, 0);
    }
    this.#take();
  }

  /** The oldest one when the provider names no item. */
  #acknowledge(connectionId: string, itemId: string | undefined): void {
    const removal = [...this.#removals.values()].find(
      (candidate) =>
        candidate.connectionId === connectionId &&
        !candidate.isAcknowledged &&
        (itemId === undefined || candidate.itemId === itemId),
    );
    if (removal !== undefined) removal.isAcknowledged = true;
  }

  /** A recording that ended has closed what was open on its connections. */
  #end(): void {
    for (const { connectionId } of this.#engine.provisional) {
      this.#engine.transport(connectionId, { type: "close", expected: true }, 0);
    }
    this.#take();
  }

  #take(): void {
    for (const action of this.#engine.takeActions()) this.#act(action);
  }

  #act(action: EngineAction): void {
    if (action.type === "publish") {
      const { connectionId, itemId, role } = action.turn;
      this.#published.set(itemKey(connectionId, itemId), { connectionId, itemId, role });
    }
  }
}

/** The frame inside a wrapped payload, where the log itself holds its text. */
function wrappedFrame(payload: JsonObject): JsonObject | undefined {
  const wrapped = objectOf(payload, "wrapped");
  const text = nameOf(wrapped, "text");
  if (wrapped === undefined || text === undefined || nameOf(wrapped, "reason") === "not-json") return undefined;
  // A provider may call a member of its own so.
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}
