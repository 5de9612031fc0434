import { isStoreError } from "@persyk/store";
import { errorCode } from "./error-code";

/** What mends a problem. Every kind has an action in the views and a button in a toast. */
export type Remedy =
  | { kind: "open-preferences" }
  | { kind: "open-privacy"; pane: "microphone" | "files" }
  | { kind: "open-sound-settings" }
  | { kind: "choose-microphone" }
  | { kind: "retry" }
  | { kind: "show-in-finder"; path: string }
  | { kind: "recover"; location: string }
  | { kind: "transcribe-again"; location: string }
  | { kind: "search-sessions" }
  | { kind: "none" };

/** Something that went wrong, as a person needs to hear it: what, why, and what to do. */
export interface Problem {
  code: string;
  /** Title Case; names the state. */
  title: string;
  cause: string;
  remedy: string;
  action: Remedy;
}

/** What the session host says about a failure or a warning. */
export interface Report {
  code: string;
  message: string;
  remedy?: string | undefined;
}

interface Face {
  title: string;
  action: Remedy | ((place: Place) => Remedy);
}

/** Where a problem is, when that is known. */
export interface Place {
  location?: string | undefined;
}

const finder = ({ location }: Place): Remedy =>
  location === undefined ? { kind: "retry" } : { kind: "show-in-finder", path: location };
const recover = ({ location }: Place): Remedy =>
  location === undefined ? { kind: "search-sessions" } : { kind: "recover", location };
const again = ({ location }: Place): Remedy =>
  location === undefined ? { kind: "search-sessions" } : { kind: "transcribe-again", location };

const microphone: Face = { title: "No Microphone Access", action: { kind: "open-privacy", pane: "microphone" } };
const keyRefused: Face = { title: "The Key Was Refused", action: { kind: "open-preferences" } };
const noInput: Face = { title: "No Input Device", action: { kind: "open-sound-settings" } };
const noSignal: Face = { title: "No Sound Arrives", action: { kind: "open-sound-settings" } };
const providerLost: Face = { title: "Transcription Is Interrupted", action: again };
const noEngine: Face = { title: "No Speech Engine", action: { kind: "open-preferences" } };
const diskFull: Face = { title: "The Disk Is Full", action: finder };

/** One row a code. A code that is not here still shows its own words. */
const faces: Readonly<Record<string, Face>> = {
  "permission-denied": microphone,
  "permission-restricted": microphone,
  "no-input-device": noInput,
  "device-lost": noInput,
  "device-changed": { title: "The Input Device Changed", action: { kind: "open-sound-settings" } },
  "device-fallback": { title: "Another Input Device Is Used", action: { kind: "choose-microphone" } },
  "silent-input": noSignal,
  "started-timeout": noSignal,
  "permission-lost": microphone,
  "low-disk": { title: "The Disk Is Almost Full", action: finder },
  "narrowband-bluetooth": { title: "Narrow-Band Bluetooth Sound", action: { kind: "open-sound-settings" } },
  "silence-limit": { title: "Ended After a Long Silence", action: { kind: "open-preferences" } },
  "max-duration": { title: "The Maximum Length Is Reached", action: { kind: "open-preferences" } },
  "max-size": { title: "The Largest File Size Is Reached", action: { kind: "retry" } },
  "sleep-timeout": { title: "The Mac Slept", action: { kind: "retry" } },
  "helper-missing": { title: "The Capture Helper Is Missing", action: { kind: "retry" } },
  "helper-not-executable": { title: "The Capture Helper Cannot Run", action: { kind: "retry" } },
  "devices-failed": { title: "The Input Devices Are Not Known", action: { kind: "retry" } },
  "devices-timeout": { title: "The Input Devices Are Not Known", action: { kind: "retry" } },
  "helper-died": { title: "The Capture Ended Early", action: recover },
  "wrong-cpu": { title: "The Helper Is for Another Mac", action: { kind: "none" } },
  "ready-timeout": { title: "The Capture Did Not Start", action: { kind: "retry" } },
  "ended-early": { title: "The Capture Did Not Start", action: { kind: "retry" } },
  "session-not-valid": { title: "The Session Is Read-Only", action: recover },
  backpressure: { title: "The Disk Is Too Slow", action: finder },
  "no-speech": { title: "No Speech Was Heard", action: { kind: "open-sound-settings" } },
  "no-engine": noEngine,
  invalid_api_key: keyRefused,
  "key-missing": { title: "No API Key", action: { kind: "open-preferences" } },
  insufficient_quota: { title: "The Account's Quota Is Used Up", action: again },
  rate_limit_exceeded: { title: "The Rate Limit Is Reached", action: again },
  model_not_found: { title: "Unknown Model", action: { kind: "open-preferences" } },
  beta_api_shape_disabled: { title: "The Server Does Not Fit", action: { kind: "open-preferences" } },
  "session-refused": { title: "The Server Refused the Settings", action: { kind: "open-preferences" } },
  redirected: { title: "The Server Moved", action: { kind: "open-preferences" } },
  "endpoint-invalid": { title: "The Server URL Is Wrong", action: { kind: "open-preferences" } },
  "provider-lost": providerLost,
  "connection-lost": providerLost,
  "not-answering": providerLost,
  "handshake-timeout": providerLost,
  unreachable: providerLost,
  session_expired: providerLost,
  "disk-full": diskFull,
  "quota-exceeded": { title: "The Disk Quota Is Used Up", action: finder },
  "write-failed": { title: "The Recording Cannot Be Written", action: finder },
  "file-too-large": { title: "The File Is Too Large", action: finder },
  "read-only": { title: "The Folder Is Read-Only", action: { kind: "open-preferences" } },
  "access-denied": { title: "No Access to the Folder", action: { kind: "open-privacy", pane: "files" } },
  "io-error": { title: "The Disk Reports an Error", action: finder },
  "host-died": { title: "The Recording Was Interrupted", action: recover },
  "host-not-started": { title: "The Recording Did Not Start", action: { kind: "retry" } },
  "asset-locked": { title: "The Recording Is Still Running", action: { kind: "retry" } },
  "capture-live": { title: "The Recording Is Still Running", action: { kind: "retry" } },
  "lock-busy": { title: "Another Program Is Writing", action: { kind: "retry" } },
  "lock-lost": { title: "Another Program Took Over", action: { kind: "retry" } },
  "not-found": { title: "No Such Session", action: { kind: "search-sessions" } },
  ambiguous: { title: "Two Sessions Have This ID", action: { kind: "search-sessions" } },
  "location-gone": { title: "The Session Is Gone", action: { kind: "search-sessions" } },
  "handle-revoked": { title: "The Session Was Replaced", action: { kind: "search-sessions" } },
  "session-not-authoritative": { title: "The Session Is Read-Only", action: finder },
  "recovery-refused": { title: "This Damage Is Not Repaired", action: finder },
  "asset-missing": { title: "The Recording Is Missing", action: finder },
  "asset-invalid": { title: "The Recording Is Damaged", action: finder },
  "already-removed": { title: "Already Removed", action: { kind: "none" } },
  unavailable: { title: "Not on This Mac", action: finder },
  "command-not-opened": { title: "The Command Did Not Open", action: { kind: "open-preferences" } },
};

/** The face of a report of the session host. */
export function problemOfReport(report: Report, place: Place = {}): Problem {
  const face = faces[report.code];
  const action = face === undefined ? { kind: "none" as const } : resolve(face, place);
  return {
    code: report.code,
    title: face?.title ?? "Something Went Wrong",
    cause: sentence(report.message),
    remedy: report.remedy === undefined ? "" : sentence(report.remedy),
    action,
  };
}

/** The face of a failure of the store, or of anything else that was thrown. */
export function problemOf(error: unknown, place: Place = {}): Problem {
  if (isStoreError(error)) {
    const location = place.location ?? error.place.location;
    return problemOfReport({ code: error.code, message: error.message, remedy: error.remedy }, { location });
  }
  const report = reportOf(error);
  if (report !== null) return problemOfReport(report, place);
  return {
    code: "internal",
    title: "Something Went Wrong",
    cause: sentence(error instanceof Error ? error.message : "The reason is not known"),
    remedy: "Try again.",
    action: { kind: "retry" },
  };
}

/** Errors of the host and the capture client carry the same three fields. */
function reportOf(error: unknown): Report | null {
  const code = errorCode(error);
  if (!(error instanceof Error) || code === null || !("remedy" in error)) return null;
  const { message, remedy } = error;
  return { code, message, ...(typeof remedy === "string" ? { remedy } : {}) };
}

function resolve({ action }: Face, place: Place): Remedy {
  return typeof action === "function" ? action(place) : action;
}

function sentence(text: string): string {
  const trimmed = text.trim();
  return trimmed === "" || /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

/** The label of the action that mends a problem; null when there is none. */
export function remedyTitle(remedy: Remedy): string | null {
  switch (remedy.kind) {
    case "open-preferences":
      return "Open Preferences";
    case "open-privacy":
      return remedy.pane === "microphone" ? "Open Microphone Settings" : "Open Files and Folders Settings";
    case "open-sound-settings":
      return "Open Sound Settings";
    case "choose-microphone":
      return "Choose Microphone…";
    case "retry":
      return "Try Again";
    case "show-in-finder":
      return "Show in Finder";
    case "recover":
      return "Recover Session";
    case "transcribe-again":
      return "Transcribe Again";
    case "search-sessions":
      return "Search Sessions";
    case "none":
      return null;
  }
}
