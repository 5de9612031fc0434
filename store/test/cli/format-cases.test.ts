import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../src/cli/main";
import { fixtures, readCases } from "../format/case-files";

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "persyk-cli-format-"));
});
afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

interface Answer {
  exitCode: number;
  stdout: string;
  stderr: string;
}

async function persyk(...argv: string[]): Promise<Answer> {
  const written = { stdout: "", stderr: "" };
  const output = (name: "stdout" | "stderr") => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const exitCode = await run(argv, {
    stdin: (async function* () {})(),
    stdout: output("stdout"),
    stderr: output("stderr"),
    env: {},
    cwd: root,
    signal: new AbortController().signal,
  });
  return { exitCode, ...written };
}

/** The one JSON document on the one line of standard output. */
function documentOf({ stdout }: Answer): Record<string, unknown> {
  expect(stdout.endsWith("\n")).toBe(true);
  expect(stdout.trimEnd()).not.toContain("\n");
  return JSON.parse(stdout) as Record<string, unknown>;
}

function place(name: string, bytes: Buffer): string {
  const location = join(root, name);
  mkdirSync(location);
  writeFileSync(join(location, "session.jsonl"), bytes);
  return location;
}

function placeFixture(name: string): string {
  const location = join(root, name);
  mkdirSync(location, { recursive: true });
  cpSync(join(fixtures, `${name}.jsonl`), join(location, "session.jsonl"));
  return location;
}

test("inspect answers every case, by its document and its exit code", async () => {
  for (const each of [...readCases("records.json"), ...readCases("verdicts.json")]) {
    const answer = await persyk("inspect", place(each.id, Buffer.from(each.base64, "base64")), "--json");
    const document = documentOf(answer);
    const { authoritative, recoverable, committedEntries, verdict, first } = each.expected;
    expect({ id: each.id, ...document }).toMatchObject({ id: each.id, authoritative, recoverable, committedEntries });
    if (verdict !== undefined) expect(document["verdict"]).toBe(verdict);
    const [diagnostic] = document["diagnostics"] as Record<string, unknown>[];
    if (first !== undefined) {
      expect(diagnostic === undefined ? null : diagnostic).toEqual(
        first === null ? null : { ...first, message: expect.any(String) as string },
      );
    }
    expect(answer.exitCode).toBe(authoritative ? 0 : 1);
    expect(Object.keys(document)).toEqual([
      "verdict",
      "authoritative",
      "recoverable",
      "committedEntries",
      "sessionId",
      "leaf",
      "diagnostics",
    ]);
  }
});

test("context gives the surviving messages, and their form for an API", async () => {
  const location = placeFixture("v1-ok-orphan-tool-result");
  const generic = documentOf(await persyk("context", location, "--json"));
  expect(generic["entries"]).toEqual(["u1", "t1", "a1"]);
  expect(JSON.stringify(generic["messages"])).not.toContain("details");
  const chat = documentOf(await persyk("context", location, "--target", "chat", "--json"));
  expect(chat).toEqual({
    entries: ["u1", "a1"],
    messages: [
      { role: "user", content: "q" },
      { role: "assistant", content: "done" },
    ],
    omitted: [{ entryId: "t1", reason: "orphan-tool-result" }],
  });
  const realtime = documentOf(await persyk("context", location, "--target", "openai-realtime", "--json"));
  expect(realtime["entries"]).toEqual(["u1", "a1"]);
  expect(documentOf(await persyk("context", location, "--leaf", "null", "--json"))).toEqual({
    entries: [],
    messages: [],
  });
  const text = await persyk("context", location);
  expect(text).toMatchObject({ exitCode: 0, stderr: "" });
  expect(text.stdout).toContain("done");
});

test("context refuses an absent leaf, an unknown target and a log that is not fit", async () => {
  const location = placeFixture("v1-ok-user-only");
  const absent = await persyk("context", location, "--leaf", "nowhere", "--json");
  expect(documentOf(absent)).toMatchObject({ error: { code: "entry-not-found" } });
  expect(absent.exitCode).not.toBe(0);
  expect(await persyk("context", location, "--target", "telepathy")).toMatchObject({ exitCode: 2, stdout: "" });
  const blocked = await persyk("context", placeFixture("v1-bad-unknown-type"), "--json");
  expect(documentOf(blocked)).toMatchObject({ error: { code: "session-not-authoritative", line: 2 } });
  expect(blocked.exitCode).toBe(1);
});

test("show gives the history of a session whose tail is torn", async () => {
  const answer = await persyk("show", placeFixture("v1-tail-torn-fragment"), "--json");
  const { history } = documentOf(answer);
  expect((history as { entryId: string }[]).map(({ entryId }) => entryId)).toEqual(["u1", "a1"]);
});
