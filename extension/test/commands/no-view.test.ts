import { mkdirSync } from "node:fs";
import path from "node:path";
import { callTool, runCommand } from "./bundles";
import { testFolder, writeSession } from "./library-fixture";

const { folder, root, enter } = testFolder();

describe("Copy Last Transcript", () => {
  test("says so when there is nothing, and leaves the clipboard alone", async () => {
    const nothing = path.join(folder, "nothing");
    mkdirSync(nothing);
    const world = enter({ sessionsDirectory: nothing });
    await runCommand("copy-last-transcript");
    expect(world.huds).toEqual(["No transcript yet"]);
    expect(world.clipboard).toEqual([]);
  });

  test("takes the newest canonical text, not the newest session or file", async () => {
    writeSession(root, { id: "older", createdAt: "2026-03-01T09:00:00.000Z", turns: [{ text: "Older words" }] });
    writeSession(root, {
      id: "newer",
      createdAt: "2026-03-02T09:00:00.000Z",
      name: "The newer one",
      turns: [{ text: "First line" }, { text: "Second line" }],
    });
    // A newer session that holds a recording and no words.
    writeSession(root, {
      id: "silent",
      createdAt: "2026-03-03T09:00:00.000Z",
      recording: { durationMs: 500, state: "finished" },
    });
    const world = enter();
    await runCommand("copy-last-transcript");
    expect(world.clipboard[0]).toEqual({
      content: { text: "First line\nSecond line" },
      concealed: false,
      transient: false,
    });
    expect(world.huds).toHaveLength(1);
    expect(world.huds[0]).toMatch(/^Copied “The newer one” of Mar 2, 2026/);
    expect(world.windowClosed).toBe(true);
  });

  test("keeps it out of the clipboard history when asked", async () => {
    const world = enter({ concealedCopy: true });
    await runCommand("copy-last-transcript");
    expect(world.clipboard[0]?.concealed).toBe(true);
  });

  test("wrong preferences are named", async () => {
    const world = enter({ sessionsDirectory: "relative" });
    await runCommand("copy-last-transcript");
    expect(world.huds[0]).toContain("Sessions Folder");
    expect(world.clipboard).toEqual([]);
  });
});

describe("AI tools", () => {
  test("search, then read", async () => {
    enter();
    const found = await callTool<{ sessions: { id: string; title: string; excerpt: string }[]; more: boolean }>(
      "search-sessions",
      { text: "SECOND" },
    );
    expect(found).toMatchObject({ sessions: [{ id: "newer", title: "The newer one" }], more: false });
    const read = await callTool("read-transcript", { session: "newer" });
    expect(read).toMatchObject({
      title: "The newer one",
      transcript: "First line\nSecond line",
      gaps: 0,
      truncated: false,
    });
  });

  test("without a text, the newest sessions; never more than asked", async () => {
    enter();
    const found = await callTool<{ sessions: { id: string }[]; more: boolean }>("search-sessions", {
      text: " ",
      limit: 2,
    });
    expect(found.sessions.map((session) => session.id)).toEqual(["silent", "newer"]);
    expect(found.more).toBe(true);
  });

  test("an unknown session is an error in words", async () => {
    enter();
    await expect(callTool("read-transcript", { session: "nobody" })).rejects.toThrow(/no such session/i);
  });
});
