import { type RecoverReport } from "@persyk/store";
import { spokenLength } from "./format";

/** What a recovery does or did, one sentence a step; empty when there is nothing to do. */
export function recoverySteps({ action, recordings }: RecoverReport): string[] {
  const steps: string[] = [];
  if (action === "add-newline") steps.push("The last line is complete and only gets its end.");
  if (action === "truncate-fragment") steps.push("The torn last line is moved into a file beside the log.");
  for (const { outcome, durationMs, reason } of recordings) {
    if (outcome === "rejected")
      steps.push(`A recording cannot be repaired${reason === null ? "" : ` (${words(reason)})`}.`);
    else steps.push(`A recording of ${spokenLength(durationMs ?? 0)} is finished; no sound is lost.`);
  }
  return steps;
}

function words(reason: string): string {
  return reason.replace(/[-_]/g, " ");
}
