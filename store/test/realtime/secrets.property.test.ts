import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { StoreError, toErrorDocument } from "../../src/errors";
import { type JsonObject, type JsonValue } from "../../src/format/schema";
import { evidenceOfFrame } from "../../src/realtime/evidence";
import { sanitizeFrame } from "../../src/realtime/sanitize";
import { plainEndpoint, redactText } from "../../src/realtime/secrets";
import { Recording } from "./recording";

const rounds = { numRuns: Number(process.env.PERSYK_ROUNDS ?? 300) };

/** Unmistakable, so that finding none of them means something. */
const marker = fc.stringMatching(/^[A-Za-z0-9]{24}$/).map((text) => `PLANTED${text}`);

const secretKey = fc.constantFrom(
  "client_secret",
  "api_key",
  "apiKey",
  "API-Key",
  "x-api-key",
  "xi-api-key",
  "x-gladia-key",
  "Authorization",
  "Proxy-Authorization",
  "Cookie",
  "Sec-WebSocket-Protocol",
  "access_token",
  "refresh_token",
  "password",
  "secret",
  "token",
  "server_url",
  "sdp",
  "OpenAI-Safety-Identifier",
);
const queryKey = fc.constantFrom(
  "api_key",
  "apikey",
  "key",
  "token",
  "access_token",
  "jwt",
  "ephemeral_token",
  "client_secret",
  "authorization",
  "sig",
  "signature",
  "code",
);

/** A member that carries a secret, by its name or by what its text looks like. */
const planted = (secret: string): fc.Arbitrary<JsonObject> =>
  fc.oneof(
    secretKey.map((key): JsonObject => ({ [key]: secret })),
    secretKey.map((key): JsonObject => ({ [key]: { value: secret, list: [secret] } })),
    fc.constant<JsonObject>({ headers: { "X-Custom": secret, nested: { deeper: [secret] } } }),
    fc.constant<JsonObject>({ headers: secret }),
    fc.constant<JsonObject>({ value: `ek_${secret}`, expires_at: 1 }),
    queryKey.map((key): JsonObject => ({ url: `wss://api.example.com/v1/realtime?model=m&${key}=${secret}&x=1` })),
    fc.constant<JsonObject>({ url: `https://user:${secret}@example.com/path` }),
    fc
      .constantFrom("Bearer ", "Basic ", "Incorrect API key provided: ", "api_key=", "Authorization: Token ", "sk-")
      .map((prefix): JsonObject => ({
        type: "error",
        error: { code: "invalid_api_key", message: `It failed. ${prefix}${secret}`, param: null },
      })),
    fc.constant<JsonObject>({ detail: `realtime, openai-insecure-api-key.${secret}` }),
    fc.constant<JsonObject>({ detail: `eyJhbGciOi.${secret}.x` }),
    fc.constant<JsonObject>({ [`sk-${secret}`]: 1 }),
  );

/** The same member below other containers. */
const buried = (member: JsonObject): fc.Arbitrary<JsonObject> =>
  fc.array(fc.constantFrom("list", "object"), { maxLength: 6 }).map((path) => {
    let value: JsonValue = member;
    for (const kind of path) value = kind === "list" ? [1, value] : { inner: value };
    return { type: "some.event", session: value };
  });

const frames = marker.chain((secret) =>
  fc.record({
    secret: fc.constant(secret),
    members: fc.array(planted(secret).chain(buried), { minLength: 1, maxLength: 6 }),
  }),
);

describe("secrets", () => {
  test("are in no sanitized frame, and every pointer leads to what was redacted", () => {
    fc.assert(
      fc.property(frames, ({ secret, members }) => {
        for (const member of members) {
          const { frame, redactions } = sanitizeFrame(member);
          expect(JSON.stringify(frame)).not.toContain(secret);
          expect(redactions.length).toBeGreaterThan(0);
          for (const pointer of redactions) expect(resolve(frame, pointer)).not.toBeUndefined();
        }
      }),
      rounds,
    );
  });

  test("are in no wrapped form either: not JSON, no object, too deep, split surrogates", () => {
    fc.assert(
      fc.property(frames, ({ secret, members }) => {
        for (const member of members) {
          const text = JSON.stringify(member);
          const deep = `${'{"a":'.repeat(140)}${text}${"}".repeat(140)}`;
          for (const frame of [`[${text}]`, deep, JSON.stringify({ ...member, delta: "\ud83d" }), Buffer.from(text)]) {
            const evidence = evidenceOfFrame(frame);
            expect(JSON.stringify(evidence.payload)).not.toContain(secret);
            for (const media of evidence.media) expect(media.bytes.includes(secret)).toBe(false);
          }
        }
      }),
      rounds,
    );
  });

  test("are in no file of a session, in no snapshot and in no error, wherever they were planted", async () => {
    await fc.assert(
      fc.asyncProperty(frames, async ({ secret, members }) => {
        const recording = await Recording.begin([]);
        try {
          recording.keepSnapshots = true;
          const { recorder } = recording;
          await recorder.openConnection({
            connectionId: "c1",
            provider: "compatible",
            endpoint: `wss://me:${secret}@host.example/v1/realtime?api_key=${secret}#${secret}`,
            requestedModel: "m",
            api: "openai-realtime",
            originId: "o",
          });
          for (const member of members) {
            void recorder.observeReceived("c1", JSON.stringify(member));
            void recorder.observeReceived(
              "c1",
              `not json: ${JSON.stringify(member)}`.replace(/"type":"some.event",/, ""),
            );
            void recorder.observeSend("c1", member, { observation: "send_attempt" });
          }
          void recorder.observeReceived("c1", Buffer.concat([Buffer.from([0xff]), Buffer.from(`Bearer ${secret}`)]));
          recorder.addGap({ reason: `closed: Bearer ${secret}` });
          await recorder.transport("c1", { type: "close", code: 4000, reason: `sk-${secret}` });
          recording.beforeAppend = () => {
            throw new StoreError("io-error", { message: `cannot reach https://u:${secret}@host/` });
          };
          const failure = await recorder.stop({ durationMs: 1 }).then(
            () => undefined,
            (error: unknown) => error,
          );
          expect(failure).toBeInstanceOf(StoreError);
          recording.beforeAppend = () => undefined;
          await recorder.interrupt(`Authorization: Bearer ${secret}`);
          expect(JSON.stringify(recording.snapshots)).not.toContain(secret);
          expect(
            JSON.stringify(toErrorDocument(new StoreError("usage", { message: redactText(`sk-${secret}`) }))),
          ).not.toContain(secret);
          for (const file of filesIn(recording.folder)) expect(readFileSync(file).includes(secret)).toBe(false);
          await recording.entries();
        } finally {
          await recording.end();
        }
      }),
      { numRuns: Math.ceil(rounds.numRuns / 12) },
    );
  });
});

describe("what is no secret stays", () => {
  test("content that speaks of secrets is kept verbatim, and no pointer is noted", () => {
    const said = "The token is Bearer of news; password: swordfish, api_key=none, sk-ating and https://a:b@c/?key=1";
    const frame: JsonObject = {
      type: "conversation.item.input_audio_transcription.completed",
      event_id: "event_1",
      item_id: "item_1",
      transcript: said,
      logprobs: [{ token: "secret", logprob: -0.1 }],
      usage: { type: "tokens", total_tokens: 3, input_token_details: { text_tokens: 1 } },
    };
    expect(sanitizeFrame(frame)).toMatchObject({ frame, redactions: [] });
    const answer: JsonObject = {
      type: "response.done",
      response: { id: "resp_1", output: [{ id: "item_2", content: [{ type: "output_text", text: said }] }] },
    };
    expect(sanitizeFrame(answer)).toMatchObject({ frame: answer, redactions: [] });
    const ids = {
      session: { id: "sess_abc", expires_at: 1 },
      item_id: "item_abc",
      event_id: "event_abc",
      value: "plain",
    };
    expect(sanitizeFrame(ids)).toMatchObject({ frame: ids, redactions: [] });
  });

  test("frames without secrets survive the pass, an own __proto__ included", () => {
    const key = fc.oneof(fc.constantFrom("__proto__", "a/b", "a~b"), fc.stringMatching(/^[b-h]{1,6}$/));
    const json = fc.letrec<{ value: JsonValue }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom<JsonValue>(null, true, 1, -0.5, "plain", ""),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(key, tie("value"), { maxKeys: 3 }).map((value) => JSON.parse(JSON.stringify(value))),
      ),
    })).value;
    fc.assert(
      fc.property(json, (value) => {
        const text = JSON.stringify({ type: "x", value });
        expect(JSON.stringify(evidenceOfFrame(text).payload)).toBe(text);
      }),
      rounds,
    );
  });

  test("an endpoint keeps scheme, host and path", () => {
    expect(plainEndpoint("wss://u:p@host:8080/v1/realtime?key=1#f")).toBe("wss://host:8080/v1/realtime");
    expect(plainEndpoint("ws://localhost:1234/v1/realtime")).toBe("ws://localhost:1234/v1/realtime");
  });
});

function resolve(frame: JsonObject, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = frame;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    value =
      typeof value === "object" && value !== null
        ? Object.entries(value).find(([name]) => name === key)?.[1]
        : undefined;
  }
  return value;
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => statSync(path).isFile());
}
