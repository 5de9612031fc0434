import { Action, Icon, type Image } from "@raycast/api";
import { type ReactElement } from "react";
import { mend, offeredTitle, type RemedyHandlers } from "../lib/mend";
import { type Problem, type Remedy } from "../lib/problems";

/** The action that mends a problem, or nothing where there is none. */
export function RemedyAction({
  problem,
  handlers = {},
}: {
  problem: Problem;
  handlers?: RemedyHandlers;
}): ReactElement | null {
  const { action } = problem;
  const title = offeredTitle(action, handlers);
  if (title === null) return null;
  return <Action title={title} icon={icons[action.kind]} onAction={() => void mend(action, handlers)} />;
}

const icons: Record<Remedy["kind"], Image.ImageLike> = {
  "open-preferences": Icon.Gear,
  "open-privacy": Icon.Lock,
  "open-sound-settings": Icon.Microphone,
  "choose-microphone": Icon.Microphone,
  retry: Icon.ArrowClockwise,
  "show-in-finder": Icon.Finder,
  recover: Icon.BandAid,
  "transcribe-again": Icon.SpeechBubble,
  "search-sessions": Icon.MagnifyingGlass,
  none: Icon.Dot,
};
