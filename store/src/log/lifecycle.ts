import { type IndexedEntry } from "../format/plain-record";
import { type LogFacts } from "./facts";

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

/** What is wrong with `entry` after the entries that `facts` has observed, besides its parent and target. */
export function lifecycleFinding(facts: LogFacts, entry: IndexedEntry): LifecycleFinding | undefined {
  switch (entry.type) {
    case "api_connection":
      if (facts.lastSequence(entry.connectionId) === undefined) return undefined;
      return { code: "connection-redeclared", message: "The connection is declared a second time." };
    case "realtime_event":
      return eventFinding(facts, entry.connectionId, entry.sequence);
    case "recording.started":
      if (facts.recording(entry.recordingId) === undefined) return undefined;
      return { code: "recording-restarted", message: "The recording is started a second time." };
    case "recording.finished":
      if (entry.outcome === "complete" && entry.gaps !== undefined && entry.gaps.length > 0) {
        return { code: "complete-with-gaps", message: "A complete recording lists gaps." };
      }
      return endFinding(facts, entry.recordingId);
    case "recording.interrupted":
      return endFinding(facts, entry.recordingId);
    default:
      return undefined;
  }
}

function eventFinding(facts: LogFacts, connectionId: string, sequence: number): LifecycleFinding | undefined {
  const last = facts.lastSequence(connectionId);
  if (last === undefined) {
    return { code: "connection-undeclared", message: "The event is of a connection that was not declared." };
  }
  if (sequence > last) return undefined;
  return { code: "sequence-not-increasing", message: "The event's sequence does not increase." };
}

function endFinding(facts: LogFacts, recordingId: string): LifecycleFinding | undefined {
  const recording = facts.recording(recordingId);
  if (recording === undefined) {
    return { code: "recording-not-started", message: "The recording ends without having started." };
  }
  if (!recording.ended) return undefined;
  return { code: "recording-ended-twice", message: "The recording ends a second time." };
}
