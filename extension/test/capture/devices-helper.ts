import { writeFileSync } from "node:fs";
import path from "node:path";
import { type InputDevice } from "../../src/capture/devices";

export const builtIn: InputDevice = {
  uid: "BuiltInMicrophoneDevice",
  name: "MacBook Pro Microphone",
  transport: "built-in",
  rate: 48_000,
  channels: 1,
  isDefault: true,
};
export const usb: InputDevice = {
  uid: "AppleUSBAudioEngine:Røde:NT-USB:1",
  name: "Røde “NT-USB”",
  transport: "usb",
  rate: 44_100,
  channels: 2,
  isDefault: false,
};

export type HelperBehaviour =
  | { kind: "lists"; devices: readonly InputDevice[] }
  | { kind: "says"; text: string; exitCode?: number }
  /** Says nothing and does not end when it is asked to. */
  | { kind: "hangs" }
  | { kind: "floods" };

/** Writes a helper that answers `devices` in one fixed way, and gives its path. It notes how it was called beside it. */
export function writeDevicesHelper(folder: string, behaviour: HelperBehaviour): string {
  const file = path.join(folder, `helper-${behaviour.kind}.sh`);
  const lines = ["#!/bin/sh", `printf '%s\\n' "$*" >> '${callsOf(file)}'`, ...behaviourLines(file, behaviour)];
  writeFileSync(file, `${lines.join("\n")}\n`, { mode: 0o755 });
  return file;
}

/** Where a helper notes its arguments, a line for each time that it was started. */
export function callsOf(helper: string): string {
  return `${helper}.calls`;
}

function behaviourLines(file: string, behaviour: HelperBehaviour): string[] {
  switch (behaviour.kind) {
    case "lists": {
      const answer = { v: 1, type: "devices", devices: behaviour.devices };
      writeFileSync(`${file}.json`, `${JSON.stringify(answer)}\n`);
      return [`cat '${file}.json'`];
    }
    case "says":
      writeFileSync(`${file}.txt`, behaviour.text);
      return [`cat '${file}.txt'`, `exit ${behaviour.exitCode ?? 0}`];
    case "hangs":
      return ["trap '' TERM INT HUP", "while :; do sleep 1; done"];
    case "floods":
      return ["while :; do echo 'not an answer, again and again and again and again'; done"];
  }
}
