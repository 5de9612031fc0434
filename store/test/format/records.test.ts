import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isStoreError } from "../../src/errors";
import { openSession, type Session } from "../../src/session/session";
import { fixtures, readCases } from "./case-files";

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "persyk-format-"));
});
afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

function place(name: string, bytes: Buffer): string {
  const location = join(root, name);
  mkdirSync(location);
  writeFileSync(join(location, "session.jsonl"), bytes);
  return location;
}

/** All lines as the raw reader gives them, put together again. */
async function rawBytes(session: Session): Promise<Buffer> {
  const parts: Buffer[] = [];
  let from: { line: number; offset: number } | null = { line: 1, offset: 0 };
  while (from !== null) {
    const page = await session.rawRecords({ from, limit: 3 });
    for (const record of page.records) {
      expect(record.line).toBe(parts.length + 1);
      parts.push(record.terminated ? Buffer.concat([record.bytes, Buffer.from("\n")]) : record.bytes);
    }
    from = page.next;
  }
  return Buffer.concat(parts);
}

describe.each(["records.json", "verdicts.json"])("%s", (file) => {
  test.each(readCases(file).map((each) => [each.id, each.title, each] as const))("%s %s", async (id, _title, each) => {
    const bytes = Buffer.from(each.base64, "base64");
    expect(bytes.length).toBe(each.bytes);
    const location = place(`${file}-${id}`, bytes);
    const session = await openSession(location);
    const { authoritative, recoverable, committedEntries, verdict, first } = each.expected;
    expect({
      authoritative: session.authoritative,
      recoverable: session.recoverable,
      committedEntries: session.entryCount,
    }).toEqual({ authoritative, recoverable, committedEntries });
    if (verdict !== undefined) expect(session.verdict).toBe(verdict);
    if (first !== undefined) {
      const [diagnostic] = session.diagnostics;
      const found =
        diagnostic === undefined ? null : { code: diagnostic.code, line: diagnostic.line, offset: diagnostic.offset };
      expect(found).toEqual(first);
    }
    expect(await rawBytes(session)).toEqual(bytes);
    if (session.verdict === "valid" || session.verdict === "tail-pending") {
      expect((await session.entries({ limit: 1000 })).entries).toHaveLength(committedEntries);
      await session.context();
    } else {
      expect(session.diagnostics.length).toBeGreaterThan(0);
      await expect(session.history()).rejects.toMatchObject({ code: "session-not-authoritative" });
    }
    await session.close();
    expect(readdirSync(location)).toEqual(["session.jsonl"]);
    expect(readFileSync(join(location, "session.jsonl"))).toEqual(bytes);
  });
});

test("no message of a diagnostic quotes a record", async () => {
  const secret = "sk-secret-7f3a";
  for (const each of [...readCases("records.json"), ...readCases("verdicts.json")]) {
    const text = Buffer.from(each.base64, "base64").toString("latin1");
    const bytes = Buffer.from(text.replaceAll("hello", secret).replaceAll("text", secret), "latin1");
    const session = await openSession(place(`secret-${each.id}`, bytes));
    expect(JSON.stringify(session.diagnostics)).not.toContain(secret);
    await session.close();
  }
});

test("the example of the source, byte for byte", async () => {
  const bytes = readFileSync(join(fixtures, "user-only.jsonl"));
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(
    "71b20dbf9635ac594769d10777b249b2f386f141ab96d8e90aff0b4166f7b84e",
  );
  const session = await openSession(place("example", bytes));
  expect(session).toMatchObject({ verdict: "valid", id: "00000000-0000-4000-8000-000000000002" });
  expect(session.createdAt).toBe("2026-01-01T00:00:00.000Z");
  expect(await session.context()).toEqual([
    {
      entryId: "user-message-1",
      role: "user",
      timestamp: 1767225601000,
      content: [{ type: "text", text: "User-only finalized transcription" }],
    },
  ]);
  await session.close();
});

test.each(["not-there", "empty-folder", "a-file"])("%s is no session", async (name) => {
  const location = join(root, name);
  if (name === "empty-folder") mkdirSync(location);
  if (name === "a-file") writeFileSync(location, "text");
  const error: unknown = await openSession(location).catch((reason: unknown) => reason);
  expect(isStoreError(error, name === "a-file" ? "unsafe-path" : "not-found")).toBe(true);
});
