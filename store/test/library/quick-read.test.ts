import { readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { discoverCandidates, examine } from "../../src/library/discover";
import { QuickReader } from "../../src/library/quick-read";
import { openSession } from "../../src/session/session";
import { textOf } from "../../src/session/text";
import { LogText, temporaryFolder, writeSession } from "./sessions";

const root = temporaryFolder();
const reader = new QuickReader();

/** What the quick reader answers for a log, after holding the answer to what opening the session says. */
async function check(bytes: Buffer | string): Promise<"quick" | "left to the session"> {
  const location = writeSession(root, "one", typeof bytes === "string" ? Buffer.from(bytes) : bytes);
  const candidate = examine(location, []);
  if (candidate === null) throw new Error("expected a log");
  const quick = reader.read(candidate);
  if (quick === null) return "left to the session";
  const session = await openSession(location);
  const info = await session.info();
  const history = await session.history();
  expect({
    verdict: "valid",
    diagnostics: [],
    header: quick.header,
    leaf: quick.leaf,
    label: quick.label,
    archived: quick.archived,
    messages: quick.messages,
    recordings: quick.recordings,
    labels: [...quick.branchLabels],
    texts: [...quick.history()].map((entry) => [entry.id, textOf(entry)]),
  }).toEqual({
    verdict: session.verdict,
    diagnostics: session.diagnostics,
    header: session.header,
    leaf: session.leaf,
    label: info.label,
    archived: info.archived,
    messages: session.messageCount(),
    recordings: await session.recordings(),
    labels: [...info.branchLabels],
    texts: history.map((item) => [item.id, textOf(item)]),
  });
  await session.close();
  return "quick";
}

function rich(): LogText {
  const log = new LogText("rich");
  const asset = { status: "available", path: "assets/r.wav", mimeType: "audio/wav" };
  log.entry("recording.started", { recordingId: "r", asset });
  const first = log.user('a "quoted" text\nwith é and \\ in it');
  log.message("assistant", "an answer", first, { api: "realtime", provider: "p", model: "m" });
  log.remove(log.user("removed"));
  log.entry("label", { targetId: first, label: "marked" });
  log.entry("recording.finished", { recordingId: "r", durationMs: 10, outcome: "complete" });
  log.entry("session_info", { name: "Named", archived: true });
  return log;
}

describe("the quick reader agrees with opening the session", () => {
  test("on a log with everything in it", async () => {
    expect(await check(rich().toString())).toBe("quick");
  });

  test("on every stored case of the format", async () => {
    const fixtures = path.resolve(__dirname, "../../../fixtures/format/records.json");
    const cases = JSON.parse(readFileSync(fixtures, "utf8")) as {
      base64: string;
      expected: { authoritative: boolean };
    }[];
    const answers = new Map<string, number>();
    for (const { base64, expected } of cases) {
      const answer = await check(Buffer.from(base64, "base64"));
      if (answer === "quick") expect(expected.authoritative).toBe(true);
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
    expect(answers.get("quick")).toBeGreaterThan(10);
  });

  test("whatever byte is changed, dropped or added, and wherever the log is cut", async () => {
    const whole = Buffer.from(rich().toString());
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: whole.length - 1 }),
        fc.oneof(fc.constantFrom(0x22, 0x5c, 0x7b, 0x7d, 0x2c, 0x0a, 0x00, 0x31, 0x65, 0xff), fc.nat({ max: 255 })),
        fc.constantFrom("change", "drop", "add", "cut"),
        async (at, byte, kind) => {
          const before = whole.subarray(0, at);
          const after = whole.subarray(kind === "add" ? at : at + 1);
          await check(
            kind === "cut"
              ? before
              : kind === "drop"
                ? Buffer.concat([before, after])
                : Buffer.concat([before, Buffer.of(byte), after]),
          );
        },
      ),
      { numRuns: Number(process.env["PERSYK_ROUNDS"] ?? 600) },
    );
  });

  test("on messages that are nearly as writers spell them", async () => {
    const line = (rest: string, time = "2026-01-05T00:00:00Z"): string =>
      `{"type":"message","id":"e1","parentId":null,"timestamp":"${time}","message":{"role":"user",${rest}}}`;
    const header = new LogText("near").toString();
    const good = ['"timestamp":0,"content":[]', '"content":[{"type":"text","text":"x"}],"timestamp":12'];
    const odd = [
      '"timestamp":01,"content":[]',
      '"timestamp":-1,"content":[]',
      '"timestamp":1e3,"content":[]',
      '"timestamp":99999999999999999999,"content":[]',
      '"timestamp":0,"content":[{"type":"text","text":"\t"}]',
      '"timestamp":0,"timestamp":0,"content":[]',
      '"timestamp":0,"content":[{"type":"text","text":1}]',
      '"timestamp":0',
      '"content":[]',
      '"timestamp":0,"content":[],"api":""',
      '"timestamp":0,"content":null',
    ];
    for (const each of good) expect(await check(`${header}${line(each)}\n`)).toBe("quick");
    for (const each of odd) await check(`${header}${line(each)}\n`);
    for (const time of [
      "2026-02-30T00:00:00Z",
      "2026-13-01T00:00:00Z",
      "2026-01-31T00:00:00Z",
      "2026-01-05T24:00:00Z",
      "2026-01-05T00:00:60Z",
    ]) {
      await check(`${header}${line(good[0] ?? "", time)}\n`);
    }
    await check(`${header}${line(good[0] ?? "")}\r\n`);
    await check(`${header}${line(good[0] ?? "")}\n${line(good[0] ?? "")}\n`);
  });
});

test("discovery finds the folder that these tests write", async () => {
  const { sessions } = await discoverCandidates({ writeRoot: { path: root, explicit: true }, additional: [] });
  expect(sessions.map(({ location }) => path.basename(location))).toEqual(["one"]);
});
