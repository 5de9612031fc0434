import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { buildSync } from "esbuild";
import { replayTrace } from "../../src/realtime/replay";
import { loadTraces, tracePath } from "./trace-files";

/**
 * The engine and its replay as one script. A module of the platform in it would not be found, but for the one with which
 * the format's schema makes ids, and that the engine never calls.
 */
function bundleEngine(): string {
  const { outputFiles } = buildSync({
    stdin: {
      contents:
        'export { replayTrace } from "./src/realtime/replay"; export { parseTrace } from "./src/realtime/trace";',
      resolveDir: join(__dirname, "../.."),
      loader: "ts",
    },
    bundle: true,
    write: false,
    platform: "neutral",
    external: ["node:crypto"],
    mainFields: ["module", "main"],
    format: "iife",
    globalName: "realtime",
    target: "node22",
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
}

test("the engine needs no clock, chance, timer, socket or file: every trace comes out the same where there is none", () => {
  // A realm has the language alone; of the platform it gets the byte length of a text.
  const realm = createContext({
    Buffer: { byteLength: (text: string) => Buffer.byteLength(text) },
    require: () => ({}),
  });
  runInContext("delete globalThis.Date; delete Math.random;", realm);
  expect(runInContext("[typeof Date, typeof setTimeout, typeof process, typeof fetch]", realm).join()).toBe(
    "undefined,undefined,undefined,undefined",
  );
  runInContext(bundleEngine(), realm);
  const replay: (text: string) => string = runInContext(
    "(text) => JSON.stringify(realtime.replayTrace(realtime.parseTrace(text)))",
    realm,
  );
  for (const { name, lines } of loadTraces()) {
    const document: unknown = JSON.parse(replay(readFileSync(tracePath(name), "utf8")));
    expect(document).toEqual(JSON.parse(JSON.stringify(replayTrace(lines))));
  }
});
