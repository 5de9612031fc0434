import { type Block, type Message } from "../../src/format/schema";
import { toContext } from "../../src/session/context";
import { type HistoryItem } from "../../src/session/history";
import { toChatMessages } from "../../src/session/targets/chat";
import { toRealtimeItems } from "../../src/session/targets/openai-realtime";
import { contextTargets, isContextTarget } from "../../src/session/targets/targets";

let counter = 0;

function item(message: Omit<Message, "timestamp">): HistoryItem {
  counter += 1;
  const envelope = { id: `e${counter}`, parentId: null, timestamp: "2026-01-01T00:00:01.000Z" };
  return { type: "message", ...envelope, message: { timestamp: counter, ...message } as Message };
}

const text = (value: string): Block => ({ type: "text", text: value });
const call = (id: string): Block => ({ type: "toolCall", id, name: "look_up", arguments: { q: id } });
const user = (...content: Block[]): HistoryItem => item({ role: "user", content });
const assistant = (...content: Block[]): HistoryItem => item({ role: "assistant", content });
const result = (toolCallId: string, value: string): HistoryItem =>
  item({
    role: "toolResult",
    content: [text(value)],
    toolCallId,
    toolName: "look_up",
    isError: false,
    details: { secret: "details" },
  } as unknown as Omit<Message, "timestamp">);
const note = (content: string | Block[]): HistoryItem => ({
  type: "custom_message",
  id: "note",
  parentId: null,
  timestamp: "2026-01-01T00:00:01.500Z",
  customType: "hint",
  content,
  display: false,
  details: { secret: "details" },
});

beforeEach(() => {
  counter = 0;
});

test("generic context keeps what a model may see, and nothing else", () => {
  const audio: Block = {
    type: "audio",
    asset: { status: "missing", reason: "lost" },
    startMs: 0,
    endMs: 5,
    later: "no",
  };
  const unknown: Block = { type: "hologram", frames: [1] };
  const history = [
    item({
      role: "user",
      content: [audio, unknown],
      model: "whisper",
      usage: { input: 1, later: 1, cost: { total: 2, later: 1 } },
      later: "no",
    } as never),
    result("call", "found"),
    note("in words"),
  ];
  const before = structuredClone(history);
  expect(toContext(history)).toEqual([
    {
      entryId: "e1",
      role: "user",
      model: "whisper",
      usage: { input: 1, cost: { total: 2 } },
      timestamp: 1,
      content: [{ type: "audio", asset: { status: "missing", reason: "lost" }, startMs: 0, endMs: 5 }, unknown],
    },
    {
      entryId: "e2",
      role: "toolResult",
      timestamp: 2,
      toolCallId: "call",
      toolName: "look_up",
      isError: false,
      content: [text("found")],
    },
    {
      entryId: "note",
      role: "custom",
      customType: "hint",
      timestamp: Date.parse("2026-01-01T00:00:01.500Z"),
      content: [text("in words")],
    },
  ]);
  expect(history).toEqual(before);
});

const conversation = (): HistoryItem[] => [
  user(text("Where?"), text("Tell me.")),
  assistant({ type: "thinking", thinking: "hm" }, text("Looking."), call("a"), call("b")),
  user(text("Take your time.")),
  result("b", "B"),
  result("a", "A"),
  assistant(text("Here.")),
  note("be brief"),
];

test("chat messages: results follow their calls at once", () => {
  expect(toChatMessages(toContext(conversation()))).toEqual({
    items: [
      { role: "user", content: "Where?\nTell me." },
      {
        role: "assistant",
        content: "Looking.",
        tool_calls: [
          { id: "a", type: "function", function: { name: "look_up", arguments: '{"q":"a"}' } },
          { id: "b", type: "function", function: { name: "look_up", arguments: '{"q":"b"}' } },
        ],
      },
      { role: "tool", tool_call_id: "a", content: "A" },
      { role: "tool", tool_call_id: "b", content: "B" },
      { role: "user", content: "Take your time." },
      { role: "assistant", content: "Here." },
      { role: "user", content: "be brief" },
    ],
    omitted: [{ entryId: "e2", reason: "unsupported-thinking" }],
  });
});

test("realtime items: in the order of the conversation", () => {
  expect(toRealtimeItems(toContext(conversation()))).toEqual({
    items: [
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "Where?" },
          { type: "input_text", text: "Tell me." },
        ],
      },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Looking." }] },
      { type: "function_call", call_id: "a", name: "look_up", arguments: '{"q":"a"}' },
      { type: "function_call", call_id: "b", name: "look_up", arguments: '{"q":"b"}' },
      { type: "message", role: "user", content: [{ type: "input_text", text: "Take your time." }] },
      { type: "function_call_output", call_id: "b", output: "B" },
      { type: "function_call_output", call_id: "a", output: "A" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Here." }] },
      { type: "message", role: "user", content: [{ type: "input_text", text: "be brief" }] },
    ],
    omitted: [{ entryId: "e2", reason: "unsupported-thinking" }],
  });
});

describe.each(Object.keys(contextTargets).filter(isContextTarget))("%s", (target) => {
  const convert = (history: HistoryItem[]) => contextTargets[target](toContext(history));

  test("drops results without a call, second results, and calls without a result, and says so", () => {
    const { items, omitted } = convert([
      result("early", "before its call"),
      assistant(call("early"), call("twice")),
      result("twice", "1"),
      result("twice", "2"),
      user(text("bye")),
    ]);
    expect(omitted).toEqual(
      expect.arrayContaining([
        { entryId: "e1", reason: "orphan-tool-result" },
        { entryId: "e2", reason: "unanswered-tool-call" },
        { entryId: "e4", reason: "repeated-tool-result" },
      ]),
    );
    expect(omitted).toHaveLength(3);
    expect(JSON.stringify(items)).toContain('"1"');
    expect(JSON.stringify(items)).not.toContain("before its call");
    expect(JSON.stringify(items)).not.toContain('"2"');
  });

  test("keeps what a response said that was cut short, but carries no call of it out", () => {
    const { items, omitted } = convert([
      item({ role: "assistant", content: [text("I was"), call("x")], stopReason: "aborted" } as never),
      result("x", "late"),
    ]);
    expect(JSON.stringify(items)).toContain("I was");
    expect(JSON.stringify(items)).not.toContain("late");
    expect(omitted.map(({ reason }) => reason).sort()).toEqual(["orphan-tool-result", "unanswered-tool-call"]);
  });

  test("leaves out what it cannot take, each type once, and empty messages", () => {
    const image: Block = { type: "image", asset: { status: "missing", reason: "lost" } };
    const { items, omitted } = convert([user(image, image, { type: "hologram" }), user(text("")), user()]);
    expect(items).toEqual([]);
    expect(omitted).toEqual([
      { entryId: "e1", reason: "unsupported-image" },
      { entryId: "e1", reason: "unsupported-hologram" },
      { entryId: "e1", reason: "empty-message" },
      { entryId: "e2", reason: "empty-message" },
      { entryId: "e3", reason: "empty-message" },
    ]);
  });

  test("never sees details", () => {
    const { items } = convert([assistant(call("x")), result("x", "found"), note([text("n")])]);
    expect(JSON.stringify(items)).not.toContain("secret");
  });
});
