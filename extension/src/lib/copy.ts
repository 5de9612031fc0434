import { Clipboard } from "@raycast/api";
import { type Settings } from "./settings";

/** Puts a transcript on the clipboard, out of its history when the preferences say so. */
export async function copyTranscript(text: string, { concealedCopy }: Pick<Settings, "concealedCopy">): Promise<void> {
  await Clipboard.copy(text, { concealed: concealedCopy });
}
