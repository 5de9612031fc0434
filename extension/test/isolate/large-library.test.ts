import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Isolate } from "./isolate";
import { type WorldReport } from "./protocol";

/** Raycast does not say how much a command may use; commands were seen to be ended well above this. */
const HEAP_MB = 64;
const SESSIONS = Number(process.env["PERSYK_SESSIONS"] ?? 10_000);
const MESSAGES = 4;

const folder = mkdtempSync(path.join(os.tmpdir(), "persyk-large-"));
const root = path.join(folder, "sessions");

beforeAll(() => {
  const startMs = Date.parse("2020-01-01T00:00:00.000Z");
  for (let n = 0; n < SESSIONS; n += 1) {
    const id = `session-${String(n).padStart(6, "0")}`;
    const atMs = startMs + n * 60_000;
    const iso = (seconds: number) => new Date(atMs + seconds * 1000).toISOString();
    const lines: object[] = [{ type: "session", version: 1, id, timestamp: iso(0) }];
    for (let m = 1; m <= MESSAGES; m += 1) {
      const words =
        n === 17 && m === 2 ? "the needle in the haystack" : `words of session ${n}, message ${m} `.repeat(8);
      lines.push({
        type: "message",
        id: `${id}-${m}`,
        parentId: m === 1 ? null : `${id}-${m - 1}`,
        timestamp: iso(m),
        message: { role: "user", timestamp: atMs + m * 1000, content: [{ type: "text", text: words }] },
      });
    }
    mkdirSync(path.join(root, id), { recursive: true });
    writeFileSync(path.join(root, id, "session.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function isolate(): Isolate {
  return new Isolate({
    supportPath: path.join(folder, "support"),
    preferences: { sessionsDirectory: root },
    limits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 16 },
  });
}

test(`${SESSIONS} sessions are listed, paged and searched within ${HEAP_MB} MB of heap`, async () => {
  const command = isolate();
  await command.call({ do: "view", command: "search-sessions" });
  await command.call({ do: "settled" });
  expect(await command.call<string[]>({ do: "titles" })).toHaveLength(30);
  for (let page = 0; page < 3; page += 1) {
    await command.call({ do: "load-more" });
    await command.call({ do: "settled" });
  }
  expect(await command.call<string[]>({ do: "titles" })).toHaveLength(120);
  // The only hit is in one of the oldest sessions, so every log is searched.
  await command.call({ do: "search", text: "NEEDLE in" });
  await command.call({ do: "until", text: "Found" });
  await command.call({ do: "settled" });
  const titles = await command.call<string[]>({ do: "titles" });
  expect(titles[0]).toMatch(/^words of session 17, message 1/);
  // Every log is a hit: only a page of them is kept.
  await command.call({ do: "search", text: "message 3" });
  await command.call({ do: "settled" });
  expect(await command.call<string[]>({ do: "titles" })).toHaveLength(30);
  await command.closeWindow();
});

test("the last transcript is copied within the same heap", async () => {
  const command = isolate();
  await command.call({ do: "no-view", command: "copy-last-transcript" });
  const { clipboard } = await command.call<WorldReport>({ do: "world" });
  expect(clipboard[0]).toContain(`words of session ${SESSIONS - 1}, message ${MESSAGES}`);
  await command.closeWindow();
});
