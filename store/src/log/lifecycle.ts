import { type Entry } from "../format/schema";

/** A rule about connections and recordings that a reader reports and a writer keeps. */
export interface LifecycleFinding {
  code:
    | "complete-with-gaps"
    | "connection-redeclared"
    | "connection-undeclared"
    | "recording-ended-twice"
    | "recording-not-started"
    | "recording-restarted"
    | "sequence-not-increasing";
  message: string;
}

type RecordingState = "started" | "ended";

/** Which connections and recordings a log has had so far, in file order. Grows with them, not with the entries. */
export class Lifecycle {
  readonly #base: Lifecycle | undefined;
  /** The last sequence of each declared connection, -1 before its first event. */
  readonly #sequences = new Map<string, number>();
  readonly #recordings = new Map<string, RecordingState>();

  constructor(base?: Lifecycle) {
    this.#base = base;
  }

  /** One that goes on from here and leaves this as it is: a batch is tried on it. */
  stage(): Lifecycle {
    return new Lifecycle(this);
  }

  /** What is wrong with an entry at this place of the log, besides its parent and target. */
  finding(entry: Entry): LifecycleFinding | undefined {
    switch (entry.type) {
      case "api_connection":
        if (this.#sequence(entry.connectionId) === undefined) return undefined;
        return { code: "connection-redeclared", message: "The connection is declared a second time." };
      case "realtime_event":
        return this.#eventFinding(entry.connectionId, entry.sequence);
      case "recording.started":
        if (this.#recording(entry.recordingId) === undefined) return undefined;
        return { code: "recording-restarted", message: "The recording is started a second time." };
      case "recording.finished":
        if (entry.outcome === "complete" && entry.gaps !== undefined && entry.gaps.length > 0) {
          return { code: "complete-with-gaps", message: "A complete recording lists gaps." };
        }
        return this.#endFinding(entry.recordingId);
      case "recording.interrupted":
        return this.#endFinding(entry.recordingId);
      default:
        return undefined;
    }
  }

  /** Takes up an entry, whether or not there was a finding. */
  add(entry: Entry): void {
    switch (entry.type) {
      case "api_connection":
        if (this.#sequence(entry.connectionId) === undefined) this.#sequences.set(entry.connectionId, -1);
        break;
      case "realtime_event": {
        const last = this.#sequence(entry.connectionId);
        if (last !== undefined) this.#sequences.set(entry.connectionId, Math.max(last, entry.sequence));
        break;
      }
      case "recording.started":
        if (this.#recording(entry.recordingId) === undefined) this.#recordings.set(entry.recordingId, "started");
        break;
      case "recording.finished":
      case "recording.interrupted":
        if (this.#recording(entry.recordingId) !== undefined) this.#recordings.set(entry.recordingId, "ended");
        break;
      default:
        break;
    }
  }

  #sequence(connectionId: string): number | undefined {
    const own = this.#sequences.get(connectionId);
    return own === undefined && this.#base !== undefined ? this.#base.#sequence(connectionId) : own;
  }

  #recording(recordingId: string): RecordingState | undefined {
    const own = this.#recordings.get(recordingId);
    return own === undefined && this.#base !== undefined ? this.#base.#recording(recordingId) : own;
  }

  #eventFinding(connectionId: string, sequence: number): LifecycleFinding | undefined {
    const last = this.#sequence(connectionId);
    if (last === undefined) {
      return { code: "connection-undeclared", message: "The event is of a connection that was not declared." };
    }
    if (sequence > last) return undefined;
    return { code: "sequence-not-increasing", message: "The event's sequence does not increase." };
  }

  #endFinding(recordingId: string): LifecycleFinding | undefined {
    const state = this.#recording(recordingId);
    if (state === undefined) {
      return { code: "recording-not-started", message: "The recording ends without having started." };
    }
    if (state === "started") return undefined;
    return { code: "recording-ended-twice", message: "The recording ends a second time." };
  }
}
