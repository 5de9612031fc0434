import {
  LiveView,
  type LiveFrame,
  type Style,
  formatElapsed,
  formatLevel,
  renderFrame,
} from "../../src/quickstart/live-view";

const plain: Style = { bold: (t) => t, dim: (t) => t, green: (t) => t, yellow: (t) => t };
const frame = (change: Partial<LiveFrame> = {}): LiveFrame => ({
  phase: "recording",
  elapsedMs: 3400,
  levelDb: -18,
  device: "File",
  saved: [],
  provisional: [],
  warnings: [],
  ...change,
});

const turns = (...texts: string[]): LiveFrame["saved"] => texts.map((text) => ({ entryId: `entry-${text}`, text }));

describe("live view", () => {
  test("formats elapsed time and level with a number beside the bar", () => {
    expect(formatElapsed(0)).toBe("00:00.0");
    expect(formatElapsed(61_250)).toBe("01:01.2");
    expect(formatLevel(-60)).toContain("silent");
    expect(formatLevel(-6)).toContain("-6 dB");
    expect(formatLevel(undefined)).not.toContain("dB");
  });

  test("tells saved and provisional text apart by words", () => {
    const lines = renderFrame(frame({ saved: turns("one"), provisional: ["two", ""] }), 80, plain);
    expect(lines.slice(1)).toEqual(["  saved          one", "  not yet saved  two", "  not yet saved  …"]);
  });

  test("wraps long text below its label and loses no word", () => {
    const text = Array.from({ length: 40 }, (_, i) => `word${i}`).join(" ");
    const lines = renderFrame(frame({ saved: turns(text) }), 60, plain).slice(1);
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.every((line) => line.length <= 60)).toBe(true);
    expect(lines.map((line) => line.slice(17)).join(" ")).toBe(text);
  });

  test("a terminal is redrawn in place; a pipe gets every saved text exactly once", () => {
    const written: string[] = [];
    const screen = (isTerminal: boolean) => ({
      isTerminal,
      width: () => 80,
      height: () => 24,
      write: (text: string) => void written.push(text),
    });
    const terminal = new LiveView(screen(true), plain);
    terminal.show(frame());
    terminal.show(frame({ saved: turns("one") }));
    expect(written[1]?.startsWith("\u001b[1A\u001b[0J")).toBe(true);
    written.length = 0;
    const pipe = new LiveView(screen(false), plain);
    pipe.show(frame({ provisional: ["on"] }));
    pipe.show(frame({ saved: turns("one"), elapsedMs: 3500 }));
    pipe.show(frame({ saved: turns("one", "two"), elapsedMs: 3600 }));
    const text = written.join("");
    expect(text.match(/saved {10}one/g)).toHaveLength(1);
    expect(text.match(/saved {10}two/g)).toHaveLength(1);
    expect(text.match(/not yet saved {2}on\n/g)).toHaveLength(1);
    expect(text).not.toContain("\u001b");
  });

  test("a pipe gets every turn of a long recording, though a frame has only the newest", () => {
    const written: string[] = [];
    const screen = {
      isTerminal: false,
      width: () => 80,
      height: () => 24,
      write: (text: string) => void written.push(text),
    };
    const view = new LiveView(screen, plain);
    const all = Array.from({ length: 450 }, (_, turn) => `turn ${turn}`);
    for (let count = 1; count <= all.length; count += 1)
      view.show(frame({ saved: turns(...all.slice(0, count).slice(-200)) }));
    const seen = [...written.join("").matchAll(/saved {10}(turn \d+)\n/g)].map((match) => match[1]);
    expect(seen).toEqual(all);
  });

  test("a terminal never draws more lines than it has, and keeps the newest", () => {
    const written: string[] = [];
    const screen = {
      isTerminal: true,
      width: () => 80,
      height: () => 10,
      write: (text: string) => void written.push(text),
    };
    new LiveView(screen, plain).show(
      frame({ saved: turns(...Array.from({ length: 40 }, (_, turn) => `turn ${turn}`)) }),
    );
    const lines = written.join("").trimEnd().split("\n");
    expect(lines).toHaveLength(9);
    expect(lines.at(-1)).toContain("turn 39");
    expect(lines[0]).toContain("recording");
  });
});
