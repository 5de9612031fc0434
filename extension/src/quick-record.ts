// Raycast's builder compiles the capture helper for this import and puts it into the assets; nothing is imported.
import "swift:../swift";
import { quickRecord } from "./lib/quick-record";

// What runs outside Raycast runs from this same bundle (assets/load-bundle.cjs).
export { runStandIn } from "./capture/stand-in-program";
export { runHost } from "./host/run";

/** Start, or stop and copy. */
export default function command(): Promise<void> {
  return quickRecord();
}
