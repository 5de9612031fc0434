import { type AssetReader } from "../../src/assets/open-asset";
import { readWaveform } from "../../src/library/export/peaks";
import { exportSrt, exportVtt } from "../../src/library/export/subtitles";
import { exportSvg } from "../../src/library/export/svg";
import { exportMarkdown, exportText } from "../../src/library/export/text";
import { cut } from "../../src/library/export/xml";
import { type PlacedRecording, type Transcript, type Turn } from "../../src/library/transcript";
import { wellFormed } from "./well-formed";
import { wav } from "./sessions";

const turn = (
  index: number,
  text: string,
  range: [number, number] | null,
  role: Turn["role"] = "user",
  recordingId = "r1",
): Turn => ({
  entryId: `m${index}`,
  role,
  text,
  timestamp: "2026-01-01T00:00:00.000Z",
  range: range === null ? null : { recordingId, startMs: range[0], endMs: range[1] },
});

const recording = (
  recordingId: string,
  durationMs: number | null,
  offsetMs: number,
  gaps: PlacedRecording["gaps"] = [],
): PlacedRecording => ({
  recordingId,
  startedAt: "2026-01-01T00:00:00.000Z",
  state: durationMs === null ? "interrupted" : "finished",
  outcome: durationMs === null ? null : gaps.length > 0 ? "incomplete" : "complete",
  reason: durationMs === null ? "helper ended" : null,
  durationMs,
  asset: { status: "available", path: `assets/${recordingId}.wav`, mimeType: "audio/wav" },
  gaps,
  offsetMs,
  extentMs: durationMs ?? 0,
});

const transcript = (turns: Turn[], recordings: PlacedRecording[], label = "A talk"): Transcript => ({
  sessionId: "s",
  location: "/sessions/s",
  createdAt: "2026-01-01T00:00:00.000Z",
  label,
  leaf: "m1",
  turns,
  recordings,
});

const readerOf = (bytes: Buffer): AssetReader => ({
  size: bytes.length,
  read: async (start, end) => bytes.subarray(start, end),
  verify: async () => "unrecorded",
  close: async () => undefined,
});

describe("waveforms", () => {
  test("are loud where the sound is, and know their length", async () => {
    const waveform = await readWaveform(readerOf(wav(4000, [[1000, 2000]])));
    if (waveform === null) throw new Error("expected a waveform");
    expect(waveform.durationMs).toBe(4000);
    const at = (ms: number): number => waveform.levels[Math.floor((ms * waveform.levels.length) / 4000)] ?? 0;
    expect(at(500)).toBe(0);
    expect(at(1500)).toBeGreaterThan(0.3);
    expect(at(3000)).toBe(0);
  });

  test("reach the end of a file whose header never learned its length", async () => {
    const bytes = wav(3000, [[2500, 3000]]);
    bytes.writeUInt32LE(0, 40);
    bytes.writeUInt32LE(36, 4);
    const waveform = await readWaveform(readerOf(bytes));
    expect(waveform?.durationMs).toBe(3000);
    expect(waveform?.levels.at(-1)).toBeGreaterThan(0.3);
  });

  test("of something else are none", async () => {
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from("RIFFxxxxWAVE"),
      Buffer.from("no sound at all"),
      wav(10, []).subarray(0, 40),
    ]) {
      expect(await readWaveform(readerOf(bytes))).toBeNull();
    }
  });
});

describe("the picture", () => {
  const gap = { reason: "provider disconnected", startMs: 2000, endMs: 3000 };

  test("has the waveform in the speakers' colours, turns and gaps on one axis, in both schemes", async () => {
    const waveform = await readWaveform(readerOf(wav(4000, [[500, 1500]])));
    if (waveform === null) throw new Error("expected a waveform");
    const turns = [
      turn(1, "hello there", [500, 1500]),
      turn(2, "an answer", [3100, 3900], "assistant"),
      turn(3, "typed later", null),
    ];
    const svg = exportSvg(transcript(turns, [recording("r1", 4000, 0, [gap])]), new Map([["r1", waveform]]));
    wellFormed(svg);
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    expect(svg).toContain("prefers-color-scheme:dark");
    expect(svg).toContain('<path class="user" d="M');
    expect(svg).toContain('<path class="silent" d="M');
    expect(svg).toContain("Gap 0:02–0:03: provider disconnected");
    expect(svg).toContain("1 without a known time");
    for (const { text } of turns) expect(svg).toContain(text);
    expect(svg).not.toMatch(/<script|href=|NaN|undefined|Infinity/);
    const laneOf = (title: string): { x: number; width: number } => {
      const match = new RegExp(
        `${title}</title><rect class="\\w+ lane" x="([\\d.]+)" y="[\\d.]+" width="([\\d.]+)"`,
      ).exec(svg);
      return { x: Number(match?.[1]), width: Number(match?.[2]) };
    };
    const you = laneOf("1\\. You 0:00–0:01");
    const assistant = laneOf("2\\. Assistant 0:03–0:03");
    // 896 units are 4 s wide, from 32 on.
    expect(you.x).toBeCloseTo(32 + 896 / 8, 0);
    expect(assistant.x).toBeCloseTo(32 + (896 * 3.1) / 4, 0);
    expect(assistant.x + assistant.width).toBeLessThanOrEqual(32 + 896);
  });

  test("is well formed for any text, and for sessions without recordings, text, length or audio", () => {
    const nasty = `<b>&amp;"'</b>]]> \u0000\u0007\u001b[31m \ud83d\ude00 سلام 漢字 ${"long ".repeat(200)}`;
    const many = Array.from({ length: 40 }, (_unused, index) =>
      turn(index, `${index} ${nasty}`, [index * 10, index * 10 + 10]),
    );
    for (const each of [
      transcript([], [], ""),
      transcript([turn(1, nasty, null)], [], nasty),
      transcript(many, [recording("r1", null, 0)], nasty),
      transcript(many, [{ ...recording("r1", 0, 0), asset: { status: "missing", reason: nasty } }], nasty),
      transcript(
        [turn(1, "x", [0, 7_200_000])],
        [recording("r1", 7_200_000, 0, [{ reason: nasty, startMs: 1, endMs: 2 }, { reason: nasty }])],
      ),
    ]) {
      const svg = exportSvg(each, new Map());
      wellFormed(svg);
      expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    }
  });

  test("shows recordings one after another", async () => {
    const waveform = await readWaveform(readerOf(wav(1000, [])));
    if (waveform === null) throw new Error("expected a waveform");
    const turns = [turn(1, "first", [0, 500]), turn(2, "second", [0, 500], "user", "r2")];
    const svg = exportSvg(
      transcript(turns, [recording("r1", 1000, 0), recording("r2", 1000, 1000)]),
      new Map([
        ["r1", waveform],
        ["r2", waveform],
      ]),
    );
    expect(svg).toContain("1. You 0:00–0:00");
    expect(svg).toContain("2. You 0:01–0:01");
  });
});

describe("subtitles", () => {
  const turns = [
    turn(1, "  second line\n\nof two --> parts ", [61_500, 3_723_004]),
    turn(2, "first & <foremost>", [0, 999]),
    turn(3, "typed, without a time", null),
    turn(4, "", [5, 6]),
  ];
  const one = transcript(turns, [recording("r1", 4_000_000, 0)]);

  test("SRT has the turns with a known time, in order of time", () => {
    expect(exportSrt(one)).toBe(
      "1\n00:00:00,000 --> 00:00:00,999\nfirst & <foremost>\n\n2\n00:01:01,500 --> 01:02:03,004\nsecond line\nof two → parts\n",
    );
  });

  test("WebVTT escapes its markup", () => {
    expect(exportVtt(one)).toBe(
      "WEBVTT\n\n00:00:00.000 --> 00:00:00.999\nfirst &amp; &lt;foremost&gt;\n\n00:01:01.500 --> 01:02:03.004\nsecond line\nof two --&gt; parts\n",
    );
  });

  test("say who speaks when more than one does, and count recordings one after another", () => {
    const two = [
      turn(1, "question", [100, 200]),
      turn(2, "answer", [100, 200], "assistant", "r2"),
      turn(3, "lost", [1, 2], "user", "gone"),
    ];
    const text = exportSrt(transcript(two, [recording("r1", 1000, 0), recording("r2", 1000, 1000)]));
    expect(text).toBe(
      "1\n00:00:00,100 --> 00:00:00,200\nYou: question\n\n2\n00:00:01,100 --> 00:00:01,200\nAssistant: answer\n",
    );
  });

  test("without any known time are empty, not invented", () => {
    expect(exportSrt(transcript([turn(1, "text", null)], []))).toBe("");
    expect(exportVtt(transcript([turn(1, "text", null)], []))).toBe("WEBVTT\n");
  });
});

describe("text and Markdown", () => {
  test("plain text is what is copied", () => {
    expect(exportText(transcript([turn(1, " one ", null), turn(2, "", null), turn(3, "two", null)], []))).toBe(
      "one\ntwo\n",
    );
    expect(
      exportText(
        transcript([turn(1, "one", null), turn(2, "two", null, "assistant"), turn(3, "{}", null, "toolResult")], []),
      ),
    ).toBe("You: one\n\nAssistant: two\n");
    expect(exportText(transcript([], []))).toBe("");
  });

  test("Markdown takes no text for markup", () => {
    const markdown = exportMarkdown(
      transcript(
        [turn(1, "# no heading\n- no *list*\n1. <b>x</b>", [0, 1500])],
        [recording("r1", 2000, 0, [{ reason: "lost_it", startMs: 0, endMs: 100 }])],
        "a `label`",
      ),
    );
    expect(markdown).toContain("# a \\`label\\`\n");
    expect(markdown).toContain(
      "**You** (0:00.0 – 0:01.5)\n\n\\# no heading  \n\\- no \\*list\\*  \n1\\. \\<b\\>x\\</b\\>\n",
    );
    expect(markdown).toContain("## Gaps\n\n- 0:00.0 – 0:00.1: lost\\_it\n");
    expect(markdown).toContain("- Recording `assets/r1.wav`: 0:02.0, incomplete");
  });

  test("lines are cut at grapheme borders, wide characters counting two", () => {
    expect(cut("abc", 3)).toBe("abc");
    expect(cut("abcdef", 4)).toBe("abc…");
    expect(cut("漢字漢字", 5)).toBe("漢字…");
    expect(cut("漢字漢字", 4)).toBe("漢…");
    expect(cut("e\u0301e\u0301e\u0301", 2)).toBe("e\u0301…");
    expect(cut("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 4)).toBe("👩‍👩‍👧…");
  });
});
