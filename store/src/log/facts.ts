import { type IndexedEntry } from "../format/plain-record";

/** A capture period as the entries so far tell it. */
export interface RecordingFact {
  readonly assetPath: string | undefined;
  readonly ended: boolean;
}

/**
 * The little that the rules for new entries need beyond ids, parents and types: which connections were declared and how
 * far their observations were counted, and which recordings began and ended. Grows with connections and recordings, not
 * with entries.
 */
export class LogFacts {
  readonly #lastSequence = new Map<string, number>();
  readonly #recordings = new Map<string, RecordingFact>();
  readonly #base: LogFacts | undefined;

  constructor(base?: LogFacts) {
    this.#base = base;
  }

  /** Takes note of one entry, in file order. */
  observe(entry: IndexedEntry): void {
    switch (entry.type) {
      case "api_connection":
        if (this.lastSequence(entry.connectionId) === undefined) this.#lastSequence.set(entry.connectionId, -1);
        return;
      case "realtime_event": {
        const last = this.lastSequence(entry.connectionId);
        if (last !== undefined) this.#lastSequence.set(entry.connectionId, Math.max(last, entry.sequence));
        return;
      }
      case "recording.started":
        if (this.recording(entry.recordingId) === undefined) {
          const { asset } = entry;
          const assetPath = asset.status === "available" ? asset.path : undefined;
          this.#recordings.set(entry.recordingId, { assetPath, ended: false });
        }
        return;
      case "recording.finished":
      case "recording.interrupted": {
        const recording = this.recording(entry.recordingId);
        if (recording !== undefined) this.#recordings.set(entry.recordingId, { ...recording, ended: true });
        return;
      }
      default:
        return;
    }
  }

  /** The last sequence number of a declared connection, -1 before its first observation, undefined if undeclared. */
  lastSequence(connectionId: string): number | undefined {
    return this.#lastSequence.get(connectionId) ?? this.#base?.lastSequence(connectionId);
  }

  recording(recordingId: string): RecordingFact | undefined {
    return this.#recordings.get(recordingId) ?? this.#base?.recording(recordingId);
  }

  /** All recordings by id, in file order. */
  recordings(): ReadonlyMap<string, RecordingFact> {
    return this.#recordings;
  }

  /** Facts on top of these, for trying a batch without touching them. */
  stage(): LogFacts {
    return new LogFacts(this);
  }
}
