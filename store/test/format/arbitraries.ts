import fc from "fast-check";
import { type Entry, type EntryType, type JsonValue } from "../../src/format/schema";

/** Texts with everything that JSON has to be careful about; always well-formed. */
export const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.constantFrom("", "__proto__", '"\\/', "\u0000\u001f\n\r\t\b\f", "\u2028\u2029\ufeff", "😀e\u0301", "constructor"),
);

const nonEmpty = text.map((each) => `x${each}`);
const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/);
const count = fc.oneof(fc.nat(), fc.maxSafeNat(), fc.constantFrom(0, 1000, 1_767_225_600_000));
const time = fc.constantFrom("2026-01-01T00:00:00.000Z", "2024-02-29T23:59:59+05:30", "1999-12-31T00:00:00.1-11:00");

/** Any JSON value, own keys named `__proto__` included. */
export const json: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<JsonValue>(null, true, false, 0, -0.5, 1e21, 1e-7, 1000, 123456789012345680000),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value): JsonValue => (Object.is(value, -0) ? 0 : value)),
    text,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(text, tie("value")), { maxLength: 4 }).map(toObject),
  ),
})).value;

function toObject(members: [string, JsonValue][]): JsonValue {
  const object = {};
  for (const [key, value] of members) {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return object;
}

export const jsonObject = fc.array(fc.tuple(text, json), { maxLength: 5 }).map(toObject);

/** An object with some of its members left out. */
function some(members: Record<string, fc.Arbitrary<unknown>>, required: Record<string, fc.Arbitrary<unknown>>) {
  return fc.record({ ...members, ...required }, { requiredKeys: Object.keys(required) });
}

const range = fc.oneof(
  fc.constant({}),
  fc.tuple(fc.nat(), fc.integer({ min: 1, max: 1e6 })).map(([startMs, more]) => ({ startMs, endMs: startMs + more })),
);

const availableAsset = some(
  {
    byteRange: fc
      .tuple(fc.nat(), fc.integer({ min: 1, max: 1e6 }))
      .map(([start, more]) => ({ start, end: start + more })),
    encoding: nonEmpty,
    sha256: fc.stringMatching(/^[0-9a-f]{64}$/),
  },
  { status: fc.constant("available"), path: id.map((name) => `assets/${name}`), mimeType: fc.constant("audio/wav") },
);

const asset = fc.oneof(
  availableAsset,
  some({ source: jsonObject }, { status: fc.constant("missing"), reason: nonEmpty }),
);

const block = fc.oneof(
  some({ textSignature: text, later: json }, { type: fc.constant("text"), text }),
  some({ thinkingSignature: text, redacted: fc.boolean() }, { type: fc.constant("thinking"), thinking: text }),
  some(
    { thoughtSignature: text, namespace: text },
    { type: fc.constant("toolCall"), id: nonEmpty, name: nonEmpty, arguments: jsonObject },
  ),
  fc.record({ type: fc.constant("image"), asset }),
  fc
    .tuple(some({ recordingId: id }, { type: fc.constant("audio"), asset }), range)
    .map(([audio, ends]) => ({ ...audio, ...ends })),
  some({ anything: json }, { type: nonEmpty }),
);

const content = fc.array(block, { maxLength: 4 });
const usage = some({ input: count, cost: some({ total: count }, {}), future: json }, {});
const common = { api: nonEmpty, provider: nonEmpty, model: nonEmpty, usage, "x-later": json };

export const message = fc.oneof(
  some(common, { role: fc.constant("user"), content, timestamp: count }),
  some(
    { ...common, stopReason: fc.constantFrom("stop", "length", "toolUse", "error", "aborted"), errorMessage: text },
    { role: fc.constant("assistant"), content, timestamp: count },
  ),
  some(
    { ...common, details: json },
    {
      role: fc.constant("toolResult"),
      content,
      timestamp: count,
      toolCallId: nonEmpty,
      toolName: nonEmpty,
      isError: fc.boolean(),
    },
  ),
);

const gap = fc.tuple(fc.record({ reason: text }), range).map(([reason, ends]) => ({ ...reason, ...ends }));

const bodies: Record<EntryType, fc.Arbitrary<object>> = {
  message: fc.record({ message }),
  custom: fc.record({ customType: nonEmpty, data: json }),
  custom_message: some(
    { details: json },
    { customType: nonEmpty, content: fc.oneof(text, content), display: fc.boolean() },
  ),
  session_info: some({ name: text, archived: fc.boolean() }, {}),
  label: fc.record({ targetId: id, label: fc.option(text) }),
  model_change: some({ api: nonEmpty }, { provider: nonEmpty, modelId: nonEmpty }),
  api_connection: fc.record({
    connectionId: id,
    provider: nonEmpty,
    endpoint: nonEmpty,
    requestedModel: nonEmpty,
    api: nonEmpty,
    originId: id,
  }),
  realtime_event: some(
    {
      remoteEventId: nonEmpty,
      redactions: fc.array(fc.constantFrom("", "/a~1b", "/session/0/~0")),
      media: fc.array(fc.record({ path: fc.constant("/audio"), asset }), { maxLength: 2 }),
    },
    {
      connectionId: id,
      direction: fc.constant("incoming"),
      observation: fc.constant("received"),
      observedAt: time,
      sequence: count,
      payload: jsonObject,
    },
  ),
  "recording.started": fc.record({ recordingId: id, asset: availableAsset }),
  "recording.finished": some(
    { gaps: fc.array(gap, { maxLength: 2 }) },
    { recordingId: id, durationMs: count, outcome: fc.constantFrom("complete", "incomplete") },
  ),
  "recording.interrupted": some({ durationMs: count }, { recordingId: id, reason: nonEmpty }),
  "message.removed": fc.record({ targetId: id }),
};

/** A well-formed entry of any type, without regard to other entries. */
export const entry: fc.Arbitrary<Entry> = fc.oneof(
  ...Object.entries(bodies).map(([type, body]) =>
    fc
      .tuple(fc.record({ type: fc.constant(type), id, parentId: fc.option(id), timestamp: time }), body)
      .map(([envelope, rest]) => ({ ...envelope, ...rest }) as Entry),
  ),
);
