import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parseTrace, type TraceLine } from "../../src/realtime/trace";

const FOLDER = join(__dirname, "../../../fixtures/realtime");

export interface Expected {
  trace: string;
  title: string;
  level: "must" | "should" | "policy";
  mode: "exact" | "constraints";
  strict: string[];
  messages: { conn: string; item: string; role: string; text: string; stopReason?: string }[];
  gaps: { conn: string; item?: string; response?: string }[];
  skipped: { conn: string; item: string }[];
  removed: { conn: string; item: string }[];
  provisional_at_stop: { conn: string; item: string; role: string; state: string }[];
  publish_checkpoints: { after_line: number; published: number }[];
  received: number;
  sends?: Record<string, number>;
  outcome: "complete" | "incomplete" | "any";
  finishing?: boolean;
  max_drain_ms?: number;
  constraints?: {
    order?: "ascending";
    no_duplicates?: boolean;
    must_include_first?: number;
    every_item_is_message_or_gap?: boolean;
    all_events_are_evidence?: boolean;
    capture_stops?: boolean;
    set?: string[];
    first?: string;
    prefix?: string[];
  };
}

export interface Trace {
  name: string;
  lines: TraceLine[];
  expected: Expected;
}

export function loadTraces(): Trace[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".expected.json"))
    .sort()
    .map((file) => {
      const name = file.replace(/\.expected\.json$/, "");
      const expected: Expected = JSON.parse(readFileSync(join(FOLDER, file), "utf8"));
      return { name, lines: loadTrace(name), expected };
    });
}

export function tracePath(name: string): string {
  return join(FOLDER, `${name}.jsonl`);
}

export function loadTrace(name: string): TraceLine[] {
  return parseTrace(readFileSync(tracePath(name), "utf8"));
}

export function observedTraces(): string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.startsWith("observed-") && name.endsWith(".jsonl"))
    .map((name) => name.replace(/\.jsonl$/, ""));
}
