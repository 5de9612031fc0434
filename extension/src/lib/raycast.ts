import { LaunchType, launchCommand, updateCommandMetadata } from "@raycast/api";
import { problemOfReport, type Problem } from "./problems";

/** The few calls of Raycast that may fail for reasons that are nobody's fault. */

/** Sets the subtitle of the running command; null gives back the one of the manifest. */
export async function setSubtitle(subtitle: string | null): Promise<void> {
  await updateCommandMetadata({ subtitle });
}

/** Lets the menu bar show the new state at once. It also looks by itself, so that nothing is lost where this fails. */
export async function refreshMenuBar(): Promise<void> {
  await launched("recording-status", LaunchType.Background);
}

/** Opens a command of this extension; null when it opened. */
export async function openCommand(
  name: string,
  options: { arguments?: Record<string, string> } = {},
): Promise<Problem | null> {
  return launched(name, LaunchType.UserInitiated, options);
}

/** Raycast has one error for a disabled command, a missing one and anything else; only its message tells which. */
async function launched(
  name: string,
  type: LaunchType,
  options: { arguments?: Record<string, string> } = {},
): Promise<Problem | null> {
  try {
    await launchCommand({ name, type, ...options });
    return null;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const remedy = "If the command is disabled, enable it in the preferences.";
    return problemOfReport({ code: "command-not-opened", message: error.message, remedy });
  }
}
