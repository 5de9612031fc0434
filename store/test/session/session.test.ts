import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type Entry, type EntryInput } from "../../src/format/schema";
import { createSession } from "../../src/session/create";
import { openSession, type Session } from "../../src/session/session";
import { textOf } from "../../src/session/text";
import { ancestry, sampleLog } from "../log-read/sample-logs";

let root: string;
const open = new Set<Session>();
// One lock directory for all: the real surroundings look it up once.
const lockDirectory = mkdtempSync(join(tmpdir(), "persyk-locks-"));
process.env["PERSYK_LOCK_DIRECTORY"] = lockDirectory;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "persyk-session-"));
});
afterEach(async () => {
  for (const session of open) await session.close();
  open.clear();
  rmSync(root, { recursive: true, force: true });
});
afterAll(() => {
  rmSync(lockDirectory, { recursive: true, force: true });
});

function kept(session: Session): Session {
  open.add(session);
  return session;
}

async function create(): Promise<Session> {
  return kept(await createSession(root));
}

async function reopen(session: Session): Promise<Session> {
  return kept(await openSession(session.location));
}

function log(session: Session): string {
  return join(session.location, "session.jsonl");
}

function said(text: string, id?: string): EntryInput {
  const message = { role: "user" as const, timestamp: 1_767_225_601_000, content: [{ type: "text" as const, text }] };
  return { type: "message", message, ...(id === undefined ? {} : { id }) };
}

const ids = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);

test("what is appended is read back by another handle", async () => {
  const session = await create();
  const inputs = [said("Hello there"), { type: "session_info" as const, name: "First" }];
  const { committed, leaf } = await session.append(inputs, { parentId: null });
  const reader = await reopen(session);
  expect(reader).toMatchObject({ verdict: "valid", leaf, entryCount: 2, id: session.id });
  expect((await reader.entries()).entries).toEqual(committed);
  expect(ids(await reader.history())).toEqual([committed[0]?.id]);
  expect(await reader.info()).toMatchObject({ name: "First", label: "First", archived: false });
  await session.rename("");
  expect((await reader.info()).label).toBe("First");
  await reader.refresh();
  const info = await reader.info();
  expect(info.label).toBe("Hello there");
  expect(info).not.toHaveProperty("name");
});

describe("leaf", () => {
  test("left out is the last entry of any type, null is the empty ancestry, an absent id fails", async () => {
    const session = await create();
    expect(session.leaf).toBeNull();
    expect(await session.history()).toEqual([]);
    await session.append([said("one", "m1"), said("two", "m2")], { parentId: null });
    await session.append([said("other", "m3")], { parentId: "m1" });
    await session.append([{ type: "custom", id: "c1", customType: "x", data: 1 }], { parentId: "m2" });
    expect(session.leaf).toBe("c1");
    expect(ids(await session.history())).toEqual(["m1", "m2"]);
    expect(ids(await session.history("m3"))).toEqual(["m1", "m3"]);
    expect(await session.history(null)).toEqual([]);
    expect(await session.context(null)).toEqual([]);
    for (const read of [session.history("m4"), session.context("m4"), session.info("m4"), session.entry("m4")]) {
      await expect(read).rejects.toMatchObject({ code: "entry-not-found" });
    }
    expect(() => session.continuation("m4")).toThrow(expect.objectContaining({ code: "entry-not-found" }));
    expect(session.messageCount()).toBe(2);
  });

  test("several roots stand side by side", async () => {
    const session = await create();
    await session.append([said("first", "r1")], { parentId: null });
    await session.append([said("second", "r2")], { parentId: null });
    expect(ids(await session.history())).toEqual(["r2"]);
    expect(ids(await session.history("r1"))).toEqual(["r1"]);
  });

  test("removal holds on its branch only", async () => {
    const session = await create();
    await session.append([said("one", "m1"), said("two", "m2")], { parentId: null });
    const removal = await session.removeMessage("m1", "m2");
    expect(ids(await session.history())).toEqual(["m2"]);
    expect(ids(await session.history("m2"))).toEqual(["m1", "m2"]);
    await session.append([said("three", "m3")], { parentId: "m1" });
    expect(ids(await session.history())).toEqual(["m1", "m3"]);
    expect(ids(await session.history(removal.id))).toEqual(["m2"]);
    await expect(session.removeMessage("m1", removal.id)).rejects.toMatchObject({ code: "already-removed" });
  });

  test("custom state belongs to its branch", async () => {
    const session = await create();
    await session.append([said("one", "m1")], { parentId: null });
    const state = (id: string, data: number): EntryInput => ({ type: "custom", id, customType: "mode", data });
    await session.append([state("s1", 1)], { parentId: "m1" });
    await session.append([state("s2", 2)], { parentId: "m1" });
    expect(ids(await session.customState())).toEqual(["s2"]);
    expect(ids(await session.customState("s1"))).toEqual(["s1"]);
    expect(await session.context()).toHaveLength(1);
  });

  test("an entry that is no metadata needs its parent named", async () => {
    const session = await create();
    await expect(session.append([said("one")])).rejects.toMatchObject({ code: "usage" });
    expect(session.entryCount).toBe(0);
  });
});

test("history equals a naive walk over the entries, from every leaf", async () => {
  const location = join(root, "naive");
  await fc.assert(
    fc.asyncProperty(sampleLog, async ({ entries, bytes }) => {
      mkdirSync(location, { recursive: true });
      rmSync(join(location, "session.jsonl"), { force: true });
      writeFileSync(join(location, "session.jsonl"), bytes);
      const session = await openSession(location);
      try {
        for (const leaf of [undefined, null, ...ids(entries)]) {
          const path = ancestry(entries, leaf === undefined ? (entries.at(-1)?.id ?? null) : leaf);
          const removed = new Set(path.map((entry) => (entry.type === "message.removed" ? entry.targetId : "")));
          const surviving = path.filter(
            ({ type, id }) => (type === "message" || type === "custom_message") && !removed.has(id),
          );
          expect(await session.history(leaf)).toEqual(surviving);
        }
      } finally {
        await session.close();
      }
    }),
    { numRuns: 30 },
  );
});

describe("pages", () => {
  async function filled(): Promise<{ session: Session; all: string[] }> {
    const session = await create();
    const inputs = Array.from({ length: 25 }, (_, index) => said(`${"x".repeat(index * 20)}`, `m${index}`));
    await session.append(inputs, { parentId: null });
    return { session, all: inputs.map(({ id }) => id ?? "") };
  }

  test.each(["forward", "backward"] as const)("%s, each entry once", async (direction) => {
    const { session, all } = await filled();
    const seen: string[] = [];
    let next: string | null | undefined;
    while (next !== null) {
      const from = next === undefined ? {} : direction === "forward" ? { after: next } : { before: next };
      const page = await session.entries({ direction, limit: 7, ...from });
      expect(page.entries.length).toBeLessThanOrEqual(7);
      seen.push(...ids(page.entries));
      next = page.next;
    }
    expect(seen).toEqual(direction === "forward" ? all : all.toReversed());
  });

  test("are bounded in bytes, and hold at least one entry", async () => {
    const { session, all } = await filled();
    expect(ids((await session.entries({ maxBytes: 1 })).entries)).toEqual(["m0"]);
    const { entries, next } = await session.entries({ maxBytes: 1000, after: "m9" });
    expect(entries.length).toBeGreaterThan(0);
    expect(entries.length).toBeLessThan(5);
    expect(next).toBe(entries.at(-1)?.id);
    const between = await session.entries({ after: "m3", before: "m6" });
    expect(between).toEqual({ entries: [expect.objectContaining({ id: "m4" }), expect.anything()], next: null });
    expect(await session.entries({ after: all.at(-1) ?? "" })).toEqual({ entries: [], next: null });
  });

  test("with absurd bounds or places are refused", async () => {
    const { session } = await filled();
    for (const options of [{ limit: 0 }, { limit: 1001 }, { limit: 1.5 }, { maxBytes: 0 }, { maxBytes: NaN }]) {
      await expect(session.entries(options)).rejects.toMatchObject({ code: "usage" });
    }
    await expect(session.entries({ after: "nowhere" })).rejects.toMatchObject({ code: "entry-not-found" });
  });
});

test("raw lines of a mebibyte and more are given in part", async () => {
  const session = await create();
  appendFileSync(log(session), `${"x".repeat(3_000_000)}\n{}`);
  const reader = await reopen(session);
  expect(reader.verdict).toBe("corrupt");
  const { records, next } = await reader.rawRecords();
  expect(records.map(({ line, truncated, terminated, bytes }) => [line, truncated, terminated, bytes.length])).toEqual([
    [1, false, true, expect.any(Number)],
    [2, true, true, 1_048_576],
    [3, false, false, 2],
  ]);
  expect(next).toBeNull();
});

describe("info", () => {
  test("name, archive flag and labels each follow their last entry, whatever the branch", async () => {
    const session = await create();
    await session.append([said("one", "m1"), said("two", "m2")], { parentId: null });
    await session.append([{ type: "session_info", name: "Name", archived: true }], { parentId: "m1" });
    await session.setLabel("m1", "start");
    await session.setLabel("m2", "gone");
    await session.append([said("three", "m3")], { parentId: "m1" });
    await session.setLabel("m3", "leaf");
    await session.setLabel("m2", null);
    await session.setArchived(false);
    const info = await session.info();
    expect(info).toMatchObject({ name: "Name", archived: false });
    expect([...info.labels]).toEqual([
      ["m1", "start"],
      ["m3", "leaf"],
    ]);
    expect([...(await session.info("m2")).branchLabels]).toEqual([["m1", "start"]]);
  });

  test("the label is the beginning of the first text that survives, cut between graphemes", async () => {
    const session = await create();
    expect((await session.info()).label).toBe("");
    const family = "👨‍👩‍👧‍👦";
    await session.append([said(" \n ", "m1"), said(`  one\r\n two ${family.repeat(90)}`, "m2")], { parentId: null });
    const { label } = await session.info();
    expect(label).toBe(`one two ${family.repeat(72)}…`);
    await session.removeMessage("m2");
    expect((await session.info()).label).toBe("");
    await session.append([{ type: "custom_message", customType: "c", content: "note", display: false }], {
      parentId: session.leaf,
    });
    expect((await session.info()).label).toBe("note");
  });

  test("a label is derived from a megabyte of combining marks without suffering", async () => {
    const session = await create();
    await session.append([said(`a${"\u0301".repeat(200_000)}`)], { parentId: null });
    expect((await session.info()).label.length).toBeLessThan(3000);
  });
});

test("recordings tell how each capture went", async () => {
  const session = await create();
  const place = session.continuation();
  const asset = (id: string) => ({ status: "available" as const, path: `assets/${id}.wav`, mimeType: "audio/wav" });
  const start = (recordingId: string): EntryInput => ({
    type: "recording.started",
    recordingId,
    asset: asset(recordingId),
  });
  await place.append([start("a"), start("b"), start("c")]);
  await place.append([
    { type: "recording.interrupted", recordingId: "b", reason: "crash" },
    { type: "recording.finished", recordingId: "a", durationMs: 1500, outcome: "incomplete", gaps: [{ reason: "x" }] },
  ]);
  expect(await session.recordings()).toMatchObject([
    { recordingId: "a", state: "finished", outcome: "incomplete", durationMs: 1500, gaps: [{ reason: "x" }] },
    { recordingId: "b", state: "interrupted", reason: "crash", gaps: [], asset: asset("b") },
    { recordingId: "c", state: "open", gaps: [] },
  ]);
});

describe("a continuation", () => {
  test("moves with its own appends only", async () => {
    const session = await create();
    await session.append([said("one", "m1")], { parentId: null });
    const mine = session.continuation();
    const other = kept(await openSession(session.location));
    await other.append([said("sibling", "s1")], { parentId: "m1" });
    expect(mine.leaf).toBe("m1");
    await mine.append([said("two", "m2"), said("three", "m3")]);
    expect(mine.leaf).toBe("m3");
    expect(ids(await session.history(mine.leaf))).toEqual(["m1", "m2", "m3"]);
    expect(session.has("s1")).toBe(true);
    await session.rename("moves the default leaf");
    expect(mine.leaf).toBe("m3");
  });

  test("stays where it was after a failure, and takes calls one after the other", async () => {
    const session = await create();
    const place = session.continuation(null);
    const results = await Promise.allSettled([
      place.append([said("one", "m1")]),
      place.append([said("other content", "m1")]),
      place.append([said("two", "m2")]),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(place.leaf).toBe("m2");
    expect(ids(await session.history())).toEqual(["m1", "m2"]);
    const retried = await place.append([{ ...said("two", "m2"), parentId: "m1" }]);
    expect(ids(retried)).toEqual(["m2"]);
    expect(session.entryCount).toBe(2);
  });
});

describe("opening", () => {
  test("never writes, also without the permission to", async () => {
    const session = await create();
    await session.append([said("one")], { parentId: null });
    appendFileSync(log(session), '{"type":"mess');
    const before = readFileSync(log(session));
    chmodSync(log(session), 0o400);
    chmodSync(session.location, 0o500);
    const { mtimeMs } = statSync(log(session));
    const reader = await reopen(session);
    expect(reader.verdict).toBe("tail-pending");
    await reader.context();
    await reader.recordings();
    await reader.refresh();
    await reader.close();
    expect(readFileSync(log(session))).toEqual(before);
    expect(statSync(log(session)).mtimeMs).toBe(mtimeMs);
    expect(existsSync(join(session.location, "assets"))).toBe(false);
    chmodSync(session.location, 0o700);
  });

  test("follows a link to the folder, but no link in the place of the log", async () => {
    const session = await create();
    symlinkSync(session.location, join(root, "link"));
    expect(kept(await openSession(join(root, "link"))).location).toBe(session.location);
    const outside = join(root, "outside.jsonl");
    renameSync(log(session), outside);
    symlinkSync(outside, log(session));
    await expect(openSession(session.location)).rejects.toMatchObject({ code: "unsafe-path" });
  });

  test("the path of the log stands for its folder", async () => {
    const session = await create();
    expect(kept(await openSession(log(session))).location).toBe(session.location);
  });

  test("does not wait for a pipe or read a folder in the place of the log", async () => {
    const folder = join(root, "pipe");
    mkdirSync(folder);
    expect(spawnSync("mkfifo", [join(folder, "session.jsonl")]).status).toBe(0);
    await expect(openSession(folder)).rejects.toMatchObject({ code: "unsafe-path" });
    rmSync(join(folder, "session.jsonl"));
    mkdirSync(join(folder, "session.jsonl"));
    await expect(openSession(folder)).rejects.toMatchObject({ code: "unsafe-path" });
  });

  test("can be cancelled, with the very reason", async () => {
    const session = await create();
    const reason = new Error("enough");
    const options = { signal: AbortSignal.abort(reason) };
    await expect(openSession(session.location, undefined, options)).rejects.toBe(reason);
  });
});

describe("what happens to the files of an open session", () => {
  test("a replaced log is noticed by reads and by appends", async () => {
    const session = await create();
    await session.append([said("one", "m1")], { parentId: null });
    const copy = `${log(session)}.new`;
    writeFileSync(copy, readFileSync(log(session)));
    renameSync(copy, log(session));
    await expect(session.history()).rejects.toMatchObject({ code: "log-replaced" });
    await expect(session.refresh()).rejects.toMatchObject({ code: "log-replaced" });
    await expect(session.append([said("two")], { parentId: "m1" })).rejects.toMatchObject({ code: "log-replaced" });
  });

  test("a log with other content or fewer records is noticed", async () => {
    const session = await create();
    await session.append([said("one", "m1")], { parentId: null });
    const other = readFileSync(log(session), "utf8").replace('"one"', '"1ne"');
    writeFileSync(log(session), other);
    appendFileSync(log(session), other.slice(other.indexOf("\n") + 1).replace("m1", "m2"));
    await expect(session.refresh()).rejects.toMatchObject({ code: "log-replaced" });
    const second = await create();
    await second.append([said("one", "m1")], { parentId: null });
    truncateSync(log(second), statSync(log(second)).size - 1);
    await expect(second.refresh()).rejects.toMatchObject({ code: "log-shrank" });
  });

  test("a folder that is gone revokes the handle", async () => {
    const session = await create();
    renameSync(session.location, `${session.location}-moved`);
    await expect(session.history()).rejects.toMatchObject({ code: "handle-revoked" });
    await expect(session.refresh()).rejects.toMatchObject({ code: "handle-revoked" });
    await expect(session.rename("x")).rejects.toMatchObject({ code: "handle-revoked" });
  });

  test("a closed session is used no more", async () => {
    const session = await create();
    await session.close();
    await session.close();
    await expect(session.history()).rejects.toMatchObject({ code: "handle-revoked" });
    await expect(session.rename("x")).rejects.toMatchObject({ code: "handle-revoked" });
  });

  test("refreshing while appending counts nothing twice", async () => {
    const session = await create();
    const other = await reopen(session);
    const place = session.continuation(null);
    await Promise.all(
      Array.from({ length: 60 }, async (_, index): Promise<unknown> =>
        index % 2 === 0
          ? place.append([said(`text ${index}`)])
          : index % 3 === 0
            ? other.rename(`name ${index}`)
            : session.refresh(),
      ),
    );
    await session.refresh();
    await other.refresh();
    const fresh = await reopen(session);
    expect(fresh).toMatchObject({ verdict: "valid", entryCount: 40 });
    for (const handle of [session, other]) {
      expect((await handle.entries({ limit: 1000 })).entries).toEqual((await fresh.entries({ limit: 1000 })).entries);
    }
    expect(fresh.messageCount(place.leaf)).toBe(30);
  });
});

test("the text of a message is its text blocks", () => {
  const content = [{ type: "text", text: "a" }, { type: "later" }, { type: "text", text: "b" }];
  expect(textOf({ role: "user", timestamp: 0, content })).toBe("a\nb");
  const envelope = { id: "x", parentId: null, timestamp: "2026-01-01T00:00:00Z" };
  const note: Entry = { type: "custom_message", ...envelope, customType: "c", content: "plain", display: true };
  expect(textOf(note)).toBe("plain");
  expect(textOf({ type: "label", ...envelope, targetId: "y", label: "no text" })).toBe("");
});

test("a hard link to a foreign file is read but not written", async () => {
  const session = await create();
  linkSync(log(session), join(root, "second-name"));
  expect((await reopen(session)).verdict).toBe("valid");
  await expect(session.rename("x")).rejects.toMatchObject({ code: "unsafe-path" });
});

describe("bodies kept in memory", () => {
  const texts = (count: number): EntryInput[] =>
    Array.from({ length: count }, (_, at) => ({
      type: "message",
      message: { role: "user", timestamp: at, content: [{ type: "text", text: `text ${at}` }] },
    }));

  test("whatever fits in them, every reading is that of a session that keeps none", async () => {
    const created = kept(await createSession(root));
    await created.append(texts(40), { parentId: null });
    const bytes = statSync(join(created.location, "session.jsonl")).size;
    for (const bodyCacheBytes of [0, 1, Math.floor(bytes / 3), bytes]) {
      const session = kept(await openSession(created.location, undefined, { bodyCacheBytes }));
      const middle = (await created.history())[20]?.id ?? "";
      for (const leaf of [middle, undefined, middle, null, undefined]) {
        expect(await session.history(leaf)).toEqual(await created.history(leaf));
        expect(await session.context(leaf)).toEqual(await created.context(leaf));
      }
      const both = await Promise.all([session.history(), session.context(), session.history()]);
      expect(both).toEqual([await created.history(), await created.context(), await created.history()]);
    }
  });

  test("what is appended by others is taken up, and a kept entry cannot be changed", async () => {
    const created = kept(await createSession(root));
    await created.append(texts(2), { parentId: null });
    const session = kept(await openSession(created.location, undefined, { bodyCacheBytes: 1_000_000 }));
    const [first] = await session.history();
    expect(() => {
      if (first?.type === "message") first.message.content.push({ type: "text", text: "slipped in" });
    }).toThrow(TypeError);
    await created.append(texts(1), { parentId: created.leaf });
    await session.refresh();
    expect(await session.history()).toEqual(await created.history());
    expect(await session.history()).toHaveLength(3);
  });
});
