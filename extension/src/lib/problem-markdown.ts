import { plain } from "./markdown";
import { type Problem } from "./problems";

/** A problem that is all there is to show. */
export function problemMarkdown({ title, cause, remedy }: Problem): string {
  return [`# ${plain(title)}`, plain(cause), ...(remedy === "" ? [] : [plain(remedy)])].join("\n\n");
}

/** One line of warning above other content. */
export function warningMarkdown({ title, cause, remedy }: Problem): string {
  return `> **Warning: ${plain(title)}.** ${plain(`${cause} ${remedy}`.trim())}`;
}
