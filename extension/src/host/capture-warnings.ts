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
