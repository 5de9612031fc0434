import { type HostView } from "../host/client";
import { type HostState } from "../host/state";
import { clockTime, levelText } from "./format";
import { problemOfReport, type Problem } from "./problems";

type SessionRef = { id: string; location: string } | null;

/** A recording, reduced to what a person can see. Two faces that read the same are equal. */
export type RecordingFace =
  | { kind: "none" }
  | {
      kind: "live";
      phase: "starting" | "recording" | "finishing";
      elapsed: string;
      level: string;
      device: string;
      provider: string;
      warnings: Problem[];
      saved: { entryId: string; text: string }[];
      provisional: string[];
      session: SessionRef;
    }
  | {
      kind: "finished";
      text: string;
      /** False when some of it is not transcribed. */
      complete: boolean;
      announced: boolean;
      /** It ended a moment ago, so its text may take the place of what is on the clipboard. */
      fresh: boolean;
      elapsed: string;
      device: string;
      warnings: Problem[];
      session: SessionRef;
    }
  | { kind: "failed"; problem: Problem; session: SessionRef }
  | { kind: "interrupted"; problem: Problem; session: SessionRef };

/** An end that is older than this is news to nobody, and what is on the clipboard stays there. */
const FRESH_MS = 2 * 60_000;
