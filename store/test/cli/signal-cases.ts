/** A library on disk that every command has something to do with, and the command lines that are interrupted. */
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { project } from "../docs/generated";
import { LogText, wav, writeSession } from "../library/sessions";

export interface SignalCase {
  argv: readonly string[];
  stdin?: string;
  /** When nothing interrupts it; 0 when left out. */
  exitCode?: 1;
  /** Cannot be interrupted in the middle, because it has none: it is done when the signal is looked at. */
  isOneStep?: true;
  /** How a cancellation may leave the files: as they were, or with a part that is whole and that a second run completes. */
  leaves: "all or nothing" | "whole steps";
}

export const LONG_APPEND = 600;

export const signalCases: readonly SignalCase[] = [
  ...[
    ["search", "budget"],
    ["show", "talk"],
    ["context", "talk"],
    ["last"],
    ["doctor"],
    ["export", "talk", "--format", "svg"],
    ["export", "talk", "--format", "svg", "--out", "new.svg"],
    ["export", "talk", "--format", "svg", "--out", "old.svg", "--force"],
    ["recover", "torn", "--dry-run"],
    ["create"],
    ["rename", "talk", "Another name"],
    ["archive", "talk"],
    ["remove", "talk", "e3"],
    ["delete", "talk", "--yes"],
    ["realtime", "replay", "trace.jsonl"],
    ["event-log", "inspect", "--root", "agent", "--compression", "none", "--id", "torn-r"],
  ].map((argv) => ({ argv, leaves: "all or nothing" }) as const),
  ...[
    ["list"],
    ["wav", "inspect", "broken.wav"],
    ["wav", "recover", "broken.wav"],
    ["event-log", "list", "--root", "agent", "--compression", "none"],
    ["event-log", "recover", "--root", "agent", "--compression", "none", "--id", "torn-r"],
    ["event-log", "load", "--root", "agent", "--compression", "none", "--id", "torn-r"],
  ].map((argv) => ({ argv, isOneStep: true, leaves: "all or nothing" }) as const),
  { argv: ["recover", "torn"], leaves: "whole steps" },
  { argv: ["inspect", "torn"], exitCode: 1, leaves: "all or nothing" },
  { argv: ["append", "talk"], stdin: entries(LONG_APPEND), leaves: "whole steps" },
];

/** Entries with ids, so that appending them again adds what is missing. */
function entries(count: number): string {
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      type: "message",
      id: `new-${index}`,
      message: {
        role: "user",
        timestamp: 1_767_225_601_000 + index,
        content: [{ type: "text", text: `line ${index}` }],
      },
    }),
  );
  return `${lines.join("\n")}\n`;
}

export function makeLibrary(folder: string): void {
  const root = path.join(folder, "sessions");
  const talk = new LogText("talk", Date.parse("2026-03-01T10:00:00Z"));
  const asset = { status: "available", path: "assets/rec-1.wav", mimeType: "audio/wav" };
  talk.entry("recording.started", { recordingId: "rec-1", asset });
  talk.user([{ type: "text", text: "Remind me of the budget" }]);
  talk.message("assistant", "I will");
  talk.entry("recording.finished", { recordingId: "rec-1", durationMs: 4000, outcome: "complete" });
  const sound = wav(4000, [[500, 1500]]);
  writeFileSync(path.join(writeSession(root, "talk", talk), "assets/rec-1.wav"), sound);
  const torn = new LogText("torn", Date.parse("2026-01-02T00:00:00Z"));
  torn.entry("recording.started", { recordingId: "rec-2", asset: { ...asset, path: "assets/rec-2.wav" } });
  torn.user("The train leaves at nine");
  const location = writeSession(root, "torn", `${torn.toString()}{"type":"message","id":"e9","par`);
  const unended = Buffer.from(sound);
  unended.writeUInt32LE(0, 4);
  unended.writeUInt32LE(0, 40);
  writeFileSync(path.join(location, "assets/rec-2.wav"), unended);
  writeFileSync(path.join(folder, "broken.wav"), unended);
  writeFileSync(path.join(folder, "old.svg"), "an older picture");
  cpSync(path.join(project, "fixtures/realtime/36-reverse-300.jsonl"), path.join(folder, "trace.jsonl"));
  cpSync(path.join(project, "fixtures/event-log/06-raw-torn-tools/before"), path.join(folder, "agent"), {
    recursive: true,
  });
  mkdirSync(path.join(folder, "locks"));
}

export function environmentOf(folder: string): Record<string, string> {
  return {
    PERSYK_ROOT: path.join(folder, "sessions"),
    PERSYK_LOCK_DIRECTORY: path.join(folder, "locks"),
    HOME: folder,
    NO_COLOR: "1",
  };
}

/** Every file below a folder with its content; what locks leave lying is not looked at. */
export function contentOf(folder: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
    const file = path.join(folder, name);
    if (name === "locks" || name.startsWith(`locks${path.sep}`)) continue;
    files.set(name, statSync(file).isDirectory() ? "folder" : readFileSync(file, "latin1"));
  }
  return files;
}

/** The same without what differs from run to run: names that are random, times and ids in what was written. */
export function shapeOf(content: ReadonlyMap<string, string>): string[] {
  const random = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  return [...content].map(([name, text]) => `${name.replace(random, "random")} ${text.split("\n").length} lines`);
}
