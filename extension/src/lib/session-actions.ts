import path from "node:path";
import { Alert, Clipboard, Icon, Toast, confirmAlert, showHUD, showInFinder, showToast } from "@raycast/api";
import { transcriptText, type ExportFormat, type Library } from "@persyk/store";
import { copyTranscript } from "./copy";
import { exportToFolder } from "./exports";
import { attempt } from "./mend";
import { recoverySteps } from "./recovery-steps";
import { type Settings } from "./settings";
import { withSession } from "./store";

/** What can be done with a session, each with its confirmation, its toast and its failure. */

export function copySession(
  library: Library,
  settings: Settings,
  target: { location: string; title: string; leaf?: string | null | undefined },
): Promise<boolean> {
  return attempt(target.location, async () => {
    const text = await withSession(library, target.location, (session) => transcriptText(session, target.leaf));
    if (text === "") {
      await showToast({ style: Toast.Style.Failure, title: "Nothing to Copy", message: "This session has no text." });
      return;
    }
    await copyTranscript(text, settings);
    await showHUD(`Copied “${target.title}”`);
  });
}

export function setArchived(library: Library, location: string, archived: boolean): Promise<boolean> {
  return attempt(location, async () => {
    await withSession(library, location, (session) => session.setArchived(archived));
    await showToast({ style: Toast.Style.Success, title: archived ? "Session Archived" : "Session Restored" });
  });
}

export async function deleteSession(library: Library, target: { location: string; title: string }): Promise<boolean> {
  const confirmed = await confirmAlert({
    icon: Icon.Trash,
    title: "Delete This Session?",
    message: `“${target.title}” will be deleted with its recordings. This cannot be undone.`,
    primaryAction: { title: "Delete Session", style: Alert.ActionStyle.Destructive },
  });
  if (!confirmed) return false;
  return attempt(target.location, async () => {
    await library.delete(target.location, { confirmed: true });
    await showToast({ style: Toast.Style.Success, title: "Session Deleted" });
  });
}

export async function removeMessage(
  library: Library,
  target: { location: string; entryId: string; leaf?: string | null | undefined },
): Promise<boolean> {
  const confirmed = await confirmAlert({
    icon: Icon.MinusCircle,
    title: "Remove This Message?",
    message: "It will no longer be shown, found or copied. The session file keeps the record, and the sound stays.",
    primaryAction: { title: "Remove Message", style: Alert.ActionStyle.Destructive },
  });
  if (!confirmed) return false;
  return attempt(target.location, async () => {
    const { entryId, leaf } = target;
    await withSession(library, target.location, (session) =>
      leaf === undefined ? session.removeMessage(entryId) : session.removeMessage(entryId, leaf),
    );
    await showToast({ style: Toast.Style.Success, title: "Message Removed" });
  });
}

/** Says what a recovery would do, asks, and does it. What was written is never thrown away. */
export async function recoverSession(library: Library, location: string): Promise<boolean> {
  return attempt(location, async () => {
    const plan = await withSession(library, location, (session) => session.recover({ dryRun: true }));
    const steps = recoverySteps(plan);
    if (steps.length === 0) {
      await showToast({ style: Toast.Style.Success, title: "Nothing to Recover", message: "The session is complete." });
      return;
    }
    const confirmed = await confirmAlert({
      icon: Icon.BandAid,
      title: "Recover This Session?",
      message: steps.join(" "),
      primaryAction: { title: "Recover Session" },
    });
    if (!confirmed) return;
    await withSession(library, location, (session) => session.recover());
    await showToast({ style: Toast.Style.Success, title: "Session Recovered", message: steps.join(" ") });
  });
}

export function exportSessionAs(
  library: Library,
  target: { location: string; leaf?: string | null | undefined },
  format: ExportFormat,
): Promise<boolean> {
  return attempt(target.location, async () => {
    const { leaf } = target;
    const file = await withSession(library, target.location, (session) =>
      exportToFolder(session, format, leaf === undefined ? {} : { leaf }),
    );
    await showToast({
      style: Toast.Style.Success,
      title: "Exported to Downloads",
      message: path.basename(file),
      primaryAction: { title: "Show in Finder", onAction: () => void showInFinder(file) },
      secondaryAction: { title: "Copy Path", onAction: () => void Clipboard.copy(file) },
    });
  });
}
