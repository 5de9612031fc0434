import * as fs from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { wavHeader } from "../../src/assets/wav-format";
import { run } from "../../src/cli/main";
import { idsIn, message, readLog, Sandbox } from "../support/sandbox";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.remove());

interface Answer {
  code: number;
  stdout: string;
  stderr: string;
  json: Record<string, unknown>;
}

/** Runs one command line in this process; with `--json` its one document is read. */
async function persyk(args: readonly string[], stdin = ""): Promise<Answer> {
  let [stdout, stderr] = ["", ""];
  const code = await run([...args, "--json"], {
    stdin: (async function* () {
      yield Buffer.from(stdin);
    })(),
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    env: { PERSYK_ROOT: sandbox.root },
    cwd: sandbox.folder,
    signal: new AbortController().signal,
    store: sandbox.context,
  });
  expect(stdout.endsWith("\n") && stdout.indexOf("\n") === stdout.length - 1).toBe(true);
  return { code, stdout, stderr, json: z.record(z.string(), z.unknown()).parse(JSON.parse(stdout)) };
}

async function created(): Promise<{ id: string; location: string }> {
  const { code, json } = await persyk(["create"]);
  expect(code).toBe(0);
  return z.strictObject({ id: z.string(), location: z.string() }).parse(json);
}

const lines = (...entries: object[]): string => entries.map((entry) => JSON.stringify(entry)).join("\n");

test("create gives the id and the location of a session in the write root, or in the one that is named", async () => {
  const { id, location } = await created();
  expect(location).toBe(join(sandbox.root, id));
  const other = await persyk(["create", "--root", "other"]);
  expect(fs.existsSync(join(sandbox.folder, "other", String(other.json["id"]), "session.jsonl"))).toBe(true);
});

test("append takes JSON lines, chains them, and running it again writes nothing twice", async () => {
  const { id, location } = await created();
  const stdin = lines(message("a", "a"), message("b", "b"));
  expect(await persyk(["append", location], stdin)).toMatchObject({
    code: 0,
    json: { committed: ["a", "b"], leaf: "b" },
  });
  const before = readLog(location);
  expect((await persyk(["append", id], `${stdin}\n\n`)).json).toEqual({ committed: ["a", "b"], leaf: "b" });
  expect(readLog(location).equals(before)).toBe(true);
  expect((await persyk(["append", id, "--parent", "a"], lines(message("c", "c")))).json).toEqual({
    committed: ["c"],
    leaf: "c",
  });
  expect((await persyk(["append", id, "--parent", "null"], lines(message("d", "d")))).code).toBe(0);
  const parents = readLog(location)
    .toString()
    .split("\n")
    .slice(1, -1)
    .map((line) => z.object({ parentId: z.string().nullable() }).parse(JSON.parse(line)).parentId);
  expect(parents).toEqual([null, "a", "a", null]);
});

test("append splits what is larger than one batch", async () => {
  const { location } = await created();
  const many = Array.from({ length: 600 }, (_, index) => message("x", `m${index}`));
  expect((await persyk(["append", location], lines(...many))).code).toBe(0);
  expect(idsIn(readLog(location))).toEqual(many.map((entry) => entry.id));
});

test.each([
  ["no JSON", "{", "record-invalid", 1],
  ["no object", "[]", "record-invalid", 1],
  ["an unknown type", '{"type":"new"}', "record-invalid", 1],
  [
    "a second header",
    '{"type":"session","version":1,"id":"x","timestamp":"2026-01-01T00:00:00Z"}',
    "record-invalid",
    1,
  ],
  ["a parent that is not there", lines({ ...message("x"), parentId: "nobody" }), "parent-not-found", 1],
  ["a duplicate key", '{"type":"session_info","name":"a","name":"b"}', "record-invalid", 1],
])("append refuses %s before it writes anything", async (_what, line, code, exitCode) => {
  const { location } = await created();
  const before = readLog(location);
  const answer = await persyk(
    ["append", location],
    `${line.startsWith("{") && line.length > 1 ? "" : `${lines(message("a"))}\n`}${line}`,
  );
  expect(answer).toMatchObject({ code: exitCode, json: { error: { code } } });
  expect(answer.stderr.trim().split("\n")).toHaveLength(1);
  expect(readLog(location).equals(before)).toBe(true);
});

test("rename, archive and remove say what they did", async () => {
  const { location } = await created();
  await persyk(["append", location], lines(message("a", "a"), message("b", "b")));
  expect((await persyk(["rename", location, "  Two\nlines "])).json).toMatchObject({ ok: true, name: "Two lines" });
  expect((await persyk(["archive", location])).json).toMatchObject({ ok: true, archived: true });
  expect((await persyk(["archive", location, "--undo"])).json).toMatchObject({ ok: true, archived: false });
  expect((await persyk(["remove", location, "a"])).json).toMatchObject({ ok: true, removed: "a" });
  expect(await persyk(["remove", location, "a"])).toMatchObject({
    code: 1,
    json: { error: { code: "already-removed" } },
  });
  expect(await persyk(["remove", location, "x"])).toMatchObject({ code: 1 });
  const shown = await persyk(["show", location]);
  expect(shown.json).toMatchObject({ label: "Two lines", history: [{ entryId: "b" }] });
});

test("recover repairs a torn tail after a dry run that changes nothing, and refuses real damage", async () => {
  const { location } = await created();
  await persyk(["append", location], lines(message("a", "a")));
  const size = readLog(location).length;
  fs.appendFileSync(join(location, "session.jsonl"), '{"type":');
  expect(await persyk(["append", location], lines(message("b", "b")))).toMatchObject({
    code: 1,
    json: { error: { code: "session-not-authoritative" } },
  });
  const action = "truncate-fragment";
  const dry = { action, kept: null, bytesBefore: size + 8, bytesAfter: size, recordings: [] };
  expect((await persyk(["recover", location, "--dry-run"])).json).toEqual(dry);
  expect(readLog(location).length).toBe(size + 8);
  const done = await persyk(["recover", location]);
  expect(done.json).toEqual({ ...dry, kept: expect.stringContaining(`session.jsonl.fragment-${size}-`) });
  expect((await persyk(["recover", location])).json).toMatchObject({ action: "none", kept: null });
  fs.appendFileSync(join(location, "session.jsonl"), "garbage\n");
  expect(await persyk(["recover", location])).toMatchObject({ code: 1, json: { error: { code: "recovery-refused" } } });
});

test("delete wants a confirmation, and finds by id or location", async () => {
  const { id, location } = await created();
  expect(await persyk(["delete", id])).toMatchObject({ code: 2, json: { error: { code: "not-confirmed" } } });
  expect(fs.existsSync(location)).toBe(true);
  expect(await persyk(["delete", id, "--yes"])).toMatchObject({ code: 0, json: { ok: true } });
  expect(fs.existsSync(location)).toBe(false);
  expect(await persyk(["delete", location, "--yes"])).toMatchObject({
    code: 1,
    json: { error: { code: "not-found" } },
  });
});

test("wav inspect says what wav recover would do", async () => {
  const path = join(sandbox.folder, "r.wav");
  const bytes = Buffer.concat([wavHeader(0), Buffer.alloc(4_800)]);
  fs.writeFileSync(path, bytes);
  const repaired = { outcome: "repaired", frames: 2_400, durationMs: 100, reason: null };
  expect(await persyk(["wav", "inspect", "r.wav"])).toMatchObject({ code: 0, json: repaired });
  expect(fs.readFileSync(path).equals(bytes)).toBe(true);
  expect((await persyk(["wav", "recover", path])).json).toEqual(repaired);
  expect((await persyk(["wav", "recover", path])).json).toEqual({ ...repaired, outcome: "intact" });
  fs.writeFileSync(path, "");
  const rejected = { outcome: "rejected", frames: null, durationMs: null, reason: "empty-file" };
  expect(await persyk(["wav", "recover", path])).toMatchObject({ code: 1, json: rejected });
  expect(await persyk(["wav", "recover", "nothing.wav"])).toMatchObject({ code: 3 });
});
