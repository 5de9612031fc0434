import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSession, type Session } from "../../src/session/session";
import { toChatMessages } from "../../src/session/targets/chat";
import { toRealtimeItems } from "../../src/session/targets/openai-realtime";
import { fixtures } from "../format/case-files";

let root: string;
const open = new Set<Session>();
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "persyk-sessions-"));
  process.env["PERSYK_LOCK_DIRECTORY"] = join(root, ".locks");
});
afterAll(async () => {
  for (const session of open) await session.close();
  rmSync(root, { recursive: true, force: true });
});

/** Opens a copy of one of the whole sessions. */
async function openFixture(name: string): Promise<{ session: Session; bytes: Buffer; log: string }> {
  const location = join(root, name);
  mkdirSync(location, { recursive: true });
  const log = join(location, "session.jsonl");
  cpSync(join(fixtures, `${name}.jsonl`), log);
  const session = await openSession(location);
  open.add(session);
  return { session, bytes: readFileSync(log), log };
}

const ids = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);

test("a user-only session", async () => {
  const { session } = await openFixture("v1-ok-user-only");
  expect(session.verdict).toBe("valid");
  expect((await session.context()).map(({ entryId }) => entryId)).toEqual(["u1"]);
});

test("an orphan tool result stays in history and leaves only at target conversion", async () => {
  const { session } = await openFixture("v1-ok-orphan-tool-result");
  expect(ids(await session.history())).toEqual(["u1", "t1", "a1"]);
  const context = await session.context();
  expect(context.map(({ entryId }) => entryId)).toEqual(["u1", "t1", "a1"]);
  expect(JSON.stringify(context)).not.toContain("details");
  for (const convert of [toChatMessages, toRealtimeItems]) {
    const { items, omitted } = convert(context);
    expect(items).toHaveLength(2);
    expect(omitted).toEqual([{ entryId: "t1", reason: "orphan-tool-result" }]);
  }
});

test("an unknown block reads back deep-equal and in place", async () => {
  const { session, bytes } = await openFixture("v1-ok-unknown-block");
  expect(session.verdict).toBe("valid");
  const [, ...lines] = bytes.toString().trimEnd().split("\n");
  const { entries } = await session.entries();
  expect(entries).toEqual(lines.map((line): unknown => JSON.parse(line)));
});

test("a missing asset keeps its text", async () => {
  const { session } = await openFixture("v1-ok-missing-asset");
  expect(session.verdict).toBe("valid");
  const { items } = toChatMessages(await session.context());
  expect(items.length).toBeGreaterThan(0);
  expect(items.every(({ content }) => content !== "")).toBe(true);
});

test.each([
  ["v1-tail-torn-fragment", ["u1", "a1"], "truncate-fragment"],
  ["v1-tail-no-newline", ["u1"], "add-newline"],
])("%s: the committed part is read, appends wait for recovery", async (name, committed, recoverable) => {
  const { session, bytes, log } = await openFixture(name);
  expect(session).toMatchObject({ verdict: "tail-pending", authoritative: false, recoverable });
  expect(ids(await session.history())).toEqual(committed);
  await expect(session.rename("x")).rejects.toMatchObject({ code: "session-not-authoritative" });
  expect(readFileSync(log)).toEqual(bytes);
});

test.each([
  ["v1-bad-interior-json", "corrupt", "invalid-json"],
  ["v1-bad-forward-parent", "blocked", "parent-not-found"],
  ["v1-bad-missing-parent", "blocked", "parent-not-found"],
  ["v1-bad-null-content", "corrupt", "field-invalid"],
  ["v1-bad-extra-envelope", "blocked", "extra-field"],
  ["v1-bad-unknown-type", "blocked", "unknown-type"],
  ["v1-bad-version-3", "blocked", "unsupported-version"],
  ["v1-bad-removal-of-state", "blocked", "removal-invalid"],
  ["v1-bad-lone-surrogate", "corrupt", "lone-surrogate"],
  ["v1-bad-utf8", "corrupt", "invalid-utf8"],
  ["v1-bad-bom", "corrupt", "byte-order-mark"],
  ["v1-bad-no-header", "corrupt", "header-missing"],
])("%s is %s: %s; nothing is projected or written", async (name, verdict, code) => {
  const { session, bytes, log } = await openFixture(name);
  expect(session).toMatchObject({ verdict, recoverable: "no" });
  expect(session.diagnostics[0]).toMatchObject({ code });
  await expect(session.context()).rejects.toMatchObject({ code: "session-not-authoritative" });
  await expect(session.entries()).rejects.toMatchObject({ code: "session-not-authoritative" });
  await expect(session.rename("x")).rejects.toMatchObject({ code: "session-not-authoritative" });
  const { records } = await session.rawRecords();
  expect(Buffer.concat(records.map(({ bytes: line }) => Buffer.concat([line, Buffer.from("\n")])))).toEqual(bytes);
  expect(readFileSync(log)).toEqual(bytes);
});
