// Raycast's builder compiles the capture helper for this import and puts it into the assets; nothing is imported.
import "swift:../swift";
import { quickRecord } from "./lib/quick-record";

export { runHost } from "./host/main";

/** Start, or stop and copy. The session host runs from this same bundle (assets/session-host.cjs). */
export default function command(): Promise<void> {
  return quickRecord();
}
