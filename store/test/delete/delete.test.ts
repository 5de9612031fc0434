import * as fs from "node:fs";
import { execFileSync } from "node:child_process";
import { basename, join } from "node:path";
import { createSession } from "../../src/session/create";
import { deleteSession, finishDeletions, STAGING_NAME } from "../../src/session/delete";
import { openSession, type Session } from "../../src/session/session";
import { type StoreContext } from "../../src/session/store-context";
import { message, Sandbox } from "../support/sandbox";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.remove());

const confirmed = { confirmed: true };

async function session(id: string): Promise<Session> {
  const created = await createSession(sandbox.root, sandbox.context, { id });
  await created.append([message("a", "a")], { parentId: null });
  const { handle } = await created.createAsset("a.wav", "audio/wav");
  await handle.close();
  return created;
}

test("a confirmed deletion removes the session and nothing else, and revokes open handles", async () => {
  const [one, two] = [await session("one"), await session("two")];
  fs.cpSync(one.location, join(sandbox.folder, "copy"), { recursive: true });
  const reader = await openSession(one.location, sandbox.context);
  expect(await deleteSession(one.location, sandbox.context, confirmed)).toEqual({ removed: true });
  expect(fs.readdirSync(sandbox.root)).toEqual(["two"]);
  expect(fs.readdirSync(join(sandbox.folder, "copy")).sort()).toEqual(["assets", "session.jsonl"]);
  await expect(one.append([message("x")], { parentId: "a" })).rejects.toMatchObject({ code: "handle-revoked" });
  await expect(reader.history()).rejects.toMatchObject({ code: "handle-revoked" });
  await expect(one.createAsset("b.wav", "audio/wav")).rejects.toMatchObject({ code: "handle-revoked" });
  await expect(one.recover()).rejects.toMatchObject({ code: "handle-revoked" });
  await two.append([message("x")], { parentId: "a" });
  await expect(deleteSession(one.location, sandbox.context, confirmed)).rejects.toMatchObject({ code: "not-found" });
  for (const open of [one, two, reader]) await open.close();
});

test("without confirmation, and while a recording runs, nothing happens", async () => {
  const one = await session("one");
  await expect(deleteSession(one.location, sandbox.context, { confirmed: false })).rejects.toMatchObject({
    code: "not-confirmed",
  });
  const live = { ...sandbox.context, captureLock: { tryAcquire: async () => undefined } };
  await expect(deleteSession(one.location, live, confirmed)).rejects.toMatchObject({ code: "capture-live" });
  expect(fs.existsSync(join(one.location, "assets", "a.wav"))).toBe(true);
  await one.close();
});

test("the locks of its recordings come before the lock of the session", async () => {
  const one = await session("one");
  const order: string[] = [];
  const watched: StoreContext = {
    ...sandbox.context,
    captureLock: {
      async tryAcquire(path) {
        order.push(`asset ${basename(path)}`);
        return { release: async () => void order.push("release asset") };
      },
    },
    lock: {
      withLock: (target, options, body) => {
        order.push("session");
        return sandbox.context.lock.withLock(target, options, body);
      },
    },
  };
  await deleteSession(one.location, watched, confirmed);
  expect(order).toEqual(["asset a.wav", "session", "release asset"]);
  await one.close();
});

test("symbolic links in a session are removed, and what they lead to is not touched", async () => {
  const one = await session("one");
  const outside = join(sandbox.folder, "outside");
  fs.mkdirSync(outside);
  fs.writeFileSync(join(outside, "precious"), "keep");
  fs.symlinkSync(outside, join(one.location, "link"));
  fs.symlinkSync(join(outside, "precious"), join(one.location, "assets", "linked.wav"));
  fs.symlinkSync(one.location, join(one.location, "assets", "loop"));
  fs.mkdirSync(join(one.location, "deep", "deeper"), { recursive: true });
  execFileSync("mkfifo", [join(one.location, "deep", "pipe")]);
  await deleteSession(one.location, sandbox.context, confirmed);
  expect(fs.readdirSync(sandbox.root)).toEqual([]);
  expect(fs.readFileSync(join(outside, "precious"), "utf8")).toBe("keep");
  await one.close();
});

test("what is not a session folder is refused: a link to one, a folder without a log, a log that is a FIFO", async () => {
  const one = await session("one");
  fs.symlinkSync(one.location, join(sandbox.root, "link"));
  fs.mkdirSync(join(sandbox.root, "plain"));
  fs.writeFileSync(join(sandbox.root, "plain", "file"), "x");
  fs.mkdirSync(join(sandbox.root, "fifo"));
  execFileSync("mkfifo", [join(sandbox.root, "fifo", "session.jsonl")]);
  for (const [name, code] of [
    ["link", "unsafe-path"],
    ["plain", "not-found"],
    ["fifo", "unsafe-path"],
    ["nothing", "not-found"],
    ["nul\0", "unsafe-path"],
  ] as const) {
    await expect(deleteSession(join(sandbox.root, name), sandbox.context, confirmed)).rejects.toMatchObject({ code });
  }
  expect(fs.readdirSync(sandbox.root).sort()).toEqual(["fifo", "link", "one", "plain"]);
  await one.close();
});

test("a staging folder that is a link to elsewhere is refused", async () => {
  const one = await session("one");
  const outside = join(sandbox.folder, "outside");
  fs.mkdirSync(outside);
  fs.symlinkSync(outside, join(sandbox.root, STAGING_NAME));
  await expect(deleteSession(one.location, sandbox.context, confirmed)).rejects.toMatchObject({ code: "unsafe-path" });
  expect(fs.existsSync(join(one.location, "session.jsonl"))).toBe(true);
  expect(fs.readdirSync(outside)).toEqual([]);
  await one.close();
});

test("what an earlier deletion left is finished by the next one in the root", async () => {
  const [one, two] = [await session("one"), await session("two")];
  fs.mkdirSync(join(sandbox.root, STAGING_NAME));
  fs.renameSync(one.location, join(sandbox.root, STAGING_NAME, "left"));
  await deleteSession(two.location, sandbox.context, confirmed);
  expect(fs.readdirSync(sandbox.root)).toEqual([]);
  expect(await finishDeletions(sandbox.root, sandbox.context)).toBe(true);
  for (const open of [one, two]) await open.close();
});

test("a damaged session can be deleted; several at once do not disturb each other", async () => {
  const sessions = await Promise.all(Array.from({ length: 8 }, (_, index) => session(`s${index}`)));
  for (const { location } of sessions.slice(0, 4)) fs.writeFileSync(join(location, "session.jsonl"), "garbage");
  await Promise.all(sessions.map(({ location }) => deleteSession(location, sandbox.context, confirmed)));
  await finishDeletions(sandbox.root, sandbox.context);
  expect(fs.readdirSync(sandbox.root)).toEqual([]);
  for (const open of sessions) await open.close();
});
