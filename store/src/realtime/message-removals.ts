/**
 * Removals of saved messages (Session file format, Realtime retention): the intent is kept before the provider is asked,
 * the message goes on its acknowledgement, and a removal that could not be saved is tried again without asking again.
 */
import { isStoreError } from "../errors";
import { type Entry, type EntryInput, type JsonObject } from "../format/schema";
import { type EngineAction } from "./actions";
import { type RealtimeEngine } from "./engine";
import { type RecorderSession, type RemovalResult } from "./recorder-types";
import { removalEntry } from "./removal-record";
import { type SavedTurns } from "./saved-turns";

export type RemovalAction = Extract<EngineAction, { type: "request-removal" | "remove" | "removal-ended" }>;

/** What a recording offers to its removals. */
export interface RemovalHost {
  readonly session: Pick<RecorderSession, "has" | "entry">;
  readonly engine: RealtimeEngine;
  readonly saved: SavedTurns;
  newId(): string;
  now(): number;
  /** Appends without being waited for; a failure is the recording's. */
  keep(entry: EntryInput, then?: () => void): void;
  /** Appends an entry whose failure is the caller's to handle. */
  append(entry: EntryInput): Promise<Entry>;
  send(connectionId: string, event: JsonObject): void;
  changed(): void;
}

export class MessageRemovals {
  readonly #host: RemovalHost;
  readonly #waiting = new Map<string, ((result: RemovalResult) => void)[]>();

  constructor(host: RemovalHost) {
    this.#host = host;
  }

  /** Removes a saved message: remotely first where it has a live connection. */
  async request(entryId: string): Promise<RemovalResult> {
    const { engine, saved } = this.#host;
    const item = saved.itemOf(entryId);
    if (item === undefined) return this.#removeEarlierMessage(entryId);
    const result = new Promise<RemovalResult>((resolve) => {
      this.#waiting.set(entryId, [...(this.#waiting.get(entryId) ?? []), resolve]);
    });
    const decision = engine.requestRemoval(item.connectionId, item.itemId, this.#host.newId(), this.#host.now());
    if (decision.kind === "refused") {
      this.#ended(entryId, {
        kind: "refused",
        reason: decision.reason === "removed" ? "already-removed" : "not-saved",
      });
    }
    return result;
  }

  act(action: RemovalAction): void {
    const { connectionId, itemId } = action;
    const targetId = this.#host.saved.entryIdOf(connectionId, itemId);
    // The engine removes published items only, and those are asked for by their entry.
    if (targetId === undefined) return;
    switch (action.type) {
      case "request-removal":
        // When the intent cannot be kept, nothing is sent.
        this.#host.keep(removalEntry({ state: "requested", targetId, connectionId, itemId }), () =>
          this.#host.send(connectionId, action.event),
        );
        break;
      case "remove":
        void this.#remove(targetId).then((result) => {
          const isRemoved =
            result.kind === "removed" || (result.kind === "refused" && result.reason === "already-removed");
          if (isRemoved) this.#host.engine.removalSaved(connectionId, itemId);
          this.#ended(targetId, result);
        });
        break;
      case "removal-ended":
        this.#host.keep(removalEntry({ state: action.outcome, targetId, connectionId, itemId }));
        this.#ended(targetId, { kind: action.outcome });
        break;
    }
  }

  /** A message of an earlier recording has no live connection: nothing is sent anywhere. */
  async #removeEarlierMessage(entryId: string): Promise<RemovalResult> {
    const { session } = this.#host;
    if (!session.has(entryId)) return { kind: "refused", reason: "not-saved" };
    const { type } = await session.entry(entryId);
    if (type !== "message" && type !== "custom_message") return { kind: "refused", reason: "not-saved" };
    return this.#remove(entryId);
  }

  async #remove(targetId: string): Promise<RemovalResult> {
    try {
      await this.#host.append({ type: "message.removed", targetId });
      this.#host.saved.remove(targetId);
      return { kind: "removed" };
    } catch (error) {
      if (!isStoreError(error)) throw error;
      if (error.code === "already-removed") {
        this.#host.saved.remove(targetId);
        return { kind: "refused", reason: "already-removed" };
      }
      return { kind: "not-saved", code: error.code };
    }
  }

  #ended(entryId: string, result: RemovalResult): void {
    const waiting = this.#waiting.get(entryId) ?? [];
    this.#waiting.delete(entryId);
    for (const resolve of waiting) resolve(result);
    this.#host.changed();
  }
}
