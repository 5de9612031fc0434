import { type JsonObject } from "../../src/format/schema";
import { type EngineAction } from "../../src/realtime/actions";
import { RealtimeEngine } from "../../src/realtime/engine";
import { MAX_ORDERED_ITEMS, MAX_ORDERED_TEXT_BYTES } from "../../src/realtime/limits";

const TRANSCRIPTION = "conversation.item.input_audio_transcription";

/** Kinds of traffic that the recorded traces leave out, in a few words each. */
class Talk {
  readonly engine = new RealtimeEngine();
  readonly actions: EngineAction[] = [];
  nowMs = 0;

  take(): this {
    this.actions.push(...this.engine.takeActions());
    return this;
  }
  at(nowMs: number): this {
    this.nowMs = nowMs;
    this.engine.advance(nowMs);
    return this.take();
  }
  receive(event: JsonObject, conn = "c1"): this {
    this.engine.receive(conn, event, this.nowMs);
    return this.take();
  }
  send(event: JsonObject, conn = "c1"): this {
    this.engine.observeSend(conn, event, false, this.nowMs);
    return this.take();
  }
  started(id: string): this {
    return this.receive({ type: "input_audio_buffer.speech_started", item_id: id, audio_start_ms: 0 });
  }
  committed(id: string, previous: string | null = null, conn = "c1"): this {
    return this.receive({ type: "input_audio_buffer.committed", item_id: id, previous_item_id: previous }, conn);
  }
  added(id: string, role: string, previous: string | null = null): this {
    const content = role === "user" ? [{ type: "input_audio", transcript: null }] : [];
    return this.receive({
      type: "conversation.item.added",
      previous_item_id: previous,
      item: { id, type: "message", role, content },
    });
  }
  completed(id: string, transcript = `${id}.`, conn = "c1"): this {
    return this.receive({ type: `${TRANSCRIPTION}.completed`, item_id: id, transcript }, conn);
  }
  response(id: string, status: string, output: JsonObject[] = [], more: JsonObject = {}): this {
    return this.receive({ type: "response.done", response: { id, status, output, ...more } });
  }
  stop(): this {
    this.engine.stop(this.nowMs);
    return this.take();
  }
  get texts(): string[] {
    return this.actions.flatMap((action) => (action.type === "publish" ? [action.turn.text] : []));
  }
  get gaps(): string[] {
    return this.actions.flatMap((action) =>
      action.type === "gap" ? [`${action.gap.itemId ?? action.gap.responseId ?? "-"}:${action.gap.reason}`] : [],
    );
  }
  get skips(): string[] {
    return this.actions.flatMap((action) =>
      action.type === "skip" ? [`${action.skipped.itemId}:${action.skipped.reason}`] : [],
    );
  }
  get isDrained(): boolean {
    return this.actions.some((action) => action.type === "drained");
  }
}

const answer = (id: string, text: string): JsonObject => ({
  id,
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
});

describe("order", () => {
  test("an item whose predecessor is announced later waits for it, and so does what hangs on it", () => {
    const talk = new Talk().committed("c", "b").completed("c").committed("d", "c").completed("d");
    expect(talk.texts).toEqual([]);
    talk.at(1_000).committed("b").completed("b");
    expect(talk.texts).toEqual(["b.", "c.", "d."]);
  });

  test("a predecessor that never comes is waited for two seconds, then the item goes to the end", () => {
    const talk = new Talk().committed("c", "ghost").completed("c").committed("d", null).at(1_999);
    expect(talk.texts).toEqual([]);
    talk.at(2_000).completed("d");
    expect(talk.texts).toEqual(["d.", "c."]);
    expect(talk.skips).toEqual(["ghost:unknown_predecessor"]);
    expect(talk.gaps).toEqual([]);
  });

  test("conversation.item.added overrules committed, a later committed does not overrule it back", () => {
    const talk = new Talk().committed("a").committed("b", "a").committed("c", "b").added("c", "user", "a");
    talk.committed("c", "b");
    talk.completed("c").completed("b").completed("a");
    expect(talk.texts).toEqual(["a.", "c.", "b."]);
  });

  test("what hangs on a moved item moves with it", () => {
    const talk = new Talk().committed("a").committed("x", "a").committed("b", "a").committed("b2", "b");
    talk.added("b", "user", "x");
    for (const id of ["b2", "b", "x", "a"]) talk.completed(id);
    expect(talk.texts).toEqual(["a.", "x.", "b.", "b2."]);
  });

  test("a retrieved item changes nothing", () => {
    const talk = new Talk().committed("a").completed("a", "Done.").committed("b", "a");
    talk.receive({
      type: "conversation.item.retrieved",
      item: { id: "a", type: "message", role: "user", content: [{ type: "input_audio", transcript: null }] },
    });
    talk.completed("b");
    expect(talk.texts).toEqual(["Done.", "b."]);
  });

  test("a later connection publishes only when the earlier one is closed, and its ids are its own", () => {
    const talk = new Talk();
    talk.engine.open("c1");
    talk.engine.open("c2");
    talk.committed("a").committed("a", null, "c2").completed("a", "second", "c2");
    expect(talk.texts).toEqual([]);
    talk.engine.transport("c1", { type: "close", code: 1006 }, 10);
    talk.take().completed("a", "late", "c1");
    expect(talk.texts).toEqual(["second"]);
    expect(talk.gaps).toEqual(["a:transport_closed"]);
    expect(talk.engine.outcome).toBe("incomplete");
  });

  test("an expired session closes what is open at once", () => {
    const talk = new Talk().committed("a").committed("b", "a").completed("b");
    talk.receive({ type: "error", error: { code: "session_expired", message: "Your session hit the limit." } });
    expect(talk.texts).toEqual(["b."]);
    expect(talk.gaps).toEqual(["a:session_expired"]);
    expect(talk.actions).toContainEqual({ type: "stop-capture", connectionId: "c1", reason: "transport-lost" });
  });

  test("cleared audio drops what was only reserved", () => {
    const talk = new Talk().started("r").committed("a").completed("a");
    const cleared = new Talk()
      .started("r")
      .receive({ type: "input_audio_buffer.cleared" })
      .committed("a")
      .completed("a");
    expect(talk.skips).toEqual(["r:absorbed_by_commit"]);
    expect(cleared.skips).toEqual(["r:cleared"]);
    expect(cleared.texts).toEqual(["a."]);
    expect(cleared.stop().isDrained).toBe(true);
    expect(cleared.engine.outcome).toBe("complete");
  });
});

describe("answers", () => {
  test("a response outside of the conversation is never published and blocks nothing", () => {
    const talk = new Talk().receive({ type: "response.created", response: { id: "r", conversation_id: null } });
    talk.receive({ type: "response.output_item.added", response_id: "r", item: answer("o", "") });
    talk
      .committed("a")
      .response("r", "completed", [answer("o", "aside")], { conversation_id: null })
      .completed("a");
    expect(talk.texts).toEqual(["a."]);
    expect(talk.stop().isDrained).toBe(true);
  });

  test("trailing items of a response that is over block nothing", () => {
    const talk = new Talk().response("r", "cancelled");
    talk.receive({ type: "response.output_item.added", response_id: "r", item: answer("late", "") });
    talk.added("late", "assistant").committed("a").completed("a");
    expect(talk.texts).toEqual(["a."]);
  });

  test("a second response.done is evidence", () => {
    const talk = new Talk().response("r", "completed", [answer("x", "One.")]);
    talk.response("r", "failed", [answer("x", "Two."), answer("y", "Three.")]);
    expect(talk.texts).toEqual(["One."]);
    expect(talk.gaps).toEqual([]);
  });

  test("a content filter gives an error stop, and text only from .done events counts", () => {
    const talk = new Talk();
    talk.receive({ type: "response.output_item.added", response_id: "r", item: answer("x", "") });
    talk.receive({ type: "response.output_text.delta", response_id: "r", item_id: "x", delta: "dropped" });
    talk.receive({
      type: "response.output_text.done",
      response_id: "r",
      item_id: "x",
      content_index: 0,
      text: "Kept.",
    });
    talk.response("r", "incomplete", [], { status_details: { reason: "content_filter" } });
    expect(talk.actions).toContainEqual(
      expect.objectContaining({
        type: "publish",
        turn: expect.objectContaining({ text: "Kept.", stopReason: "error" }),
      }),
    );
  });

  test("items of a client's own context are no messages", () => {
    const talk = new Talk().send({
      type: "conversation.item.create",
      item: { type: "message", role: "assistant", content: [{ type: "output_text", text: "earlier" }] },
    });
    talk.receive({ type: "conversation.item.added", previous_item_id: null, item: answer("ctx", "earlier") });
    talk.committed("a", "ctx").completed("a");
    expect(talk.texts).toEqual(["a."]);
    expect(talk.stop().isDrained).toBe(true);
  });

  test("an asked-for response that is refused is not waited for", () => {
    const refusal = { code: "conversation_already_has_active_response", message: "busy", event_id: null };
    const talk = new Talk()
      .send({ type: "response.create", event_id: "e1" })
      .receive({ type: "error", error: refusal });
    expect(talk.stop().isDrained).toBe(true);
    expect(talk.engine.outcome).toBe("complete");
  });
});

describe("stop", () => {
  test("the last words after the stop's commit are awaited", () => {
    const talk = new Talk().send({ type: "input_audio_buffer.commit", event_id: "e" }).stop();
    expect(talk.isDrained).toBe(false);
    talk.at(3_000).committed("a").at(5_000).completed("a", "last words");
    expect(talk.texts).toEqual(["last words"]);
    expect(talk.isDrained).toBe(true);
    expect(talk.engine.outcome).toBe("complete");
  });

  test("nothing is waited for beyond ten seconds, and what was asked for in vain is named", () => {
    const talk = new Talk()
      .send({ type: "input_audio_buffer.commit", event_id: "e" })
      .send({ type: "response.create" });
    talk
      .receive({ type: "response.created", response: { id: "r" } })
      .send({ type: "response.create" })
      .stop()
      .at(9_999);
    expect(talk.isDrained).toBe(false);
    talk.at(10_000);
    expect(talk.isDrained).toBe(true);
    expect(talk.gaps.sort()).toEqual(["-:commit_unanswered", "-:response_not_created", "r:unfinished"]);
    expect(talk.engine.outcome).toBe("incomplete");
  });
});

describe("removal", () => {
  const saved = () => new Talk().committed("a").completed("a").committed("ab", "a").completed("ab");

  test("without an answer the connection is given up after ten seconds and a late answer changes nothing", () => {
    const talk = saved().committed("b", "ab");
    talk.engine.requestRemoval("c1", "a", "e1", 0);
    talk.take().at(9_999);
    expect(talk.engine.isConnectionOpen("c1")).toBe(true);
    talk.at(10_000).receive({ type: "conversation.item.deleted", item_id: "a" });
    expect(talk.engine.isConnectionOpen("c1")).toBe(false);
    expect(talk.actions.map((action) => action.type)).not.toContain("remove");
    expect(talk.actions).toContainEqual({ type: "close", connectionId: "c1" });
    expect(talk.gaps).toEqual(["b:removal_timeout"]);
    expect(talk.engine.outcome).toBe("incomplete");
  });

  test("an id that only contains another one does not settle it", () => {
    const talk = saved();
    talk.engine.requestRemoval("c1", "a", "e1", 0);
    const error = {
      code: "item_delete_invalid_item_id",
      message: "the item with id 'ab' does not exist",
      event_id: null,
    };
    talk.take().receive({ type: "error", error });
    expect(talk.engine.requestRemoval("c1", "a", "e2", 0)).toEqual({ kind: "pending" });
    talk.receive({ type: "error", error: { ...error, event_id: "e1" } });
    expect(talk.actions).toContainEqual({
      type: "removal-ended",
      connectionId: "c1",
      itemId: "a",
      outcome: "rejected",
    });
  });

  test("a message of a closed connection is removed at once, and nothing is sent", () => {
    const talk = saved();
    talk.engine.transport("c1", { type: "close", code: 1000 }, 0);
    talk.take();
    talk.engine.open("c2");
    expect(talk.engine.requestRemoval("c1", "a", "e", 0)).toEqual({ kind: "local" });
    talk.take();
    expect(talk.actions.filter((action) => action.type === "request-removal")).toEqual([]);
    expect(talk.actions).toContainEqual({ type: "remove", connectionId: "c1", itemId: "a" });
  });
});

describe("bounds", () => {
  test("the item after the 256th is named as a gap and finishing is entered; the others are published", () => {
    const talk = new Talk();
    for (let n = 0; n < MAX_ORDERED_ITEMS; n += 1) talk.committed(`i${n}`, n === 0 ? null : `i${n - 1}`);
    expect(talk.actions).toEqual([]);
    talk.committed("over", `i${MAX_ORDERED_ITEMS - 1}`);
    expect(talk.gaps).toEqual(["over:order_limit"]);
    expect(talk.actions).toContainEqual({ type: "stop-capture", reason: "order-limit" });
    for (let n = MAX_ORDERED_ITEMS - 1; n >= 0; n -= 1) talk.completed(`i${n}`);
    talk.completed("over");
    expect(talk.texts).toEqual(Array.from({ length: MAX_ORDERED_ITEMS }, (_, n) => `i${n}.`));
  });

  test("text beyond 4 MiB that cannot be published is named as a gap; at the bound nothing is", () => {
    const part = "x".repeat(MAX_ORDERED_TEXT_BYTES / 8);
    const talk = new Talk().committed("head");
    for (let n = 0; n < 9; n += 1) talk.committed(`i${n}`, n === 0 ? "head" : `i${n - 1}`);
    for (let n = 0; n < 8; n += 1) talk.completed(`i${n}`, part);
    expect(talk.actions).toEqual([]);
    talk.completed("i8", "one more");
    expect(talk.actions).toEqual([{ type: "stop-capture", reason: "order-limit" }]);
    talk.completed("head");
    expect(talk.texts).toHaveLength(9);
    expect(talk.gaps).toEqual(["i8:order_limit"]);
  });

  test("a text that no record can hold is a gap, not a failure", () => {
    const talk = new Talk().committed("a").completed("a", "x".repeat(1_100_000)).committed("b", "a").completed("b");
    expect(talk.texts).toEqual(["b."]);
    expect(talk.gaps).toEqual(["a:text_too_large"]);
  });
});

describe("commits that a server does not name", () => {
  const nameless = { type: "input_audio_buffer.committed" };

  test("nothing is heard of one until the end: a gap, waited for as long as any open turn", () => {
    const talk = new Talk().receive(nameless).at(1_000).stop();
    expect(talk.isDrained).toBe(false);
    talk.at(11_000);
    expect(talk.gaps).toEqual(["-:commit_unanswered"]);
    expect(talk.engine.outcome).toBe("incomplete");
  });

  test.each<[string, (talk: Talk) => Talk]>([
    ["announced, then transcribed", (talk) => talk.receive(nameless).added("a", "user").completed("a")],
    ["transcribed without being announced", (talk) => talk.receive(nameless).completed("a")],
    ["reserved by its speech", (talk) => talk.started("a").receive(nameless).completed("a")],
    ["reserved and announced", (talk) => talk.started("a").receive(nameless).added("a", "user").completed("a")],
    ["transcribed before its commit", (talk) => talk.completed("a").receive(nameless)],
    ["announced and transcribed before it", (talk) => talk.added("a", "user").completed("a").receive(nameless)],
    ["transcribed twice", (talk) => talk.receive(nameless).completed("a").completed("a")],
  ])("%s: no gap", (_name, what) => {
    const talk = what(new Talk()).stop();
    expect(talk.texts).toEqual(["a."]);
    expect(talk.gaps).toEqual([]);
    expect(talk.isDrained).toBe(true);
    expect(talk.engine.outcome).toBe("complete");
  });

  test("two commits and one transcription: one gap", () => {
    const talk = new Talk().receive(nameless).receive(nameless).completed("a").stop().at(11_000);
    expect(talk.texts).toEqual(["a."]);
    expect(talk.gaps).toEqual(["-:commit_unanswered"]);
  });
});

describe("a lost connection", () => {
  const lost = (): Talk => {
    const talk = new Talk().committed("a").completed("a").committed("b", "a");
    talk.engine.transport("c1", { type: "close", code: 1006 }, talk.nowMs);
    return talk.take();
  };

  test("what it left open is a gap until a later one has heard it", () => {
    const talk = lost();
    expect(talk.gaps).toEqual(["b:transport_closed"]);
    expect(talk.actions.filter((action) => action.type === "gap")).toMatchObject([{ isOfLoss: true }]);
    expect(talk.engine.outcome).toBe("incomplete");
    talk.committed("b2", null, "c2").completed("b2", "b.", "c2");
    expect(talk.engine.outcome).toBe("incomplete");
    talk.engine.heardAgain("c1");
    expect(talk.stop().engine.outcome).toBe("complete");
    expect(talk.texts).toEqual(["a.", "b."]);
  });

  test("a gap of the later one, and a failed turn of its own, stay", () => {
    const talk = lost();
    talk.engine.heardAgain("c1");
    talk.receive({ type: "input_audio_buffer.committed", item_id: "x" }, "c2");
    talk.receive({ type: `${TRANSCRIPTION}.failed`, item_id: "x", error: { code: "c" } }, "c2");
    expect(talk.stop().engine.outcome).toBe("incomplete");
  });
});
