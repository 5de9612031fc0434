// Raycast's builder compiles the capture helper for this import and puts it into the assets; nothing is imported.
import "swift:../swift";
import { quickRecord } from "./lib/quick-record";

/** Start, or stop and copy. */
export default function command(): Promise<void> {
  return quickRecord();
}

/** The session host runs outside Raycast, from this same bundle (assets/session-host.cjs). It starts when it is loaded. */
export function runHost(): Promise<unknown> {
  return import("./host/main");
}
