import { Toast, showHUD, showToast } from "@raycast/api";
import { type HostView } from "../host/client";
import { type HostState } from "../host/state";
import { copyTranscript } from "./copy";
import { spokenLength } from "./format";
import { problemOf, type Problem } from "./problems";
import { openCommand, refreshMenuBar, setSubtitle } from "./raycast";
import { deviceName, endedRecently, failureOf, isNews } from "./recording-face";
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
    const view = await source.view();
    switch (view.kind) {
      case "live":
        return await stop(source, settings);
      case "ended":
        // It ended by itself a moment ago, and the key was pressed to end it.
        if (isNews(view.state) && endedRecently(view.state)) {
          return await announce(source, settings, view.state);
        }
        return await start(source, settings, "");
      case "dead":
        return await start(source, settings, "The recording before it was interrupted: see Search Sessions.");
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
  const state = await source.start(settings, { kind: "microphone" });
  if (state.phase === "failed") return explain(failureOf(state));
  await setSubtitle("Recording");
  await refreshMenuBar();
  const device = deviceName(state);
  await showHUD([`Listening${device === "" ? "" : ` to ${device}`}`, note].filter((part) => part !== "").join(". "));
}

async function stop(source: Recordings, settings: Settings): Promise<void> {
  await source.stop();
  await showToast({ style: Toast.Style.Animated, title: "Finishing…" });
  const view = await source.ended();
  await finish(source, settings, view);
}

async function finish(source: Recordings, settings: Settings, view: HostView): Promise<void> {
  if (view.kind === "ended") return announce(source, settings, view.state);
  await setSubtitle(null);
  if (view.kind === "none") return showHUD("Nothing is being recorded");
  await showHUD("The recording was interrupted. Its sound is kept: see Search Sessions");
}

/** Copies what was said, if it should, and says what happened in words. */
async function announce(source: Recordings, settings: Settings, state: HostState): Promise<void> {
  await setSubtitle(null);
  if (state.phase === "failed") {
    await source.announced();
    await refreshMenuBar();
    return explain(failureOf(state));
  }
  const text = state.result?.text ?? "";
  if (text !== "" && settings.copyOnStop) await copyTranscript(text, settings);
  await source.announced();
  await refreshMenuBar();
  await showHUD(summary(text, settings, state));
}

function summary(text: string, settings: Settings, state: HostState): string {
  const length = spokenLength(state.elapsedMs);
  if (text === "") {
    return settings.provider.kind === "none" ? `Recorded ${length}` : `No speech was heard. ${length} are kept`;
  }
  const gaps =
    state.result !== undefined && state.result.outcome !== "complete" ? ". Some of it is not transcribed yet" : "";
  return `${settings.copyOnStop ? "Copied" : "Saved"} ${length} of speech${gaps}`;
}

/** A HUD has no buttons, so what needs one is shown in Record; where that cannot open, the words must do. */
async function explain(problem: Problem): Promise<void> {
  const notShown = await openCommand("record");
  if (notShown !== null) await showHUD(`${problem.title}. ${problem.cause} ${problem.remedy}`.trim());
}
