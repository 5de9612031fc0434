import { type HostView } from "../host/client";
import { type HostState } from "../host/state";
import { clockTime, levelText, spokenLength } from "./format";
import { problemOf, problemOfReport, type Problem } from "./problems";

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
      recordingId: string | null;
      session: SessionRef;
    }
  | {
      kind: "finished";
      text: string;
      /** False when some of it is not transcribed. */
      complete: boolean;
      /** No command has told of this end yet. */
      news: boolean;
      /** It ended a moment ago, so its text may take the place of what is on the clipboard. */
      fresh: boolean;
      elapsed: string;
      /** The same in words. */
      length: string;
      device: string;
      warnings: Problem[];
      session: SessionRef;
    }
  | { kind: "failed"; problem: Problem; news: boolean; fresh: boolean; session: SessionRef }
  | { kind: "interrupted"; problem: Problem; session: SessionRef }
  /** What is being recorded cannot be read. */
  | { kind: "unknown"; problem: Problem; session: null };

/** A recording that has come to its end. */
export type EndedFace = Extract<RecordingFace, { kind: "finished" | "failed" }>;

/** An end that is older than this is news to nobody, and what is on the clipboard stays there. */
const FRESH_MS = 2 * 60_000;

/** True for an end of a moment ago. */
function endedRecently(state: HostState, nowMs = Date.now()): boolean {
  return nowMs - (Date.parse(state.startedAt) + state.elapsedMs) < FRESH_MS;
}

/** True for an end that no command has told yet. */
function isNews({ result }: HostState): boolean {
  return result !== undefined && !result.announced && result.outcome !== "discarded";
}

/** True for what has ended a moment ago and was told by no command: whoever looks next tells it. */
export function isUntold({ news, fresh }: EndedFace): boolean {
  return news && fresh;
}

export function faceOf(view: HostView): RecordingFace {
  switch (view.kind) {
    case "none":
      return { kind: "none" };
    case "dead":
      return { kind: "interrupted", problem: deathProblem(view.state), session: sessionOf(view.state) };
    case "live":
    case "ended":
      // What was thrown away is as if it had never been.
      return view.state.result?.outcome === "discarded" ? { kind: "none" } : stateFace(view.state);
  }
}

/** The face of a recording that cannot be looked at. */
export function unknownFace(error: unknown): RecordingFace {
  return { kind: "unknown", problem: problemOf(error), session: null };
}

/** The face of a recording by what its own process says. */
export function stateFace(state: HostState): Exclude<RecordingFace, { kind: "none" | "unknown" }> {
  const session = sessionOf(state);
  const common = {
    elapsed: clockTime(state.elapsedMs),
    device: deviceName(state),
    warnings: state.warnings.map((warning) => problemOfReport(warning, { location: session?.location })),
    session,
  };
  switch (state.phase) {
    case "starting":
    case "recording":
    case "finishing":
      return {
        ...common,
        kind: "live",
        phase: state.phase,
        level: levelText(state.levelDb),
        provider: providerText(state),
        saved: state.saved.map(({ entryId, text }) => ({ entryId, text })),
        provisional: state.provisional.map(({ text }) => text),
        recordingId: state.recordingId ?? null,
      };
    case "finished":
      return {
        ...common,
        kind: "finished",
        text: state.result?.text ?? "",
        complete: state.result === undefined || state.result.outcome === "complete",
        news: isNews(state),
        fresh: endedRecently(state),
        length: spokenLength(state.elapsedMs),
      };
    case "failed":
      return { kind: "failed", problem: failureOf(state), news: isNews(state), fresh: endedRecently(state), session };
  }
}

function sessionOf({ session }: HostState): SessionRef {
  return session === undefined ? null : { id: session.id, location: session.location };
}

/** The process is gone without an end: the sound that it had is on disk. */
function deathProblem(state: HostState): Problem {
  return problemOfReport(
    {
      code: "host-died",
      message: "The recording process ended before the recording did. The sound up to that moment is kept",
      remedy: "Recover the session to finish it, then transcribe it again if words are missing",
    },
    { location: state.session?.location },
  );
}

function deviceName({ device }: HostState): string {
  return device ?? "";
}

const providerNames: Readonly<Record<string, string>> = {
  openai: "OpenAI",
  compatible: "Server",
  "on-device": "This Mac",
};

const providerStates: Readonly<Record<HostState["provider"]["state"], string>> = {
  off: "off",
  connecting: "connecting",
  open: "connected",
  lost: "interrupted; the recording goes on",
  failed: "failed; the recording goes on",
  closed: "finished",
};

function providerText({ provider: { name, state } }: HostState): string {
  return name === "none" ? "None" : `${providerNames[name] ?? name}: ${providerStates[state]}`;
}

/** Why it failed: the last thing that was said. */
function failureOf(state: HostState): Problem {
  return problemOfReport(
    state.warnings.at(-1) ?? {
      code: "host-not-started",
      message: "The recording did not start",
      remedy: "Try again",
    },
    { location: state.session?.location },
  );
}
