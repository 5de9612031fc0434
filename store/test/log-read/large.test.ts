import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildSync } from "esbuild";

const RECORD_BYTES = 1_048_576;
const RECORDS = 610;

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "persyk-large-"));
});
afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

/** A session of more than 600 MB: records of exactly a mebibyte, each the parent of the next. */
function writeSession(): void {
  const log = openSync(join(root, "session.jsonl"), "w");
  writeSync(log, '{"type":"session","version":1,"id":"large","timestamp":"2026-01-01T00:00:00Z"}\n');
  const record = Buffer.alloc(RECORD_BYTES + 1, "x");
  record[RECORD_BYTES] = 0x0a;
  for (let index = 0; index < RECORDS; index += 1) {
    const parent = index === 0 ? "null" : `"e${index - 1}"`;
    const time = '"timestamp":"2026-01-01T00:00:00Z"';
    const head = `{"type":"custom","id":"e${index}","parentId":${parent},${time},"customType":"c","data":"`;
    record.fill("x", 0, RECORD_BYTES);
    record.write(head, 0, "latin1");
    record.write('"}', RECORD_BYTES - 2, "latin1");
    writeSync(log, record);
  }
  closeSync(log);
}

/** Opens, looks at the ends, pages and projects, in a process of its own, and prints its peak memory. */
const READER = `
import { peakResidentKilobytes } from "./bench/peak";
import { openSession } from "./src/session/session";
async function main() {
  const session = await openSession(process.argv[2]);
  const newest = await session.entries({ direction: "backward", limit: 3 });
  const raw = await session.rawRecords({ limit: 2 });
  const history = await session.history();
  console.log(JSON.stringify({
    verdict: session.verdict,
    entries: session.entryCount,
    leaf: session.leaf,
    newest: newest.entries.map((entry) => entry.id),
    raw: raw.records.length,
    history: history.length,
    peakKilobytes: peakResidentKilobytes(),
  }));
  await session.close();
}
void main();
`;

test("a session of more than 600 MB opens in bounded memory", () => {
  writeSession();
  const program = join(root, "reader.cjs");
  const store = join(__dirname, "../..");
  buildSync({
    stdin: { contents: READER, resolveDir: store, loader: "ts" },
    outfile: program,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node22",
    logLevel: "error",
  });
  const result = spawnSync(process.execPath, [program, root], { encoding: "utf8" });
  expect(result.stderr.replace(/.*(?:ExperimentalWarning|--trace-warnings).*\n/g, "")).toBe("");
  const report = JSON.parse(result.stdout) as { peakKilobytes: number };
  expect(report).toMatchObject({
    verdict: "valid",
    entries: RECORDS,
    leaf: `e${RECORDS - 1}`,
    newest: [`e${RECORDS - 1}`, `e${RECORDS - 2}`, `e${RECORDS - 3}`],
    raw: 2,
    history: 0,
  });
  expect(report.peakKilobytes).toBeLessThan(250_000);
});
