import { judge } from "./judge";
import { recordTrace } from "./recorder-replay";
import { loadTrace, loadTraces, observedTraces } from "./trace-files";

describe("recorded traces through the recorder into session files that inspect as valid", () => {
  test.each(loadTraces())("$name ($expected.level)", async ({ lines, expected }) => {
    // The file says nothing of what was passed over, nor of what was not saved.
    judge(await recordTrace(lines, expected.max_drain_ms), expected, { fields: ["messages", "gaps", "removed"] });
  });

  test.each(observedTraces())("%s: every frame once, nothing invented", async (name) => {
    const lines = loadTrace(name);
    const document = await recordTrace(lines);
    expect(document.received).toBe(lines.filter((line) => line.step.kind === "receive").length);
    expect(document.outcome).toBe("incomplete");
  });
});
