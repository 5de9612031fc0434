import fc from "fast-check";
import { type JsonObject } from "../../src/format/schema";
import { RealtimeEngine } from "../../src/realtime/engine";

const rounds = { numRuns: Number(process.env.PERSYK_ROUNDS ?? 300) };

interface Step {
  turn: number;
  event: JsonObject;
}

const committed = (turn: number): Step => ({
  turn,
  event: {
    type: "input_audio_buffer.committed",
    item_id: `i${turn}`,
    previous_item_id: turn === 0 ? null : `i${turn - 1}`,
  },
});
const ended = (turn: number, fails: boolean): Step => ({
  turn,
  event: fails
    ? { type: "conversation.item.input_audio_transcription.failed", item_id: `i${turn}` }
    : {
        type: "conversation.item.input_audio_transcription.completed",
        item_id: `i${turn}`,
        transcript: `text ${turn}`,
      },
});

/** Plays the steps and checks after each one that nothing is public before everything in front of it is closed. */
function play(steps: readonly Step[], count: number): { order: number[]; texts: string[]; gaps: string[] } {
  const engine = new RealtimeEngine();
  const order: number[] = [];
  const texts: string[] = [];
  const gaps: string[] = [];
  const take = (): void => {
    for (const action of engine.takeActions()) {
      if (action.type === "publish") {
        order.push(Number(action.turn.itemId.slice(1)));
        texts.push(action.turn.text);
      }
      if (action.type === "gap") {
        order.push(Number(action.gap.itemId?.slice(1)));
        gaps.push(action.gap.itemId ?? "");
      }
    }
  };
  const endedTurns = new Set<number>();
  for (const { turn, event } of steps) {
    engine.receive("c1", event, 0);
    if (event.type !== "input_audio_buffer.committed" && event.type !== "input_audio_buffer.speech_started")
      endedTurns.add(turn);
    take();
    for (const closed of order) {
      for (let before = 0; before <= closed; before += 1) expect(endedTurns.has(before)).toBe(true);
    }
  }
  engine.stop(0);
  engine.advance(20_000);
  take();
  expect(order).toHaveLength(count);
  return { order, texts, gaps };
}

const turns = fc.integer({ min: 1, max: 12 }).chain((count) =>
  fc.record({
    count: fc.constant(count),
    fails: fc.array(fc.boolean(), { minLength: count, maxLength: count }),
    announced: fc.shuffledSubarray(
      Array.from({ length: count }, (_, turn) => turn),
      { minLength: count, maxLength: count },
    ),
    ends: fc.shuffledSubarray(
      Array.from({ length: count }, (_, turn) => turn),
      { minLength: count, maxLength: count },
    ),
    mix: fc.array(fc.boolean(), { minLength: 2 * count, maxLength: 2 * count }),
  }),
);

/** Announcements and ends in their own orders, mixed; a turn ends after it was announced. */
function mixed(
  { announced, ends, mix, fails }: { announced: number[]; ends: number[]; mix: boolean[]; fails: boolean[] },
  announce: (turn: number) => Step,
): Step[] {
  const steps: Step[] = [];
  const known = new Set<number>();
  const open = [...ends];
  let next = 0;
  for (const takeEnd of mix) {
    const ready = open.findIndex((turn) => known.has(turn));
    if ((takeEnd || next >= announced.length) && ready !== -1) {
      const [turn] = open.splice(ready, 1);
      if (turn !== undefined) steps.push(ended(turn, fails[turn] === true));
    } else {
      const turn = announced[next];
      if (turn === undefined) continue;
      next += 1;
      known.add(turn);
      steps.push(announce(turn));
    }
  }
  for (const turn of open) steps.push(ended(turn, fails[turn] === true));
  return steps;
}

describe("any order of arrival", () => {
  test("gives the provider's order, never early, and every turn as a message or a gap", () => {
    fc.assert(
      fc.property(turns, (plan) => {
        const { order, texts, gaps } = play(mixed(plan, committed), plan.count);
        expect(order).toEqual(Array.from({ length: plan.count }, (_, turn) => turn));
        expect(texts).toEqual(order.filter((turn) => plan.fails[turn] !== true).map((turn) => `text ${turn}`));
        expect(gaps).toEqual(order.filter((turn) => plan.fails[turn] === true).map((turn) => `i${turn}`));
      }),
      rounds,
    );
  });

  test("keeps the order of speech when transcripts come before any commit", () => {
    fc.assert(
      fc.property(turns, (plan) => {
        const speech = (turn: number): Step => ({
          turn,
          event: { type: "input_audio_buffer.speech_started", item_id: `i${turn}` },
        });
        const spoken = { ...plan, announced: plan.announced.toSorted((a, b) => a - b) };
        const { order } = play(mixed(spoken, speech), plan.count);
        expect(order).toEqual(Array.from({ length: plan.count }, (_, turn) => turn));
      }),
      rounds,
    );
  });

  test("repeating any frame changes nothing", () => {
    fc.assert(
      fc.property(turns, fc.array(fc.nat({ max: 23 }), { maxLength: 10 }), (plan, repeats) => {
        const steps = mixed(plan, committed);
        const plain = play(steps, plan.count);
        const repeated = steps.flatMap((step, at) => [step, ...repeats.filter((n) => n === at).map(() => step)]);
        expect(play(repeated, plan.count)).toEqual(plain);
      }),
      rounds,
    );
  });

  test("any frames whatever never throw, never publish twice, and settle at the deadline", () => {
    const id = fc.constantFrom("a", "b", "c", "d");
    const type = fc.constantFrom(
      "input_audio_buffer.speech_started",
      "input_audio_buffer.committed",
      "input_audio_buffer.cleared",
      "conversation.item.added",
      "conversation.item.deleted",
      "conversation.item.input_audio_transcription.completed",
      "conversation.item.input_audio_transcription.delta",
      "conversation.item.input_audio_transcription.failed",
      "response.created",
      "response.output_item.added",
      "response.done",
      "error",
    );
    const item = fc.record({
      id,
      type: fc.constantFrom("message", "function_call"),
      role: fc.constantFrom("user", "assistant", "system"),
      content: fc.constantFrom([], [{ type: "input_audio" }], [{ type: "output_text", text: "t" }]),
    });
    const frame = fc.record(
      {
        type,
        item_id: id,
        previous_item_id: fc.option(id),
        item,
        transcript: fc.constantFrom("", "said"),
        delta: fc.string({ unit: "binary" }),
        response_id: fc.constantFrom("r1", "r2"),
        response: fc.record({
          id: fc.constantFrom("r1", "r2"),
          status: fc.constantFrom("completed", "failed", "cancelled", "incomplete"),
          conversation_id: fc.constantFrom(null, "conv"),
          output: fc.array(item, { maxLength: 2 }),
        }),
        error: fc.record({ code: fc.string(), message: fc.string(), event_id: fc.option(id) }),
      },
      { requiredKeys: ["type"] },
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(frame, fc.nat({ max: 900 })), { maxLength: 40 }), (frames) => {
        const engine = new RealtimeEngine();
        let nowMs = 0;
        for (const [source, waitMs] of frames) {
          const event: JsonObject = JSON.parse(JSON.stringify(source));
          nowMs += waitMs;
          engine.advance(nowMs);
          engine.receive("c1", event, nowMs);
        }
        engine.stop(nowMs);
        engine.advance(nowMs + 10_000);
        const actions = engine.takeActions();
        const published = actions.flatMap((action) => (action.type === "publish" ? [action.turn.itemId] : []));
        expect(new Set(published).size).toBe(published.length);
        expect(actions.at(-1)).toEqual({ type: "drained" });
        expect(engine.provisional).toEqual([]);
        expect(engine.orderedItems).toBe(0);
      }),
      rounds,
    );
  });
});
