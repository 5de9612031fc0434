import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { resetWorld, world, type World } from "../raycast-api/world";
import { bundleFolder } from "./bundles";

/** A folder of its own for each test file, with a sessions root that the preferences name. */
export function testFolder(): {
  folder: string;
  root: string;
  enter: (preferences?: Record<string, unknown>) => World;
} {
  const folder = mkdtempSync(path.join(os.tmpdir(), "persyk-commands-"));
  const root = path.join(folder, "sessions");
  mkdirSync(root);
  let count = 0;
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const enter = (preferences: Record<string, unknown> = {}) => {
    count += 1;
    resetWorld({
      supportPath: path.join(folder, `support-${count}`),
      assetsPath: path.join(bundleFolder(), "assets"),
    });
    world().preferences = { sessionsDirectory: root, ...preferences };
    return world();
  };
  return { folder, root, enter };
}

export interface Turn {
  role?: "user" | "assistant";
  text: string;
  startMs?: number;
  endMs?: number;
}

export interface SessionPlan {
  id: string;
  createdAt: string;
  turns?: readonly Turn[];
  name?: string;
  archived?: boolean;
  recording?: { durationMs: number; state: "finished" | "open"; gaps?: readonly object[]; outcome?: string };
  /** Bytes put behind the last line. */
  tail?: string;
}

/** Writes a session as it lies on disk, without the product's writer. */
export function writeSession(root: string, plan: SessionPlan): string {
  const location = path.join(root, plan.id);
  mkdirSync(path.join(location, "assets"), { recursive: true });
  const startMs = Date.parse(plan.createdAt);
  const lines: object[] = [{ type: "session", version: 1, id: plan.id, timestamp: plan.createdAt }];
  let parentId: string | null = null;
  const add = (type: string, fields: object): string => {
    const id = `${plan.id}-e${lines.length}`;
    const timestamp = new Date(startMs + lines.length * 1000).toISOString();
    lines.push({ type, id, parentId, timestamp, ...fields });
    parentId = id;
    return id;
  };
  const { recording } = plan;
  const recordingId = `${plan.id}-r`;
  const asset = { status: "available", path: `assets/${recordingId}.wav`, mimeType: "audio/wav" };
  if (recording !== undefined) {
    add("recording.started", { recordingId, asset });
    const complete = recording.state === "finished";
    writeFileSync(path.join(location, asset.path), tone(recording.durationMs, complete));
  }
  for (const { role = "user", text, startMs: from, endMs: to } of plan.turns ?? []) {
    const timed =
      from === undefined || recording === undefined
        ? []
        : [{ type: "audio", asset, recordingId, startMs: from, endMs: to }];
    const timestamp = startMs + lines.length * 1000;
    add("message", { message: { role, timestamp, content: [...timed, { type: "text", text }] } });
  }
  if (recording?.state === "finished") {
    const { durationMs, outcome = "complete", gaps } = recording;
    add("recording.finished", { recordingId, durationMs, outcome, ...(gaps === undefined ? {} : { gaps }) });
  }
  if (plan.name !== undefined || plan.archived !== undefined) {
    add("session_info", {
      ...(plan.name === undefined ? {} : { name: plan.name }),
      ...(plan.archived === undefined ? {} : { archived: plan.archived }),
    });
  }
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  writeFileSync(path.join(location, "session.jsonl"), text + (plan.tail ?? ""));
  return location;
}

/** 24 kHz mono PCM16 with a 440 Hz tone; an incomplete one claims no samples in its header. */
export function tone(durationMs: number, complete = true, amplitude = 8_000): Buffer {
  const frames = Math.round((durationMs / 1000) * 24_000);
  const bytes = Buffer.alloc(44 + frames * 2);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(complete ? bytes.length - 8 : 36, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(24_000, 24);
  bytes.writeUInt32LE(48_000, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(complete ? frames * 2 : 0, 40);
  for (let frame = 0; frame < frames; frame += 1) {
    bytes.writeInt16LE(Math.round(Math.sin((2 * Math.PI * 440 * frame) / 24_000) * amplitude), 44 + frame * 2);
  }
  return bytes;
}
