import {
  Action,
  Icon,
  LaunchType,
  launchCommand,
  open,
  openExtensionPreferences,
  showInFinder,
  type Image,
} from "@raycast/api";
import { type ReactElement } from "react";
import { remedyTitle, type Problem, type Remedy } from "../lib/problems";

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

/** Does what mends a problem; where the view cannot, it opens the command that can. */
export async function mend(remedy: Remedy, handlers: RemedyHandlers = {}): Promise<void> {
  switch (remedy.kind) {
    case "open-preferences":
      return openExtensionPreferences();
    case "open-privacy":
      return open(panes[remedy.pane]);
    case "open-sound-settings":
      return open(panes.sound);
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
      return launchCommand({ name: "search-sessions", type: LaunchType.UserInitiated });
    case "none":
      return undefined;
  }
}

function openSession(location: string): Promise<void> {
  return launchCommand({
    name: "session-detail",
    type: LaunchType.UserInitiated,
    arguments: { session: location },
  });
}

/** The action that mends a problem, or nothing where there is none. */
export function RemedyAction({
  problem,
  handlers = {},
}: {
  problem: Problem;
  handlers?: RemedyHandlers;
}): ReactElement | null {
  const { action } = problem;
  const title = remedyTitle(action);
  if (title === null || (action.kind === "retry" && handlers.retry === undefined)) return null;
  return <Action title={title} icon={icons[action.kind]} onAction={() => void mend(action, handlers)} />;
}

const icons: Record<Remedy["kind"], Image.ImageLike> = {
  "open-preferences": Icon.Gear,
  "open-privacy": Icon.Lock,
  "open-sound-settings": Icon.Microphone,
  retry: Icon.ArrowClockwise,
  "show-in-finder": Icon.Finder,
  recover: Icon.BandAid,
  "transcribe-again": Icon.SpeechBubble,
  "search-sessions": Icon.MagnifyingGlass,
  none: Icon.Dot,
};
