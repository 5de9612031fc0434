import { useCallback, useEffect, useRef, useState } from "react";
import { problemOf, type Problem } from "../lib/problems";
import { faceOf, type RecordingFace } from "../lib/recording-face";
import { type RecordingTarget, type Recordings } from "../lib/recording";
import { recordingProblem, type Settings } from "../lib/settings";
import { useRecording } from "./useRecording";

export type LiveState =
  | { kind: "checking" }
  /** The first time, nothing is started before it is said where the sound goes. */
  | { kind: "welcome" }
  | { kind: "starting" }
  | { kind: "problem"; problem: Problem }
  | { kind: "face"; face: Exclude<RecordingFace, { kind: "none" }> };

export interface LiveOptions {
  settings: Settings;
  source: Recordings;
  target: RecordingTarget;
  /** False until the first-run page was passed. */
  welcomed: () => Promise<boolean>;
}

export interface LiveRecording {
  state: LiveState;
  /** Starts a recording; an ended one before it is only no longer shown. */
  start: () => void;
}

/** Attaches to the running recording, or starts one. The recording itself lives in the session host, not here. */
export function useLiveRecording({ settings, source, target, welcomed }: LiveOptions): LiveRecording {
  const face = useRecording(source);
  const [own, setOwn] = useState<"checking" | "welcome" | "starting" | "attached" | Problem>("checking");
  const begun = useRef(false);

  const start = useCallback(() => {
    const problem = recordingProblem(settings);
    if (problem !== null) {
      setOwn(problem);
      return;
    }
    setOwn("starting");
    source.start(settings, target).then(
      () => setOwn("attached"),
      (error: unknown) => setOwn(problemOf(error, { location: settings.writeRoot.path })),
    );
  }, [settings, source, target]);

  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    const begin = async () => {
      if (worthShowing(faceOf(await source.view()), target)) setOwn("attached");
      else if (await welcomed()) start();
      else setOwn("welcome");
    };
    begin().catch((error: unknown) => setOwn(problemOf(error, { location: settings.writeRoot.path })));
  }, [settings, source, start, target, welcomed]);

  if (typeof own === "object") return { state: { kind: "problem", problem: own }, start };
  if (own !== "attached") return { state: { kind: own }, start };
  return { state: face === null || face.kind === "none" ? { kind: "checking" } : { kind: "face", face }, start };
}

/** What is there already: a running recording, or the end of one that nobody has seen. */
function worthShowing(face: RecordingFace, target: RecordingTarget): boolean {
  if (face.kind === "live") return true;
  if (target.kind !== "microphone") return false;
  return face.kind === "interrupted" || ((face.kind === "finished" || face.kind === "failed") && face.news);
}
