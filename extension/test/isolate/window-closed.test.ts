import { children } from "./isolate";
import { RecordingBench, until } from "./recording-fixture";
import { type Call } from "./protocol";

/** The moments after the launch at which the window is closed, in milliseconds. */
const MOMENTS = [0, 5, 40, 150, 400, 900];

const commands: Call[] = [
  { do: "no-view", command: "quick-record" },
  { do: "no-view", command: "copy-last-transcript" },
  { do: "view", command: "record" },
  { do: "view", command: "search-sessions" },
  { do: "view", command: "session-detail", arguments: { session: "nobody" } },
  { do: "view", command: "transcribe-audio-file" },
  { do: "view", command: "recording-status" },
  { do: "view", command: "choose-microphone" },
];

let bench: RecordingBench;
beforeEach(async () => {
  bench = new RecordingBench();
  await bench.start();
});
afterEach(() => bench.stop());

test.each(commands)("$command: whenever the window closes, nothing is left running that should not", async (call) => {
  for (const moment of MOMENTS) {
    const isolate = bench.isolate({ pace: 8 });
    const done = isolate.call(call).catch((error: Error) => error);
    await new Promise((resolve) => setTimeout(resolve, moment));
    await isolate.closeWindow();
    await done;
    expect(children().filter(({ zombie }) => zombie)).toEqual([]);
  }
  // A recording that was started goes on to its own end; its session is whole.
  await until("every recording has ended", () => bench.processes().length === 0);
  const inspect = bench.isolate();
  await inspect.call({ do: "view", command: "search-sessions" });
  await inspect.call({ do: "settled" });
  const text = await inspect.call<string>({ do: "text" });
  expect(text).not.toContain("Read-Only");
  expect(text).not.toContain("did not end properly");
  expect(children().filter(({ zombie }) => zombie)).toEqual([]);
});
