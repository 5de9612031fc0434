import { showHUD } from "@raycast/api";
import { copyTranscript } from "./copy";
import { dateText, sessionTitle, shorten } from "./format";
import { problemOf } from "./problems";
import { openLibrary, readSettings } from "./store";

/** The surviving canonical text of the newest session that has any. Text that may still change is never copied. */
export async function copyLastTranscript(): Promise<void> {
  const parsed = readSettings();
  if (parsed.kind === "invalid") {
    await showHUD(`${parsed.problem.title}. ${parsed.problem.cause}`);
    return;
  }
  try {
    const last = await openLibrary(parsed.settings).last();
    if (last === null) {
      await showHUD("No transcript yet");
      return;
    }
    const { session, text } = last;
    try {
      const { label } = await session.info();
      await copyTranscript(text, parsed.settings);
      const title = shorten(sessionTitle(label, session.createdAt), 50);
      await showHUD(`Copied “${title}” of ${dateText(session.createdAt)}`);
    } finally {
      await session.close();
    }
  } catch (error) {
    const { title, cause, remedy } = problemOf(error);
    await showHUD(`${title}. ${cause} ${remedy}`.trim());
  }
}
