import { writeFileSync } from "node:fs";
import path from "node:path";

/** How a helper misbehaves. */
export type Scenario =
  | "mute"
  | "never-starts"
  | "noisy"
  | "locked"
  | "denied"
  | "stubborn"
  /** After 5 s of its sound another device takes over, 700 ms later. */
  | "device-lost"
  /** Dies of SIGKILL at 2.65 s, of which its header claims 2 s and it has announced 2.6 s. */
  | "killed"
  | "disk-full"
  | "other-version"
  | "asks"
  | "asks-in-vain"
  | "bluetooth"
  | "absent-device";

/** Writes a program that speaks capture/1 in one fixed way; arguments: scenario, WAV with the sound. */
export function writeFakeHelper(folder: string): string {
  const file = path.join(folder, "fake-helper.cjs");
  writeFileSync(file, program);
  return file;
}

const program = `
const fs = require("node:fs");
const [scenario, input] = process.argv.slice(2);
let seq = 0;
const say = (type, fields = {}) => process.stdout.write(JSON.stringify({ v: 1, type, seq: ++seq, t: seq, ...fields }) + "\\n");
const sound = input && fs.existsSync(input) ? fs.readFileSync(input).subarray(44) : Buffer.alloc(96000);
let written = 0;
const header = () => {
  const h = Buffer.alloc(44);
  h.write("RIFF", 0); h.writeUInt32LE(36 + written, 4); h.write("WAVEfmt ", 8); h.writeUInt32LE(16, 16);
  h.writeUInt16LE(1, 20); h.writeUInt16LE(1, 22); h.writeUInt32LE(24000, 24); h.writeUInt32LE(48000, 28);
  h.writeUInt16LE(2, 32); h.writeUInt16LE(16, 34); h.write("data", 36); h.writeUInt32LE(written, 40);
  fs.writeSync(3, h, 0, 44, 0);
};
const chunk = (bytes) => {
  fs.writeSync(3, bytes, 0, bytes.length, 44 + written);
  say("chunk", { offset: 44 + written, bytes: bytes.length, captureMs: written / 48 });
  written += bytes.length;
};
const device = { uid: "one", name: "Microphone One", ...(scenario === "bluetooth" ? { transport: "bluetooth" } : {}) };
const finish = (reason, code = 0) => {
  header();
  say("synced", { dataBytes: written });
  say("finished", { reason, dataBytes: written, frames: written / 2, durationMs: written / 48, gaps: 0, overrunFrames: 0 });
  process.stdout.write("", () => process.exit(code));
};
if (scenario === "locked") process.exit(75);
if (scenario === "mute" || scenario === "stubborn") process.on("SIGTERM", () => scenario === "stubborn" && finish("signal"));
setInterval(() => {}, 1000);
// Not a line of the protocol: it only tells the test that SIGTERM is ignored from here on.
if (scenario === "mute") process.stdout.write("deaf\\n");
if (scenario !== "mute") {
  header();
  if (scenario === "noisy") process.stdout.write('not json\\n{"v":1,"type":"surprise","seq":1,"t":0}\\n"x"\\n' + "y".repeat(70000) + "\\n");
  const v = scenario === "other-version" ? { v: 2 } : {};
  const permission = scenario === "denied" ? "denied" : scenario.startsWith("asks") ? "undetermined" : "granted";
  say("ready", { helper: "fake", permission, device, format: { encoding: "pcm_s16le", rate: 24000, channels: 1 }, dataOffset: 44, ...v });
}
let isAnswered = false;
const start = () => {
  if (scenario === "never-starts" || scenario === "asks-in-vain") return;
  if (scenario === "asks" && !isAnswered) {
    isAnswered = true;
    return setTimeout(() => { say("permission", { status: "granted" }); start(); }, 400);
  }
  if (scenario === "bluetooth" && !isAnswered) {
    isAnswered = true;
    return setTimeout(start, 400);
  }
  say("started", { offset: 44, device });
  if (scenario === "device-lost") {
    chunk(sound.subarray(0, 5000 * 48));
    say("device", { change: "lost", device: null });
    say("gap", { atOffset: 44 + written, durationMs: 700, reason: "device-lost" });
    say("device", { change: "switched", device: { uid: "two", name: "Microphone Two" } });
    chunk(sound.subarray(5000 * 48));
    return finish("stop");
  }
  if (scenario === "killed") {
    for (let at = 0; at < 26; at += 1) {
      chunk(sound.subarray(at * 4800, (at + 1) * 4800));
      if (written === 96000) header();
    }
    fs.writeSync(3, sound, written, 2400, 44 + written);
    return process.kill(process.pid, "SIGKILL");
  }
  if (scenario === "absent-device") {
    chunk(sound.subarray(0, 4300 * 48));
    return finish("stop");
  }
  if (scenario === "disk-full") {
    chunk(sound.subarray(0, 4300 * 48));
    say("error", { code: "disk-full", fatal: true, message: "no space" });
    return finish("disk-full");
  }
  chunk(sound.subarray(0, 48000));
};
let rest = "";
process.stdin.on("data", (bytes) => {
  rest += bytes;
  for (let end; (end = rest.indexOf("\\n")) >= 0; rest = rest.slice(end + 1)) {
    const command = JSON.parse(rest.slice(0, end));
    if (command.type === "configure" && scenario === "absent-device") {
      say("result", { id: command.id, ok: false, code: "device-not-found" });
    }
    if (command.type === "start") start();
    if (command.type === "stop" && scenario !== "stubborn" && scenario !== "mute") finish("stop");
  }
});
process.stdin.on("end", () => scenario !== "stubborn" && scenario !== "mute" && finish("parent-exit"));
`;
