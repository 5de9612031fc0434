import { type HostNotice } from "./state";

const warnings: ReadonlyMap<string, Omit<HostNotice, "code">> = new Map([
  [
    "silent-input",
    {
      message: "The input is digital silence: nothing is being heard.",
      remedy: "Check Raycast's microphone permission, then whether the lid is closed, the input is muted or virtual.",
    },
  ],
  [
    "low-disk",
    { message: "The disk is almost full.", remedy: "Free some space; the recording stops before it is lost." },
  ],
  [
    "narrowband-bluetooth",
    {
      message: "The Bluetooth microphone sends narrow-band sound.",
      remedy: "Choose the built-in microphone for better words.",
    },
  ],
  [
    "device-fallback",
    {
      message: "The chosen microphone is not connected, so the system's input is used.",
      remedy: "Connect it, or choose another.",
    },
  ],
  [
    "permission-lost",
    {
      message: "Microphone access was taken away.",
      remedy: "Allow Raycast in System Settings → Privacy & Security → Microphone.",
    },
  ],
]);

/** What a warning of the capture means to the user. */
export function warningOf(code: string): HostNotice {
  const known = warnings.get(code) ?? { message: "The capture reported a problem.", remedy: "Check the input device." };
  return { code, ...known };
}

const endNotices: ReadonlyMap<string, Omit<HostNotice, "code">> = new Map([
  [
    "disk-full",
    { message: "The recording ended because the disk is full.", remedy: "Free some space and record again." },
  ],
  [
    "device-lost",
    { message: "The recording ended because the input device is gone.", remedy: "Connect it and record again." },
  ],
  ["write-failed", { message: "The recording could not be written any further.", remedy: "Check the disk." }],
  [
    "max-duration",
    { message: "The recording reached its maximum length.", remedy: "Change the limit in the preferences." },
  ],
  ["max-size", { message: "The recording reached the largest size of a WAV file.", remedy: "Record again to go on." }],
  ["sleep-timeout", { message: "The recording ended because the computer slept.", remedy: "Record again to go on." }],
]);

/** What the end of a capture by itself means to the user; undefined for an end that was asked for. */
export function endNoticeOf(reason: string): HostNotice | undefined {
  const known = endNotices.get(reason);
  return known === undefined ? undefined : { code: reason, ...known };
}
