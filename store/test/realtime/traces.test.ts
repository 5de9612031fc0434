import { replayTrace } from "../../src/realtime/replay";
import { judge } from "./judge";
import { loadTrace, loadTraces, observedTraces } from "./trace-files";

describe("recorded traces through the engine", () => {
  test.each(loadTraces())("$name ($expected.level): $expected.title", ({ lines, expected }) => {
    const document = replayTrace(lines);
    judge(document, expected);
    expect(document.checkpoints.map((checkpoint) => checkpoint.after_line)).toEqual(lines.map((line) => line.line));
  });
});

describe("what a third-party server really sent", () => {
  const replayed = (name: string) => replayTrace(loadTrace(name));
  const named = (part: string) => observedTraces().find((name) => name.endsWith(part)) ?? "";

  test("transcription without item ids in committed: arrival order, one gap, nothing invented", () => {
    const document = replayed(named("-transcription"));
    expect(document.messages.map((message) => message.text)).toEqual(["First recorded turn.", "Fourth recorded turn."]);
    expect(document.gaps.map((gap) => gap.reason)).toEqual(["transcription_failed"]);
    expect(document.skipped.map((skipped) => skipped.reason)).toEqual(["empty_transcript"]);
    expect(document.outcome).toBe("incomplete");
  });

  test("conversation: typed context is no message, the answer is", () => {
    const document = replayed(named("-conversation"));
    expect(document.messages.map(({ role, text, stopReason }) => ({ role, text, stopReason }))).toEqual([
      { role: "assistant", text: "Hello there, this is a reply.", stopReason: "stop" },
    ]);
    expect(document.gaps).toEqual([]);
  });

  test("the refusal of the beta interface ends the connection", () => {
    const document = replayed(named("-beta-header"));
    expect(document.messages).toEqual([]);
    expect(document.received).toBe(1);
    expect(document.capture_stopped).toEqual(["transport-lost"]);
    expect(document.outcome).toBe("incomplete");
  });
});
