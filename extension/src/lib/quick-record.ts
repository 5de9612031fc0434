import { Toast, showHUD, showToast } from "@raycast/api";
import { copyTranscript } from "./copy";
import { problemOf, type Problem } from "./problems";
import { openCommand, refreshMenuBar, setSubtitle } from "./raycast";
import { faceOf, isUntold, stateFace, type EndedFace } from "./recording-face";
import { recordings, type Recordings } from "./recording";
import { recordingProblem, type Settings } from "./settings";
import { readSettings } from "./store";

/**
 * One key: starts a recording, or stops it and copies the words. A HUD closes the window and so begins the end of this
 * command: everything that must happen has happened before it.
 */
export async function quickRecord(source: Recordings = recordings()): Promise<void> {
  const parsed = readSettings();
  if (parsed.kind === "invalid") return explain(parsed.problem);
  const { settings } = parsed;
  try {
    const face = faceOf(await source.view());
    switch (face.kind) {
      case "live":
        return await stop(source, settings);
      case "interrupted":
        return await start(source, settings, "The recording before it was interrupted: see Search Sessions.");
      case "finished":
      case "failed":
        // It ended by itself a moment ago, and the key was pressed to end it.
        if (isUntold(face)) return await announce(source, settings, face);
        return await start(source, settings, "");
      case "unknown":
        return await explain(face.problem);
      case "none":
        return await start(source, settings, "");
    }
  } catch (error) {
    await explain(problemOf(error));
  }
}

async function start(source: Recordings, settings: Settings, note: string): Promise<void> {
  const problem = recordingProblem(settings);
  if (problem !== null) return explain(problem);
  const face = stateFace(await source.start(settings, { kind: "microphone" }));
  if (face.kind === "failed") return explain(face.problem);
  const isWaiting = face.kind === "live" && face.phase === "starting";
  await setSubtitle(isWaiting ? "Press again to stop" : "Recording");
  await refreshMenuBar();
  const to = face.kind === "interrupted" || face.device === "" ? "" : ` to ${face.device}`;
  const said = isWaiting ? "Waiting for permission. Allow the microphone, and the recording starts" : `Listening${to}`;
  // The window closes, so what Record would show must be said here.
  const warnings = face.kind === "live" ? face.warnings : [];
  const fallback = warnings.find(({ code }) => code === "device-fallback")?.cause.replace(/\.$/, "") ?? "";
  await showHUD([said, fallback, note].filter((part) => part !== "").join(". "));
}

async function stop(source: Recordings, settings: Settings): Promise<void> {
  await source.stop();
  await showToast({ style: Toast.Style.Animated, title: "Finishing…" });
  const face = faceOf(await source.ended());
  if (face.kind === "finished" || face.kind === "failed") return announce(source, settings, face);
  await setSubtitle(null);
  if (face.kind === "unknown") return explain(face.problem);
  if (face.kind === "none") return showHUD("Nothing is being recorded");
  await showHUD("The recording was interrupted. Its sound is kept: see Search Sessions");
}

/** Copies what was said, if it should, and says what happened in words. */
async function announce(source: Recordings, settings: Settings, face: EndedFace): Promise<void> {
  await setSubtitle(null);
  if (face.kind === "failed") {
    await source.announced();
    await refreshMenuBar();
    return explain(face.problem);
  }
  if (face.text !== "" && settings.copyOnStop) await copyTranscript(face.text, settings);
  await source.announced();
  await refreshMenuBar();
  await showHUD(summary(face, settings));
}

function summary({ text, complete, length }: Extract<EndedFace, { kind: "finished" }>, settings: Settings): string {
  if (text === "") {
    return settings.provider.kind === "none" ? `Recorded ${length}` : `No speech was heard. ${length} are kept`;
  }
  const gaps = complete ? "" : ". Some of it is not transcribed yet";
  return `${settings.copyOnStop ? "Copied" : "Saved"} ${length} of speech${gaps}`;
}

/** A HUD has no buttons, so what needs one is shown in Record; where that cannot open, the words must do. */
async function explain(problem: Problem): Promise<void> {
  const notShown = await openCommand("record");
  if (notShown !== null) await showHUD(`${problem.title}. ${problem.cause} ${problem.remedy}`.trim());
}
