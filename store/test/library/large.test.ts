import { execFileSync } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { buildSync } from "esbuild";
import { LogText, temporaryFolder, writeSession } from "./sessions";

/** The defaults keep the suite fast; a root of 10,000 sessions and a log of 3 GB are asked for in the environment. */
const SESSIONS = Number(process.env["PERSYK_LARGE_SESSIONS"] ?? 400);
const LOG_MB = Number(process.env["PERSYK_LARGE_MB"] ?? 48);

const folder = temporaryFolder();
const root = path.join(folder, "sessions");
const project = path.resolve(__dirname, "../../..");

/** One log with messages of 8 kB, written piece by piece. */
function writeLargeLog(): void {
  const log = new LogText("large", Date.parse("2027-01-01T00:00:00Z"));
  const location = writeSession(root, "large", log);
  const text = "many words about nothing much ".repeat(270);
  const count = Math.ceil((LOG_MB * 1e6) / text.length);
  // As long as a UUID: a part of a line that is as long would keep the whole line in memory.
  const idOf = (index: number): string => `m${String(index).padStart(35, "0")}`;
  let lines: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const said = index === count - 1 ? "the needle at the very end" : text;
    lines.push(
      `{"type":"message","id":"${idOf(index)}","parentId":${index === 0 ? "null" : `"${idOf(index - 1)}"`},"timestamp":"2027-01-01T00:00:00Z","message":{"role":"user","timestamp":1798761600000,"content":[{"type":"text","text":"${said}"}]}}`,
    );
    if (lines.length === 500 || index === count - 1) {
      appendFileSync(path.join(location, "session.jsonl"), `${lines.join("\n")}\n`);
      lines = [];
    }
  }
}

/** Of the program, in MB: less than the text; the index of a log takes about 100 bytes an entry of 8 kB. */
const HEAP_MB = Math.max(40, Math.ceil(LOG_MB / 16));

/** Runs a program over the library in a process whose heap cannot hold the text. */
function runInSmallHeap(code: string): unknown {
  const source = path.join(folder, "program.ts");
  const program = path.join(folder, "program.cjs");
  writeFileSync(
    source,
    `import { Library } from ${JSON.stringify(path.join(project, "store/src/index.ts"))};\n(async () => { const library = new Library({ writeRoot: process.argv[2] });\n${code}\n})();`,
  );
  buildSync({
    entryPoints: [source],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node22",
    nodePaths: [path.join(project, "node_modules")],
    logLevel: "error",
  });
  const out = execFileSync(process.execPath, ["--no-warnings", `--max-old-space-size=${HEAP_MB}`, program, root], {
    encoding: "utf8",
  });
  return JSON.parse(out);
}

describe(`${SESSIONS} sessions and a log of ${LOG_MB} MB`, () => {
  beforeAll(() => {
    for (let index = 0; index < SESSIONS; index += 1) {
      const log = new LogText(`s${index}`, Date.parse("2026-01-01T00:00:00Z") + index * 60_000);
      for (let message = 0; message < 10; message += 1)
        log.user(`message ${message} of session ${index} ${"x".repeat(2000)}`);
      writeSession(root, `s${index}`, log);
    }
    writeLargeLog();
  });

  test("are listed page by page and searched to the last word in a small heap", () => {
    const answer = runInSmallHeap(`
      let listed = 0, cursor = null;
      do { const page = await library.list({ limit: 100, cursor }); listed += page.sessions.length; cursor = page.cursor; } while (cursor !== null);
      const all = []; for await (const hit of library.searchStream("MESSAGE 9 OF SESSION")) all.push(hit.id);
      const end = (await library.search("needle at the very")).hits.map(({ id, excerpt }) => [id, excerpt.slice(-3)]);
      const none = (await library.search("not anywhere")).hits.length;
      console.log(JSON.stringify({ listed, hits: all.length, first: all[0], end, none }));
    `);
    expect(answer).toEqual({
      listed: SESSIONS + 1,
      hits: SESSIONS,
      first: `s${SESSIONS - 1}`,
      end: [["large", "end"]],
      none: 0,
    });
  });
});
