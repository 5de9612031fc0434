import { type ReplayDocument } from "../../src/realtime/replay";
import { type Expected } from "./trace-files";

/** Holds a replay against what a trace expects. Gap reasons are words for people, so only the ids count. */
export function judge(
  actual: ReplayDocument,
  expected: Expected,
  { fields }: { fields: readonly string[] } = {
    fields: ["messages", "gaps", "removed", "skipped", "provisional_at_stop"],
  },
): void {
  expect(actual.received).toBe(expected.received);
  if (expected.mode === "exact") judgeExactly(actual, expected, fields);
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

/** All fields are the decided behaviour; the ones that a trace calls strict leave no other reading. */
function judgeExactly(actual: ReplayDocument, expected: Expected, fields: readonly string[]): void {
  const comparable = (
    document: Pick<Expected, "messages" | "gaps" | "removed" | "skipped" | "provisional_at_stop">,
  ) => ({
    messages: document.messages,
    gaps: document.gaps.map(idOf),
    removed: document.removed,
    skipped: sorted(document.skipped.map(idOf)),
    provisional_at_stop: document.provisional_at_stop,
  });
  const chosen = (all: ReturnType<typeof comparable>) =>
    Object.fromEntries(Object.entries(all).filter(([field]) => fields.includes(field)));
  expect(chosen(comparable(actual))).toEqual(chosen(comparable(expected)));
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
