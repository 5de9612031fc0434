/** Changed logs of every kind, put to the reference and to this backend: the same are accepted, with the same events. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import * as zlib from "node:zlib";
import { isStoreError } from "../../src/errors";
import { type Compression } from "../../src/event-log/types";
import { backend, FIXTURES, freshRoot, onlyLog, sha256 } from "./support";
import { Reference, referenceOutcome } from "./reference";

const reference = new Reference();
afterAll(() => reference.close());

const RAW = readFileSync(onlyLog(join(FIXTURES, "03-raw-packed/before")));
const FRAMED = readFileSync(onlyLog(join(FIXTURES, "01-zstd-packed/before")));
const LINES = RAW.toString("utf8").trimEnd().split("\n");

/** Puts bytes where session "chunky" of /srv/alpha belongs. */
function rootWith(bytes: Buffer | string, compression: Compression): string {
  const root = freshRoot();
  const path = join(root, "--srv-alpha--/chunky", compression === "none" ? "session.jsonl" : "session.jsonl.zstd");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  return root;
}

type Verdict = { accepted: true; count: number; sha256: string } | { accepted: false; refusal: string };

async function theirs(root: string, compression: Compression): Promise<Verdict> {
  const mounted = await reference.mount(root, { compression });
  const outcome = await referenceOutcome(mounted.digest("inspect", "chunky"));
  await mounted.unmount();
  if ("ok" in outcome) return { accepted: true, count: outcome.ok.count, sha256: outcome.ok.sha256 };
  return { accepted: false, refusal: outcome.name };
}

async function ours(root: string, compression: Compression): Promise<Verdict> {
  try {
    const { events } = await backend(root, { compression }).inspect("chunky");
    return { accepted: true, count: events.length, sha256: sha256(JSON.stringify(events)) };
  } catch (error) {
    if (!isStoreError(error)) throw error;
    expect(error.place.location).toBeDefined();
    return { accepted: false, refusal: error.code };
  }
}

async function compare(bytes: Buffer | string, compression: Compression = "none"): Promise<Verdict> {
  const root = rootWith(bytes, compression);
  const [expected, actual] = [await theirs(root, compression), await ours(root, compression)];
  rmSync(root, { recursive: true });
  if (expected.accepted) expect(actual).toEqual(expected);
  else {
    expect(actual.accepted).toBe(false);
    if (!actual.accepted && expected.refusal === "SessionFormatUnsupportedError") {
      expect(actual.refusal).toBe("event-log-unsupported");
    }
  }
  return expected;
}

const withLines = (lines: readonly string[]): string => `${lines.join("\n")}\n`;
const appended = (...records: unknown[]): string =>
  withLines([...LINES, ...records.map((record) => JSON.stringify(record))]);
const headerWith = (change: Record<string, unknown>): string =>
  withLines([JSON.stringify({ ...JSON.parse(LINES[0] ?? ""), ...change }), ...LINES.slice(1)]);

/** Values of every JSON kind, for fields that must be something. */
const ODD = [null, 0, -1, 1.5, -0, "", "x", true, [], {}, [1], { kind: "x" }, 9007199254740992, "-1"];

describe("headers", () => {
  const fields = [
    "type",
    "version",
    "createdAt",
    "delegationDepth",
    "origin",
    "agentPreset",
    "parentSession",
    "seedLength",
  ];
  it.each(fields)("%s of every kind", async (field) => {
    for (const value of [...ODD, "session", "subagent", 3]) await compare(headerWith({ [field]: value }));
    await compare(headerWith({ [field]: undefined }));
  });

  it.each([
    { sandboxMode: 1 },
    { approvalPolicy: null },
    { future: {} },
    { id: 5 },
    { id: "" },
    { cwd: null },
    { cwd: "" },
  ])("%j", async (change) => {
    await compare(headerWith(change));
  });
});

describe("events", () => {
  const next = 39;
  const at = (type: string, data: unknown, more: Record<string, unknown> = {}): Record<string, unknown> => ({
    type,
    seq: next,
    time: 5,
    data,
    ...more,
  });
  const message = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
    id: "m",
    role: "user",
    source: { kind: "user" },
    content: [],
    ...more,
  });
  const result = (callId: unknown, more: Record<string, unknown> = {}): Record<string, unknown> => ({
    turn: 9,
    step: 1,
    message: message({
      source: { kind: "tool", callId },
      content: [{ type: "tool-result", toolCallId: callId, content: [] }],
    }),
    ...more,
  });

  it("envelopes of every kind", async () => {
    for (const value of ODD) {
      for (const field of ["type", "seq", "time", "ignorable", "surfaceOp", "sourceEventSeqs", "extra"]) {
        await compare(appended(at("todo/write", {}, { [field]: value })));
      }
    }
    for (const data of ODD) {
      for (const type of [
        "turn/start",
        "step/start",
        "tool/call",
        "step/end",
        "turn/end",
        "session/title",
        "request/header",
      ]) {
        await compare(appended(at(type, data)));
      }
    }
    await compare(appended({ type: "todo/write", seq: next, time: 1 }));
    await compare(appended(at("x/y", {}), at("turn/start", { turn: 1 })));
    await compare(appended(at("text-chunks", {}, { ignorable: true })));
  });

  it("messages and surfaces", async () => {
    const surface = { surfaceOp: "append" };
    for (const value of ODD) {
      for (const field of ["id", "role", "source", "content"]) {
        await compare(appended(at("user/message", message({ [field]: value }), surface)));
      }
      await compare(appended(at("user/message", message(), { surfaceOp: value })));
      await compare(appended(at("user/message", message(), { ...surface, sourceEventSeqs: value })));
      await compare(appended(at("user/message", message(), { ...surface, sourceEventSeqs: [value] })));
      await compare(appended(at("tool/result", result(value), surface)));
      await compare(appended(at("user/message", message(), { surfaceOp: { op: "replace", start: value, end: 1 } })));
    }
    const replace = (start: number, end: number, cited: unknown[], data: unknown = message()): unknown =>
      at("user/message", data, { surfaceOp: { op: "replace", start, end }, sourceEventSeqs: cited });
    await compare(appended(replace(1, 1, [1])));
    await compare(appended(replace(1, 28, [1])));
    await compare(appended(replace(1, 28, [1, 28])));
    await compare(appended(replace(1, 28, [1, 28, 28])));
    await compare(appended(replace(28, 1, [1, 28])));
    await compare(appended(replace(2, 28, [2, 28])));
    await compare(appended(at("assistant/message", null, surface)));
    const answer = {
      turn: 9,
      step: 1,
      message: message({ role: "assistant", source: { kind: "model", provider: "p", model: "m" } }),
    };
    await compare(appended(at("assistant/message", answer, { ...surface, sourceEventSeqs: [] })));
    await compare(
      appended(at("assistant/message", { ...answer, message: { ...answer.message, content: [null] } }, surface)),
    );
    await compare(
      appended(at("turn/start", { turn: 9 }), {
        ...at(
          "assistant/message",
          { ...answer, message: { ...answer.message, content: [5, "x", { type: "tool-call", id: "c" }] } },
          surface,
        ),
        seq: 40,
      }),
    );
    const original: unknown = JSON.parse(LINES.find((line) => line.includes('"tool/result"')) ?? "{}");
    const rewrite = {
      ...Object(original),
      seq: next,
      surfaceOp: { op: "replace", start: 30, end: 30 },
      sourceEventSeqs: [30],
    };
    await compare(appended(rewrite));
    await compare(appended({ ...rewrite, data: { ...rewrite.data, step: 7 } }));
    await compare(appended({ ...rewrite, surfaceOp: { op: "replace", start: 28, end: 28 }, sourceEventSeqs: [28] }));
  });

  it("request headers", async () => {
    const request = (header: unknown, reason: unknown = "initial"): string =>
      appended(at("request/header", { header, reason }));
    const config = { provider: "p", model: "m" };
    await compare(request({ config }));
    await compare(request({ config }, "fallback"));
    for (const value of ODD) {
      await compare(request({ config: { ...config, reasoningEffort: value } }));
      await compare(request({ config: { ...config, model: value } }));
      await compare(request({ config, adapterDefaults: value }));
      await compare(request({ config: { ...config, maxTokens: 5 }, adapterDefaults: { maxTokens: value } }));
    }
    await compare(request({ config, adapterDefaults: { reasoningEffort: true } }));
    await compare(request({ config: { ...config, x: 1 }, adapterDefaults: { x: true } }));
  });

  it("shapes of the first days", async () => {
    const surface = { surfaceOp: "append" };
    const source = { kind: "user" };
    await compare(appended(at("turn/start", { turn: 2, trigger: { kind: "user" } })));
    await compare(appended(at("turn/start", { turn: 0, trigger: { kind: "user" } })));
    await compare(appended(at("turn/start", { turn: 2, trigger: {} })));
    await compare(appended(at("steering/message", { turn: 2, content: [], source }, surface)));
    await compare(appended(at("steering/message", { turn: 2, message: message() }, surface)));
    await compare(appended(at("steering/message", { content: [], source }, surface)));
    await compare(appended(at("steering/message", null, surface)));
    await compare(appended(at("user/message", { content: [], source }, surface)));
    await compare(appended(at("user/message", { content: [], source, more: 1 }, surface)));
    await compare(
      appended(
        at("assistant/message", { turn: 1, step: 1, content: [], provenance: { provider: "p", model: "m" } }, surface),
      ),
    );
    await compare(appended(at("assistant/message", { turn: 1, step: 1, content: [], provenance: null }, surface)));
    const flat = { turn: 1, step: 1, callId: "c", content: [], isError: false };
    await compare(appended(at("tool/result", flat, surface)));
    await compare(
      appended(at("tool/result", flat, { surfaceOp: { op: "replace", start: 30, end: 30 }, sourceEventSeqs: [30] })),
    );
    const flatPair = [
      at("tool/result", flat, surface),
      {
        ...at("tool/result", { ...flat, content: [{ type: "text", text: "cut" }] }),
        seq: 40,
        surfaceOp: { op: "replace", start: 39, end: 39 },
        sourceEventSeqs: [39],
      },
    ];
    await compare(appended(...flatPair));
    const reasons: unknown[] = [
      { kind: "aborted" },
      { kind: "aborted", x: 1 },
      { kind: "aborted", reason: { kind: "user" } },
      { kind: "disposed" },
      { kind: "disposed", x: 1 },
      { kind: "error", step: 1, message: "m" },
      { kind: "error", step: 1, message: "m", code: "C" },
      { kind: "error", step: -1, message: "m" },
      { kind: "error", step: 1, failure: { message: "m", code: "c", status: 5 } },
      { kind: "error", step: 1, failure: { message: "m" } },
      { kind: "error", error: { message: "m", code: "c" } },
      { kind: "completed", x: 1 },
      { kind: "future" },
      { kind: "interrupted" },
      {},
      null,
    ];
    for (const reason of reasons) await compare(appended(at("turn/end", { turn: 2, reason })));
    await compare(appended(at("turn/end", { turn: 2, reason: { kind: "completed" }, x: 1 })));
    await compare(appended(at("mode/set", {})));
    await compare(appended(at("request/header-delta", {}, { ignorable: true })));
  });

  it("packed rows of every kind", async () => {
    const row = (more: Record<string, unknown>, data: Record<string, unknown> = {}, type = "text-chunks"): string =>
      appended({
        type,
        seq0: next,
        time0: 5,
        data: { turn: 1, step: 1, index: 0, dt: [1, -2], texts: ["a", "b", "c"], ...data },
        ...more,
      });
    await compare(row({}));
    await compare(row({}, { dt: [], texts: ["a"] }));
    for (const value of ODD) {
      for (const field of ["seq0", "time0", "data", "extra"]) await compare(row({ [field]: value }));
      for (const field of ["turn", "step", "index", "dt", "texts", "extra"]) await compare(row({}, { [field]: value }));
    }
    await compare(row({}, {}, "reasoning-chunks"));
    await compare(row({}, {}, "tool-call-chunks"));
    await compare(row({}, { texts: undefined, args: ["a", "b", "c"], id: "c" }, "tool-call-chunks"));
    await compare(row({}, { texts: undefined, args: ["a", "b", "c"], id: "c", name: "n" }, "tool-call-chunks"));
    await compare(row({}, { texts: undefined, args: ["a", "b", "c"], id: "c", name: 5 }, "tool-call-chunks"));
    await compare(row({ time0: Number.MAX_SAFE_INTEGER }));
    await compare(row({ seq0: Number.MAX_SAFE_INTEGER }));
  });

  it("open turns with calls in every state", async () => {
    const start = at("turn/start", { turn: 7 });
    const calls = (...ids: string[]): unknown => ({
      ...at(
        "assistant/message",
        {
          turn: 7,
          step: 2,
          message: message({
            role: "assistant",
            source: { kind: "model", provider: "p", model: "m" },
            content: ids.map((id) => ({ type: "tool-call", id, name: "n", arguments: "{}" })),
          }),
        },
        { surfaceOp: "append" },
      ),
      seq: 41,
    });
    const step = { ...at("step/start", { turn: 7, step: 2 }), seq: 40 };
    const call = { ...at("tool/call", { turn: 7, step: 2, callId: "b", name: "n", arguments: "{}" }), seq: 42 };
    const answered = { ...at("tool/result", result("a"), { surfaceOp: "append" }), seq: 43 };
    const all = [start, step, calls("a", "b", "c"), call, answered];
    for (let length = 1; length <= all.length; length += 1) await compare(appended(...all.slice(0, length)));
    await compare(appended(...all, { ...at("step/end", { turn: 7, step: 2 }), seq: 44 }));
    await compare(appended(...all, { ...at("turn/start", { turn: 8 }), seq: 44 }));
    await compare(appended(...all, { ...at("tool/code-dispatch-start", { subCallId: "z" }), seq: 44 }));
    await compare(appended({ ...start, data: {} }));
    await compare(appended({ ...start, data: { turn: null } }));
  });
});

describe("bytes", () => {
  it("lines that are no events, with and without a turn end after them", async () => {
    for (const bad of ["null", "5", '"x"', "[]", "{}", "{", "", " ", "true", '{"seq":39}', "\u0000"]) {
      const outcome = await compare(withLines([...LINES, bad]));
      // A null line is refused as damage; there it is a crash.
      if (bad === "null") expect(outcome.accepted).toBe(false);
      await compare(withLines([...LINES.slice(0, 5), bad, ...LINES.slice(5)]));
      await compare(withLines([...LINES.slice(0, 5), bad, ...LINES.slice(5, 10)]));
    }
    await compare(withLines(LINES).replaceAll("\n", "\r\n"));
    await compare(`\ufeff${withLines(LINES)}`);
    await compare("");
    await compare("\n");
    await compare(LINES[0] ?? "");
    const bytes = Buffer.from(withLines(LINES));
    bytes[bytes.indexOf("hello")] = 0xff;
    await compare(bytes);
  });

  it("a raw log cut anywhere", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: RAW.length }), async (length) => {
        const cut = RAW.subarray(0, length);
        // A whole last record without its line feed is kept here and dropped there.
        const isWhole = length > 0 && (RAW[length] === 10 || length === RAW.length);
        if (!isWhole) await compare(cut);
      }),
      { numRuns: 40 },
    );
  });

  it("a framed log cut anywhere", async () => {
    for (const length of [
      0, 1, 3, 4, 5, 6, 9, 103, 104, 105, 107, 108, 112, 798, 799, 802, 1210, 1211, 1213, 1488, 1491,
    ]) {
      await compare(FRAMED.subarray(0, length), "zstd");
    }
  });

  it("a flipped byte anywhere", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: FRAMED.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, by) => {
          const bytes = Buffer.from(FRAMED);
          bytes[at] = (bytes[at] ?? 0) ^ by;
          await compare(bytes, "zstd");
        },
      ),
      { numRuns: 40 },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: RAW.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, by) => {
          const bytes = Buffer.from(RAW);
          bytes[at] = (bytes[at] ?? 0) ^ by;
          if (at < RAW.length - 1) await compare(bytes);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("frames in every form", async () => {
    const frame = (text: string, options: zlib.ZstdOptions = {}): Buffer => zlib.zstdCompressSync(text, options);
    const header = frame(`${LINES[0]}\n`);
    const body = `${LINES.slice(1).join("\n")}\n`;
    const checksum = { params: { [zlib.constants.ZSTD_c_checksumFlag]: 1 } };
    await compare(Buffer.concat([header, frame(body)]), "zstd");
    await compare(Buffer.concat([header, frame(body, checksum)]), "zstd");
    await compare(Buffer.concat([header, ...[...body].map((unit) => frame(unit))].slice(0, 300)), "zstd");
    await compare(Buffer.concat([header, frame(body), frame("")]), "zstd");
    await compare(Buffer.concat([header, frame(""), frame(body)]), "zstd");
    await compare(Buffer.concat([frame(""), header, frame(body)]), "zstd");
    await compare(Buffer.concat([header, header]), "zstd");
    await compare(Buffer.concat([header, frame(body.slice(0, -5))]), "zstd");
    await compare(Buffer.concat([header, frame(`${body}{"torn`)]), "zstd");
    await compare(Buffer.concat([header, frame(body), Buffer.from([0x28])]), "zstd");
    await compare(Buffer.concat([header, frame(body), Buffer.from([0x28, 0xb5, 0x2f])]), "zstd");
    await compare(Buffer.concat([header, frame(body), Buffer.from([0x28, 0xb5, 0x2f, 0xfd])]), "zstd");
    await compare(Buffer.concat([header, frame(body), Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x18])]), "zstd");
    await compare(Buffer.concat([header, frame(body), Buffer.from("trailing")]), "zstd");
    const long = JSON.stringify({ type: "todo/write", seq: 39, time: 1, data: { text: "x".repeat(400_000) } });
    const big = frame(`${body}${long}\n`, checksum);
    for (const cut of [1, 4, 5, 20, 40])
      await compare(Buffer.concat([header, big.subarray(0, big.length - cut)]), "zstd");
  });
});
