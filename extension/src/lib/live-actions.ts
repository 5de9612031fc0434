import { Alert, Icon, Toast, confirmAlert, showToast } from "@raycast/api";
import { refreshMenuBar } from "./raycast";
import { type Recordings } from "./recording";

/** Throws a running recording away, after asking. */
export async function confirmDiscard(source: Recordings): Promise<boolean> {
  const confirmed = await confirmAlert({
    icon: Icon.Trash,
    title: "Discard This Recording?",
    message: "The recording stops, and its session is deleted with the sound. This cannot be undone.",
    primaryAction: { title: "Discard Recording", style: Alert.ActionStyle.Destructive },
  });
  if (!confirmed) return false;
  await source.discard();
  await source.ended();
  await source.announced();
  await refreshMenuBar();
  await showToast({ style: Toast.Style.Success, title: "Recording Discarded" });
  return true;
}

/** Takes one saved message out of a running recording, after asking. */
export async function confirmRemoval(source: Recordings, entryId: string): Promise<boolean> {
  const confirmed = await confirmAlert({
    icon: Icon.MinusCircle,
    title: "Remove This Message?",
    message: "It will no longer be shown, found or copied. The sound stays in the recording.",
    primaryAction: { title: "Remove Message", style: Alert.ActionStyle.Destructive },
  });
  if (confirmed) await source.remove(entryId);
  return confirmed;
}
