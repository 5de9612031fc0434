import { open, openExtensionPreferences, showInFinder, showToast, Toast } from "@raycast/api";
import { problemOf, remedyTitle, type Problem, type Remedy } from "./problems";
import { openCommand } from "./raycast";

/** What the view around a problem can do itself. */
export interface RemedyHandlers {
  retry?: () => void;
  recover?: (location: string) => void;
  transcribeAgain?: (location: string) => void;
}

const panes = {
  microphone: "x-apple.systempreferences:com.apple.preference.security?Privacy_Microphone",
  files: "x-apple.systempreferences:com.apple.preference.security?Privacy_FilesAndFolders",
  sound: "x-apple.systempreferences:com.apple.preference.sound?input",
} as const;

/** The label of the button that mends it; null where there is none, or nobody who could try again. */
export function offeredTitle(remedy: Remedy, handlers: RemedyHandlers = {}): string | null {
  return remedy.kind === "retry" && handlers.retry === undefined ? null : remedyTitle(remedy);
}

/** Does what mends a problem; where the view cannot, it opens the command that can. A failure is shown. */
export async function mend(remedy: Remedy, handlers: RemedyHandlers = {}): Promise<void> {
  await attempt(undefined, async () => {
    switch (remedy.kind) {
      case "open-preferences":
        return openExtensionPreferences();
      case "open-privacy":
        return open(panes[remedy.pane]);
      case "open-sound-settings":
        return open(panes.sound);
      case "choose-microphone":
        return showCommand("choose-microphone");
      case "show-in-finder":
        return showInFinder(remedy.path);
      case "retry":
        return handlers.retry?.();
      case "recover":
        return handlers.recover === undefined ? openSession(remedy.location) : handlers.recover(remedy.location);
      case "transcribe-again":
        return handlers.transcribeAgain === undefined
          ? openSession(remedy.location)
          : handlers.transcribeAgain(remedy.location);
      case "search-sessions":
        return showCommand("search-sessions");
      case "none":
        return undefined;
    }
  });
}

function openSession(location: string): Promise<void> {
  return showCommand("session-detail", { arguments: { session: location } });
}

/** Opens a command of this extension; one that does not open is shown with what mends that. */
export async function showCommand(name: string, options: { arguments?: Record<string, string> } = {}): Promise<void> {
  const problem = await openCommand(name, options);
  if (problem !== null) await showProblem(problem);
}

/** Shows a problem as a toast, with the button that mends it. */
export async function showProblem(problem: Problem, handlers: RemedyHandlers = {}): Promise<void> {
  const title = offeredTitle(problem.action, handlers);
  await showToast({
    style: Toast.Style.Failure,
    title: problem.title,
    message: `${problem.cause} ${problem.remedy}`.trim(),
    ...(title === null ? {} : { primaryAction: { title, onAction: () => void mend(problem.action, handlers) } }),
  });
}

/** Runs one action; a failure is shown with what mends it. True when it was done. */
export async function attempt(location: string | undefined, work: () => void | Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    await showProblem(problemOf(error, { location }));
    return false;
  }
}
