import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { LogText, temporaryFolder, wav, writeSession } from "../library/sessions";
import { wellFormed } from "../library/well-formed";
import { runCli, type CliResult } from "./run-cli";

const folder = temporaryFolder();
const root = path.join(folder, "sessions");
const env = { PERSYK_ROOT: root, HOME: folder, PERSYK_LOCK_DIRECTORY: path.join(folder, "locks") };
const persyk = (...argv: string[]): Promise<CliResult> => runCli(argv, { env, cwd: folder });

let talk = "";

beforeAll(() => {
  const log = new LogText("talk", Date.parse("2026-03-01T10:00:00Z"));
  const asset = { status: "available", path: "assets/rec-1.wav", mimeType: "audio/wav" };
  log.entry("recording.started", { recordingId: "rec-1", asset });
  log.user([
    { type: "text", text: "Remind me of the budget" },
    { type: "audio", asset, recordingId: "rec-1", startMs: 500, endMs: 1500 },
  ]);
  log.message("assistant", "I will");
  log.entry("recording.finished", {
    recordingId: "rec-1",
    durationMs: 4000,
    outcome: "incomplete",
    gaps: [{ reason: "provider disconnected", startMs: 2000, endMs: 3000 }],
  });
  talk = writeSession(root, "talk", log);
  writeFileSync(path.join(talk, "assets", "rec-1.wav"), wav(4000, [[500, 1500]]));
  const older = new LogText("older", Date.parse("2026-02-01T10:00:00Z"));
  older.user("An older budget");
  writeSession(root, "older", older);
  writeSession(root, "torn", `${new LogText("torn", Date.parse("2026-01-02T00:00:00Z")).toString()}{"type":"mess`);
  writeSession(root, "corrupt", `${new LogText("corrupt", Date.parse("2026-01-01T00:00:00Z")).toString()}nonsense\n`);
});

describe("list", () => {
  test("is newest first, every session with its verdict", async () => {
    const { exitCode, json } = await persyk("list", "--json");
    expect(exitCode).toBe(0);
    expect(json["cursor"]).toBeNull();
    expect(json["sessions"]).toMatchObject([
      {
        id: "talk",
        location: talk,
        label: "Remind me of the budget",
        archived: false,
        verdict: "valid",
        messages: 2,
        durationMs: 4000,
        interrupted: false,
      },
      { id: "older", createdAt: "2026-02-01T10:00:00.000Z", verdict: "valid", messages: 1, durationMs: 0 },
      { id: "torn", verdict: "tail-pending" },
      { id: "corrupt", verdict: "corrupt" },
    ]);
    expect(json["diagnostics"]).toMatchObject([{ sessionId: "torn" }, { sessionId: "corrupt", line: 2 }]);
  });

  test("goes on where a page ended, with --json before or after the command", async () => {
    const first = (await persyk("--json", "list", "--limit", "3")).json;
    expect(first["sessions"]).toHaveLength(3);
    const rest = (await persyk("list", "--json", "--cursor", String(first["cursor"]))).json;
    expect(rest).toMatchObject({ sessions: [{ id: "corrupt" }], cursor: null });
  });

  test("is a table that fits the terminal, with what is wrong beside it", async () => {
    const { stdout, stderr } = await runCli(["list"], {
      env: { ...env, NO_COLOR: "1" },
      cwd: folder,
      isTTY: true,
      columns: 70,
    });
    expect(stdout).toContain("created");
    expect(stdout).toContain("talk");
    expect(stdout).toContain("4 sessions");
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(70);
    expect(stderr).toContain("warning:");
  });

  test("of a missing default root is empty; of a missing named root says so", async () => {
    const empty = await runCli(["list", "--json"], { env: { HOME: path.join(folder, "nobody") } });
    expect(empty).toMatchObject({ exitCode: 0 });
    expect(empty.json).toEqual({ sessions: [], diagnostics: [], cursor: null });
    const named = await persyk("list", "--json", "--root", "nowhere");
    expect(named.json["diagnostics"]).toMatchObject([{ code: "root-missing", location: path.join(folder, "nowhere") }]);
  });
});

describe("search", () => {
  test("gives excerpts with their matches", async () => {
    const { exitCode, json } = await persyk("search", "BUDGET", "--json");
    expect(exitCode).toBe(0);
    const hits = json["hits"] as {
      id: string;
      excerpt: string;
      matches: { start: number; end: number }[];
      leaf: string;
    }[];
    expect(hits.map(({ id }) => id)).toEqual(["talk", "older"]);
    expect(hits[0]?.leaf).toBe("e4");
    for (const { excerpt, matches } of hits) {
      expect(matches.map(({ start, end }) => excerpt.slice(start, end))).toEqual(["budget"]);
    }
  });

  test("says that nothing is found, with exit code 1", async () => {
    expect(await persyk("search", "zebra")).toMatchObject({ exitCode: 1, stdout: "Nothing found.\n" });
    expect((await persyk("search", "zebra", "--json")).json).toMatchObject({ hits: [], diagnostics: [] });
  });

  test("cannot be made to steer the terminal by a transcript", async () => {
    const evil = path.join(folder, "evil");
    const log = new LogText("evil");
    log.user("red \u001b[31m alarm \u0007 \u202e reversed");
    writeSession(evil, "one", log);
    for (const command of [["list"], ["search", "alarm"], ["show", "evil"]]) {
      const { stdout } = await runCli([...command, "--root", evil], { env: { ...env, NO_COLOR: "1" } });
      expect(stdout).toContain("alarm");
      // eslint-disable-next-line no-control-regex -- looking for them is the point
      expect(stdout).not.toMatch(/[\u001b\u0007]/);
    }
  });
});

describe("show, last, inspect", () => {
  test("show has the history, recordings and gaps, by id or by location", async () => {
    const byId = (await persyk("show", "talk", "--json")).json;
    expect(byId).toMatchObject({
      id: "talk",
      location: talk,
      leaf: "e4",
      label: "Remind me of the budget",
      history: [
        { entryId: "e2", role: "user", text: "Remind me of the budget", range: { startMs: 500, endMs: 1500 } },
        { entryId: "e3", role: "assistant", text: "I will", range: null },
      ],
      recordings: [{ recordingId: "rec-1", state: "finished", outcome: "incomplete", durationMs: 4000 }],
      gaps: [{ recordingId: "rec-1", reason: "provider disconnected", startMs: 2000, endMs: 3000 }],
    });
    for (const reference of [talk, "sessions/talk", "./sessions/talk/session.jsonl"]) {
      expect((await persyk("show", reference, "--json")).json).toEqual(byId);
    }
    expect((await persyk("show", "talk", "--leaf", "e2", "--json")).json).toMatchObject({
      leaf: "e2",
      history: [{ entryId: "e2" }],
    });
    expect((await persyk("show", "talk", "--leaf", "null", "--json")).json).toMatchObject({ leaf: null, history: [] });
    expect(await persyk("show", "talk", "--leaf", "gone")).toMatchObject({ exitCode: 1 });
    const { stdout } = await persyk("show", "talk");
    for (const part of ["You", "0:00.5 – 0:01.5", "Assistant", "1 gap", "provider disconnected", "assets/rec-1.wav"])
      expect(stdout).toContain(part);
  });

  test("last is the session that was spoken to last", async () => {
    const { exitCode, json } = await persyk("last", "--json");
    expect(exitCode).toBe(0);
    expect(json).toMatchObject({ id: "talk", text: "You: Remind me of the budget\n\nAssistant: I will" });
    const nothing = await runCli(["last", "--json"], { env: { HOME: path.join(folder, "nobody") } });
    expect(nothing.exitCode).toBe(1);
  });

  test("inspect gives the verdict as exit code and document, and writes nothing", async () => {
    expect(await persyk("inspect", "talk")).toMatchObject({ exitCode: 0 });
    const before = readFileSync(path.join(root, "torn", "session.jsonl"));
    const torn = await persyk("inspect", "torn", "--json");
    expect(torn.exitCode).toBe(1);
    expect(torn.json).toMatchObject({
      verdict: "tail-pending",
      authoritative: false,
      recoverable: "truncate-fragment",
      committedEntries: 0,
      sessionId: "torn",
      leaf: null,
    });
    const corrupt = await persyk("inspect", "corrupt", "--json");
    expect(corrupt.json).toMatchObject({
      verdict: "corrupt",
      recoverable: "no",
      diagnostics: [{ line: 2, code: expect.any(String) as string }],
    });
    expect(corrupt.stdout).not.toContain("nonsense");
    expect(readFileSync(path.join(root, "torn", "session.jsonl"))).toEqual(before);
  });
});

describe("export", () => {
  test.each([
    ["txt", "You: Remind me of the budget\n\nAssistant: I will\n"],
    ["srt", "1\n00:00:00,500 --> 00:00:01,500\nRemind me of the budget\n"],
    ["vtt", "WEBVTT\n\n00:00:00.500 --> 00:00:01.500\nRemind me of the budget\n"],
  ])("%s", async (format, expected) => {
    expect(await persyk("export", "talk", "--format", format)).toMatchObject({ exitCode: 0, stdout: expected });
  });

  test("json, md and svg", async () => {
    expect(JSON.parse((await persyk("export", "talk", "--format", "json")).stdout)).toMatchObject({ id: "talk" });
    expect((await persyk("export", "talk", "--format", "md")).stdout).toContain("# Remind me of the budget\n");
    const { stdout } = await persyk("export", "talk", "--format", "svg");
    wellFormed(stdout);
    expect(stdout).toContain('<path class="user"');
    expect(stdout).toContain("provider disconnected");
  });

  test("into a new file, never over another without --force", async () => {
    const out = path.join(folder, "talk.txt");
    expect(await persyk("export", "talk", "--format", "txt", "--out", "talk.txt")).toMatchObject({ exitCode: 0 });
    writeFileSync(out, "mine");
    const refused = await persyk("export", "talk", "--format", "txt", "--out", "talk.txt");
    expect(refused.exitCode).not.toBe(0);
    expect(readFileSync(out, "utf8")).toBe("mine");
    await persyk("export", "talk", "--format", "txt", "--out", "talk.txt", "--force");
    expect(readFileSync(out, "utf8")).toContain("budget");
  });
});

describe("wrong usage and failures", () => {
  test.each([
    [[]],
    [["nonsense"]],
    [["list", "extra"]],
    [["list", "--limit", "0"]],
    [["list", "--limit", "many"]],
    [["list", "--cursor", "nonsense"]],
    [["search"]],
    [["search", ""]],
    [["export", "talk"]],
    [["export", "talk", "--format", "pdf"]],
    [["show", "not an id"]],
    [["completion", "csh"]],
  ])("%j is wrong usage", async (argv) => {
    const plain = await persyk(...argv);
    expect(plain.exitCode).toBe(2);
    expect(plain.stdout).toBe("");
    expect(plain.stderr).not.toBe("");
    if (argv.length === 0) return;
    expect(plain.stderr.trimEnd()).not.toContain("\n");
    const asJson = await persyk(...argv, "--json");
    expect(asJson.exitCode).toBe(2);
    expect(asJson.json).toMatchObject({ error: { code: "usage", message: expect.any(String) as string } });
  });

  test("a session that is not there is a negative answer, one line", async () => {
    const { exitCode, stderr, json } = await persyk("show", "nobody", "--json");
    expect(exitCode).toBe(1);
    expect(json).toMatchObject({ error: { code: "not-found", sessionId: "nobody" } });
    expect(stderr.trimEnd()).not.toContain("\n");
  });

  test("roots from the environment must be absolute", async () => {
    expect(await runCli(["list"], { env: { PERSYK_ROOT: "relative" } })).toMatchObject({ exitCode: 2 });
    expect(await runCli(["list"], { env: { ...env, PERSYK_ADDITIONAL_ROOTS: "relative" } })).toMatchObject({
      exitCode: 2,
    });
  });

  test("cancelled work exits with 130 and leaves nothing", async () => {
    const signal = AbortSignal.abort(new DOMException("interrupted", "AbortError"));
    const out = path.join(folder, "never.txt");
    const result = await runCli(["export", "talk", "--format", "txt", "--out", out], { env, signal });
    expect(result.exitCode).toBe(130);
    expect(existsSync(out)).toBe(false);
  });
});

describe("help, doctor, completion", () => {
  test("every command has a description, examples and help", async () => {
    const { stdout, exitCode } = await persyk("--help");
    expect(exitCode).toBe(0);
    const names = [...stdout.matchAll(/^ {2}([a-z-]+)(?:\|\w+)?(?: [<[].*?)? {2,}\S/gm)]
      .map(([, name]) => name ?? "")
      .filter((name) => name !== "help" && !name.startsWith("-"));
    for (const expected of [
      "list",
      "search",
      "show",
      "context",
      "last",
      "inspect",
      "recover",
      "append",
      "create",
      "remove",
      "rename",
      "archive",
      "delete",
      "export",
      "wav",
      "realtime",
      "event-log",
      "doctor",
    ]) {
      expect(names).toContain(expected);
    }
    for (const name of names) {
      const help = await persyk(name, "--help");
      expect(help.exitCode).toBe(0);
      // A group's examples are those of its commands.
      expect([name, help.stdout]).toEqual([name, expect.stringMatching(/Example|Commands:/)]);
    }
  });

  test("doctor says what is configured and what needs attention, and no secrets", async () => {
    const secret = "sk-very-secret";
    const { exitCode, json, stdout } = await runCli(["doctor", "--json"], {
      env: { ...env, OPENAI_API_KEY: secret, PATH: "/usr/bin" },
    });
    expect(exitCode).toBe(1);
    expect(json).toMatchObject({
      roots: [{ path: root, from: "configured", state: "ok", sessions: 4, writesGoHere: true }],
      locks: { directory: env.PERSYK_LOCK_DIRECTORY },
      interrupted: [{ id: "torn" }],
      damaged: [{ id: "corrupt" }],
      ok: false,
    });
    expect(stdout).not.toContain(secret);
    expect((await persyk("doctor")).stdout).toContain("interrupted");
  });

  test.each(["bash", "zsh", "fish"])("completion for %s knows commands and options", async (shell) => {
    const { stdout, exitCode } = await persyk("completion", shell);
    expect(exitCode).toBe(0);
    for (const word of ["search", "event-log", "format", "srt"]) expect(stdout).toContain(word);
  });

  test.each([
    [["exp"], "export"],
    [["event-log", "insp"], "inspect"],
    [["export", "--fo"], "--format --force"],
    [["export", "talk", "--format", "sv"], "svg"],
  ])("bash completes persyk %j", async (typed, expected) => {
    const { stdout } = await persyk("completion", "bash");
    const words = ["persyk", ...typed].map((word) => `'${word}'`).join(" ");
    const ask = `\nCOMP_WORDS=(${words}); COMP_CWORD=${typed.length}; _persyk; echo "\${COMPREPLY[*]}"\n`;
    const answer = execFileSync("bash", ["--norc"], { input: stdout + ask, encoding: "utf8", cwd: folder });
    expect(answer.trim().split(" ").sort()).toEqual(expected.split(" ").sort());
  });
});
