import { children, type Isolate } from "./isolate";
import { RecordingBench, until, words } from "./recording-fixture";

let bench: RecordingBench;
beforeEach(async () => {
  bench = new RecordingBench();
  await bench.start();
});
afterEach(() => bench.stop());

const quick = { do: "no-view", command: "quick-record" } as const;
const messages = () => bench.records().filter((record) => record["type"] === "message").length;

test("one key starts, the window closes, the same key stops and copies what was said", async () => {
  const first = bench.isolate({ pace: 8 });
  await first.call(quick);
  const started = await first.world();
  expect(started.huds[0]).toMatch(/^Listening/);
  expect(started.windowClosed).toBe(true);
  expect(started.launches).toContain("recording-status");
  await first.closeWindow();
  // The recording goes on without the command that started it, and it is nobody's child here.
  await until("all three sentences are saved", () => messages() === 3);
  expect(children().filter(({ zombie }) => zombie)).toEqual([]);
  const second = bench.isolate();
  await second.call(quick);
  const stopped = await second.world();
  expect(stopped.clipboard).toEqual([words.join("\n")]);
  expect(stopped.huds[0]).toMatch(/^Copied .* of speech$/);
  await second.closeWindow();
  await until("the host has ended", () => bench.processes().length === 0);
  expect(bench.records().map((record) => record["type"])).toContain("recording.finished");
});

test("a recording that ends by itself is copied by the next press, and only then", async () => {
  const first = bench.isolate({ pace: 8 });
  await first.call(quick);
  await first.closeWindow();
  await until("it has ended", () => bench.records().some((record) => record["type"] === "recording.finished"));
  await until("the host has ended", () => bench.processes().length === 0);
  const second = bench.isolate();
  await second.call(quick);
  expect((await second.world()).clipboard).toEqual([words.join("\n")]);
  await second.closeWindow();
  expect(bench.locations()).toHaveLength(1);
});

test("without copying on stop, the clipboard is left alone and the words are said to be saved", async () => {
  const preferences = { copyOnStop: false };
  const first = bench.isolate({ pace: 8, preferences });
  await first.call(quick);
  await until("all three sentences are saved", () => messages() === 3);
  const second = bench.isolate({ preferences });
  await second.call(quick);
  const { clipboard, huds } = await second.world();
  expect(clipboard).toEqual([]);
  expect(huds[0]).toMatch(/^Saved /);
});

test("what needs a button is shown in Record: no key, no server", async () => {
  const command = bench.isolate({ preferences: { provider: "openai" } });
  await command.call(quick);
  const { launches, huds } = await command.world();
  expect(launches).toEqual(["record"]);
  expect(huds).toEqual([]);
  expect(bench.locations()).toEqual([]);
  const view: Isolate = bench.isolate({ preferences: { provider: "openai" } });
  await view.call({ do: "view", command: "record" });
  await view.call({ do: "until", text: "No API Key" });
});

test("Copy Last Transcript during a recording never takes words that may still change", async () => {
  const first = bench.isolate({ pace: 8 });
  await first.call(quick);
  await until("something is saved", () => messages() > 0);
  const copy = bench.isolate();
  await copy.call({ do: "no-view", command: "copy-last-transcript" });
  const [text] = (await copy.world()).clipboard;
  const whole = words.join("\n");
  expect(words.some((_word, at) => text === words.slice(0, at + 1).join("\n"))).toBe(true);
  expect(whole.startsWith(text ?? "nothing")).toBe(true);
});
