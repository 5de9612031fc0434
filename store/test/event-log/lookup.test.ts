import fs, { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { backend, freshRoot, meta, turn } from "./support";

const PROJECTS = 60;
const cwdOf = (index: number): string => `/srv/project-${index}`;

/** A root of many projects with one session each. */
async function manyProjects(): Promise<string> {
  const root = freshRoot();
  const store = backend(root);
  for (let index = 0; index < PROJECTS; index += 1) {
    await store.create(meta(`s${index}`, { cwd: cwdOf(index) }));
    await store.append(`s${index}`, turn(0, 1));
  }
  await store.dispose();
  return root;
}

/** How many folders and names the work asks the file system for. */
async function looksOf(work: () => Promise<unknown>): Promise<{ listed: number; asked: number }> {
  const listed = jest.spyOn(fs, "readdirSync");
  const asked = [jest.spyOn(fs, "existsSync"), jest.spyOn(fs, "statSync")];
  try {
    await work();
    return { listed: listed.mock.calls.length, asked: asked.reduce((sum, { mock }) => sum + mock.calls.length, 0) };
  } finally {
    for (const spy of [listed, ...asked]) spy.mockRestore();
  }
}

/** Names of one project: the flat layout, the session, the other encoding, the log. */
const ONE_PROJECT = 12;

describe("looking a session up", () => {
  let root: string;
  beforeAll(async () => {
    root = await manyProjects();
  });

  it("counts a look through the projects as one", async () => {
    const { listed, asked } = await looksOf(() => backend(root).inspect("s7"));
    expect(listed).toBeGreaterThan(0);
    expect(asked).toBeGreaterThanOrEqual(PROJECTS);
  });

  it("goes straight to the log of a known project, whatever is asked of it", async () => {
    const known = { cwd: cwdOf(7) };
    for (const ask of [
      () => backend(root).inspect("s7", known),
      () => backend(root).load("s7", known),
      () => backend(root).readFrom("s7", 3, known),
      () => backend(root).readRaw("s7", known),
      () => backend(root).readStoredRevision("s7", known),
      () => backend(root).verify("s7", known),
    ]) {
      const { listed, asked } = await looksOf(ask);
      expect(listed).toBe(0);
      expect(asked).toBeLessThanOrEqual(ONE_PROJECT);
    }
  });

  it("remembers where it found a log", async () => {
    const store = backend(root);
    await store.inspect("s7");
    for (const ask of [() => store.inspect("s7"), () => store.load("s7"), () => store.readRaw("s7")]) {
      const { listed, asked } = await looksOf(ask);
      expect(listed).toBe(0);
      expect(asked).toBeLessThanOrEqual(ONE_PROJECT);
    }
  });

  it("remembers what it has listed", async () => {
    const store = backend(root);
    await store.list();
    const { listed, asked } = await looksOf(() => store.inspect("s9"));
    expect(listed).toBe(0);
    expect(asked).toBeLessThanOrEqual(ONE_PROJECT);
  });

  it("looks through the projects once for all sessions that it creates", async () => {
    const store = backend(root);
    await store.create(meta("new-0", { cwd: cwdOf(1) }));
    for (let index = 1; index < 5; index += 1) {
      const { listed, asked } = await looksOf(() => store.create(meta(`new-${index}`, { cwd: cwdOf(index) })));
      expect(listed).toBe(0);
      expect(asked).toBeLessThanOrEqual(ONE_PROJECT);
    }
    await expect(store.create(meta("s7", { cwd: cwdOf(7) }))).rejects.toMatchObject({ code: "already-exists" });
    await expect(store.create(meta("s7", { cwd: cwdOf(8) }))).rejects.toMatchObject({ code: "already-exists" });
  });
});

describe("what is remembered of a log", () => {
  it("is given up when the log has moved, or is gone", async () => {
    const root = freshRoot();
    const store = backend(root);
    await store.create(meta("s"));
    await store.append("s", turn(0, 1));
    await store.release("s");
    const reader = backend(root);
    expect((await reader.inspect("s")).meta.cwd).toBe("/srv/alpha");
    const { path } = store.locate(meta("s"));
    rmSync(dirname(path), { recursive: true });
    await expect(reader.inspect("s")).rejects.toMatchObject({ code: "not-found" });

    const other = backend(root);
    await other.create(meta("s", { cwd: "/srv/beta" }));
    await other.append("s", turn(0, 1));
    expect((await reader.inspect("s")).meta.cwd).toBe("/srv/beta");
  });

  it("is given up when something else is in its place", async () => {
    const root = freshRoot();
    const store = backend(root);
    for (const [id, cwd] of [
      ["s", "/srv/alpha"],
      ["other", "/srv/beta"],
    ] as const) {
      await store.create(meta(id, { cwd }));
      await store.append(id, turn(0, 1));
    }
    await store.dispose();
    const reader = backend(root);
    await reader.inspect("s");
    const { path } = store.locate(meta("s"));
    rmSync(path);
    cpSync(store.locate(meta("other", { cwd: "/srv/beta" })).path, path);
    await expect(reader.inspect("s")).rejects.toMatchObject({ code: "event-log-identity-mismatch" });
  });

  it("does not hide the flat layout or the other encoding beside the log", async () => {
    const root = freshRoot();
    const store = backend(root);
    await store.create(meta("s"));
    await store.append("s", turn(0, 1));
    await store.release("s");
    const reader = backend(root);
    await reader.inspect("s");
    const directory = dirname(store.locate(meta("s")).path);
    writeFileSync(`${directory}.jsonl`, "");
    await expect(reader.inspect("s")).rejects.toMatchObject({ code: "event-log-flat-layout" });
    renameSync(`${directory}.jsonl`, join(directory, "session.jsonl"));
    await expect(reader.inspect("s")).rejects.toMatchObject({ code: "event-log-encoding-mismatch" });
  });

  it("does not let an id be created twice, in any project", async () => {
    const root = freshRoot();
    const store = backend(root);
    await store.create(meta("first"));
    await store.create(meta("s", { cwd: "/srv/beta" }));
    await store.append("s", turn(0, 1));
    const flat = join(root, "--srv-beta--", "flat.jsonl");
    writeFileSync(flat, "");
    const fresh = backend(root);
    await expect(fresh.create(meta("s", { cwd: "/srv/gamma" }))).rejects.toMatchObject({ code: "already-exists" });
    await expect(fresh.create(meta("flat", { cwd: "/srv/gamma" }))).rejects.toMatchObject({
      code: "event-log-flat-layout",
    });
    await store.delete("s", { confirmed: true });
    await fresh.create(meta("s", { cwd: "/srv/gamma" }));
    mkdirSync(join(root, "--srv-beta--", "empty"));
    await fresh.create(meta("empty", { cwd: "/srv/gamma" }));
    rmSync(flat);
    await fresh.append("s", turn(0, 1));
    expect((await fresh.inspect("s")).events.length).toBe(6);
  });
});
