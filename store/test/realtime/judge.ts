import { type ReplayDocument } from "../../src/realtime/replay";
import { type Expected } from "./trace-files";

/** Holds a replay against what a trace expects. Gap reasons are words for people, so only the ids count. */
export function judge(actual: ReplayDocument, expected: Expected): void {
  expect(actual.received).toBe(expected.received);
  if (expected.mode === "exact") judgeExactly(actual, expected);
  else judgeConstraints(actual, expected);
  if (expected.outcome !== "any") expect(actual.outcome).toBe(expected.outcome);
  if (expected.finishing !== undefined) expect(actual.finishing).toBe(expected.finishing);
  for (const [type, count] of Object.entries(expected.sends ?? {})) expect(actual.sends[type] ?? 0).toBe(count);
  // Never more than the last checkpoint allows, also between two of them.
  for (const { after_line, published } of actual.checkpoints) {
    const allowed = expected.publish_checkpoints.filter((checkpoint) => checkpoint.after_line <= after_line).at(-1);
    if (expected.mode === "exact")
      expect({ after_line, published }).toEqual({
        after_line,
        published: Math.min(published, allowed?.published ?? 0),
      });
  }
}

function judgeExactly(actual: ReplayDocument, expected: Expected): void {
  // All fields are the decided behaviour; the ones that a trace calls strict leave no other reading.
  expect(actual.messages).toEqual(expected.messages);
  expect(actual.gaps.map(idOf)).toEqual(expected.gaps.map(idOf));
  expect(actual.removed).toEqual(expected.removed);
  expect(sorted(actual.skipped.map(idOf))).toEqual(sorted(expected.skipped.map(idOf)));
  expect(actual.provisional_at_stop).toEqual(expected.provisional_at_stop);
}

function judgeConstraints(actual: ReplayDocument, { constraints, messages }: Expected): void {
  const items = actual.messages.map((message) => message.item);
  const named = new Set([...items, ...actual.gaps.map((gap) => gap.item)]);
  if (constraints?.no_duplicates === true) expect(new Set(items).size).toBe(items.length);
  if (constraints?.order === "ascending") expect(items).toEqual(sorted(items));
  if (constraints?.must_include_first !== undefined) {
    const first = messages.slice(0, constraints.must_include_first).map((message) => message.item);
    expect(items.slice(0, first.length)).toEqual(first);
  }
  if (constraints?.every_item_is_message_or_gap === true) {
    expect(messages.filter((message) => !named.has(message.item))).toEqual([]);
  }
  if (constraints?.capture_stops === true) expect(actual.capture_stopped).not.toEqual([]);
  if (constraints?.set !== undefined) expect(sorted(items)).toEqual(sorted(constraints.set));
  if (constraints?.first !== undefined) expect(items[0]).toBe(constraints.first);
  if (constraints?.prefix !== undefined) expect(items.slice(0, constraints.prefix.length)).toEqual(constraints.prefix);
}

function idOf(value: { conn: string; item?: string; response?: string }): string {
  return `${value.conn}/${value.item ?? value.response ?? ""}`;
}

function sorted(values: readonly string[]): string[] {
  return [...values].sort();
}
