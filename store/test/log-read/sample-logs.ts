import fc from "fast-check";
import { encodeRecord } from "../../src/format/codec";
import { type Entry } from "../../src/format/schema";
import { message } from "../format/arbitraries";

const HEADER = encodeRecord({ type: "session", version: 1, id: "sample", timestamp: "2026-01-01T00:00:00.000Z" });

/** What one step of a generated session does; numbers pick among what is there. */
interface Step {
  kind: "message" | "custom_message" | "custom" | "remove" | "name" | "label" | "root";
  pick: number;
  message: unknown;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom("message", "message", "message", "custom_message", "custom", "remove", "name", "label", "root"),
  pick: fc.nat(1000),
  message,
});

/** Turns steps into the entries of a valid session with branches, removals and metadata. */
function toEntries(steps: readonly Step[]): Entry[] {
  const entries: Entry[] = [];
  for (const [index, { kind, pick, message: content }] of steps.entries()) {
    const parent = kind === "root" ? undefined : entries.at(pick % 3 === 0 ? pick % (entries.length || 1) : -1);
    const timestamp = "2026-01-01T00:00:01.000Z";
    const envelope = { id: `e${index}`, parentId: parent?.id ?? null, timestamp };
    const target = removable(entries, parent, pick);
    if (kind === "remove" && target !== undefined) {
      entries.push({ type: "message.removed", ...envelope, targetId: target });
    } else if (kind === "custom_message") {
      entries.push({ type: "custom_message", ...envelope, customType: "c", content: `note ${pick}`, display: true });
    } else if (kind === "custom") entries.push({ type: "custom", ...envelope, customType: "c", data: pick });
    else if (kind === "name") entries.push({ type: "session_info", ...envelope, name: `name ${pick}` });
    else if (kind === "label" && entries.length > 0) {
      const targetId = entries[pick % entries.length]?.id ?? "e0";
      entries.push({ type: "label", ...envelope, targetId, label: pick % 4 === 0 ? null : `label ${pick}` });
    } else entries.push({ type: "message", ...envelope, message: content } as Entry);
  }
  return entries;
}

/** A message on the ancestry of `parent`. */
function removable(entries: readonly Entry[], parent: Entry | undefined, pick: number): string | undefined {
  const candidates = ancestry(entries, parent?.id ?? null).filter(
    ({ type }) => type === "message" || type === "custom_message",
  );
  return candidates[pick % (candidates.length || 1)]?.id;
}

/** From the root to `leaf`, by looking everything up one by one. */
export function ancestry(entries: readonly Entry[], leaf: string | null): Entry[] {
  const path: Entry[] = [];
  for (let id = leaf; id !== null;) {
    const entry = entries.find((each) => each.id === id);
    if (entry === undefined) throw new Error("no such entry");
    path.unshift(entry);
    id = entry.parentId;
  }
  return path;
}

export interface SampleLog {
  entries: Entry[];
  records: Buffer[];
  bytes: Buffer;
}

export function toLog(entries: Entry[]): SampleLog {
  const records = [HEADER, ...entries.map(encodeRecord)];
  return { entries, records, bytes: Buffer.concat(records) };
}

export const sampleLog: fc.Arbitrary<SampleLog> = fc.array(step, { maxLength: 24 }).map(toEntries).map(toLog);
