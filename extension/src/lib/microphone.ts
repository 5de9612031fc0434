import { LocalStorage } from "@raycast/api";
import * as z from "zod";
import { type InputDevice } from "../capture/devices";
import { parseJson } from "../capture/json-text";

/** What the microphone records from. */
export type MicrophoneChoice =
  | { kind: "follow-system" }
  /** The name is for the time when the device is not connected. */
  | { kind: "device"; uid: string; name: string };

export const followSystem: MicrophoneChoice = { kind: "follow-system" };

const KEY = "microphone";
const storedSchema = z.object({ uid: z.string().min(1), name: z.string() });

/** The stored choice; the system is followed where there is none, or none that can be understood. */
export async function readMicrophone(): Promise<MicrophoneChoice> {
  const text = await LocalStorage.getItem<string>(KEY);
  const stored = storedSchema.safeParse(text === undefined ? undefined : parseJson(text));
  return stored.success ? { kind: "device", ...stored.data } : followSystem;
}

/** Stores the choice for every recording from the next one on. */
export async function storeMicrophone(choice: MicrophoneChoice): Promise<void> {
  if (choice.kind === "follow-system") return LocalStorage.removeItem(KEY);
  await LocalStorage.setItem(KEY, JSON.stringify({ uid: choice.uid, name: choice.name }));
}

/** What the capture is asked for: a UID, or null to follow the system. */
export async function chosenDeviceUid(): Promise<string | null> {
  const choice = await readMicrophone();
  return choice.kind === "device" ? choice.uid : null;
}

/** One device that can be chosen. */
export interface MicrophoneRow {
  choice: Extract<MicrophoneChoice, { kind: "device" }>;
  /** How it is connected, in words; empty when that says nothing. */
  transport: string;
  state: "connected" | "system-default" | "not-connected";
  isChosen: boolean;
}

/** The connected devices in the helper's order, and the chosen one where it is not among them. */
export function microphoneRows(devices: readonly InputDevice[], choice: MicrophoneChoice): MicrophoneRow[] {
  const connected = devices.map(({ uid, name, transport = "", isDefault }): MicrophoneRow => ({
    choice: { kind: "device", uid, name: name === "" ? uid : name },
    transport: transportNames[transport] ?? "",
    state: isDefault ? "system-default" : "connected",
    isChosen: choice.kind === "device" && choice.uid === uid,
  }));
  if (choice.kind === "follow-system" || connected.some(({ isChosen }) => isChosen)) return connected;
  return [...connected, { choice, transport: "", state: "not-connected", isChosen: true }];
}

/** The helper's words for CoreAudio's transport types. */
const transportNames: Readonly<Record<string, string>> = {
  "built-in": "Built-in",
  usb: "USB",
  bluetooth: "Bluetooth",
  "bluetooth-le": "Bluetooth",
  thunderbolt: "Thunderbolt",
  firewire: "FireWire",
  pci: "PCI",
  hdmi: "HDMI",
  displayport: "DisplayPort",
  airplay: "AirPlay",
  avb: "AVB",
  aggregate: "Aggregate",
  "auto-aggregate": "Aggregate",
  virtual: "Virtual",
  "continuity-wired": "Continuity",
  "continuity-wireless": "Continuity",
};
