import { Alert, Icon, Toast, confirmAlert, showHUD, showToast } from "@raycast/api";
import { plainText, readTranscript, type Library } from "@persyk/store";
import { copyTranscript } from "./copy";
import { attempt } from "./mend";
import { refreshMenuBar } from "./raycast";
import { type Recordings } from "./recording";
import { type RecordingFace } from "./recording-face";
import { type Settings } from "./settings";
import { withSession } from "./store";

/** Stops the recording: what it comes to is shown by its face. */
export function stopRecording(source: Recordings): Promise<boolean> {
  return attempt(undefined, () => source.stop());
}

/** Throws a running recording away, after asking. */
export async function confirmDiscard(source: Recordings): Promise<boolean> {
  const confirmed = await confirmAlert({
    icon: Icon.Trash,
    title: "Discard This Recording?",
    message: "The recording stops, and its session is deleted with the sound. This cannot be undone.",
    primaryAction: { title: "Discard Recording", style: Alert.ActionStyle.Destructive },
  });
  if (!confirmed) return false;
  return attempt(undefined, async () => {
    await source.discard();
    await source.ended();
    await source.announced();
    await refreshMenuBar();
    await showToast({ style: Toast.Style.Success, title: "Recording Discarded" });
  });
}

/** Takes one saved message out of a running recording, after asking. */
export async function confirmRemoval(source: Recordings, entryId: string): Promise<boolean> {
  const confirmed = await confirmAlert({
    icon: Icon.MinusCircle,
    title: "Remove This Message?",
    message: "It will no longer be shown, found or copied. The sound stays in the recording.",
    primaryAction: { title: "Remove Message", style: Alert.ActionStyle.Destructive },
  });
  return confirmed && (await attempt(undefined, () => source.remove(entryId)));
}

/**
 * Copies everything of a running recording that is saved, from its session: what is shown ends at the newest messages.
 * Words that may still change are not in a session, and so never copied.
 */
export async function copySaved(
  library: Library,
  settings: Settings,
  { session, recordingId }: Pick<Extract<RecordingFace, { kind: "live" }>, "session" | "recordingId">,
): Promise<boolean> {
  return attempt(session?.location, async () => {
    const turns =
      session === null ? [] : (await withSession(library, session.location, (opened) => readTranscript(opened))).turns;
    // A recording that is transcribed again has other messages before it in its session.
    const text = plainText(turns.filter(({ range }) => (range?.recordingId ?? recordingId) === recordingId));
    if (text === "") {
      await showToast({ style: Toast.Style.Failure, title: "Nothing to Copy", message: "No words are saved yet." });
      return;
    }
    await copyTranscript(text, settings);
    await showHUD("Copied what is saved so far");
  });
}
