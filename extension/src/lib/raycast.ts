import { LaunchType, launchCommand, showToast, Toast, updateCommandMetadata } from "@raycast/api";
import { remedyTitle, type Problem, type Remedy } from "./problems";

/** The few calls of Raycast that may fail for reasons that are nobody's fault. */

/** Sets the subtitle of the running command; null gives back the one of the manifest. */
export async function setSubtitle(subtitle: string | null): Promise<void> {
  await updateCommandMetadata({ subtitle });
}

/** Lets the menu bar show the new state at once. The command may be disabled, and then there is nothing to refresh. */
export async function refreshMenuBar(): Promise<boolean> {
  return launched("recording-status", LaunchType.Background);
}

/** Opens a command of this extension; false when it is disabled. */
export async function openCommand(
  name: string,
  options: { arguments?: Record<string, string> } = {},
): Promise<boolean> {
  return launched(name, LaunchType.UserInitiated, options);
}

async function launched(
  name: string,
  type: LaunchType,
  options: { arguments?: Record<string, string> } = {},
): Promise<boolean> {
  try {
    await launchCommand({ name, type, ...options });
    return true;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return false;
  }
}

/** Shows a problem as a toast, with the button that mends it. */
export async function showProblem(problem: Problem, mend: (remedy: Remedy) => void): Promise<Toast> {
  const title = remedyTitle(problem.action);
  return showToast({
    style: Toast.Style.Failure,
    title: problem.title,
    message: `${problem.cause} ${problem.remedy}`.trim(),
    ...(title === null ? {} : { primaryAction: { title, onAction: () => mend(problem.action) } }),
  });
}
