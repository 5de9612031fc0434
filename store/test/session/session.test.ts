import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSession } from "../../src/session/create";
import { openSession } from "../../src/session/session";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "persyk-session-"));
  process.env.PERSYK_LOCK_DIRECTORY = join(root, ".locks");
});
afterEach(() => rm(root, { recursive: true, force: true }));

test("what is appended is read back by another handle", async () => {
  const session = await createSession(root);
  const { committed, leaf } = await session.append(
    [
      {
        type: "message",
        message: { role: "user", timestamp: 1_767_225_601_000, content: [{ type: "text", text: "Hello there" }] },
      },
      { type: "session_info", name: "First" },
    ],
    { parentId: null },
  );
  const reader = await openSession(session.location);
  expect(reader.verdict).toBe("valid");
  expect(reader.leaf).toBe(leaf);
  expect((await reader.entries()).entries).toEqual(committed);
  expect((await reader.history()).map((item) => item.id)).toEqual([committed[0]?.id]);
  expect(await reader.info()).toMatchObject({ name: "First", label: "First", archived: false });
  await session.rename("");
  await reader.refresh();
  expect(await reader.info()).toMatchObject({ label: "Hello there" });
  await session.close();
  await reader.close();
});
