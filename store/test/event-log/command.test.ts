/** `persyk event-log`: the answers as documents, and the exit codes. */
import { join } from "node:path";
import { run } from "../../src/cli/main";
import { copyRoot, FIXTURES, LOCKS } from "./support";

async function persyk(...argv: string[]): Promise<{ code: number; document: unknown; errors: string }> {
  let out = "";
  let errors = "";
  const code = await run(["--json", "event-log", ...argv], {
    stdin: (async function* () {})(),
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (errors += text) },
    env: {},
    cwd: FIXTURES,
    signal: new AbortController().signal,
  });
  return { code, document: out === "" ? undefined : JSON.parse(out), errors };
}

beforeAll(() => (process.env["PERSYK_LOCK_DIRECTORY"] = LOCKS));
afterAll(() => delete process.env["PERSYK_LOCK_DIRECTORY"]);

it("lists a root", async () => {
  const { code, document } = await persyk("list", "--root", "01-zstd-packed/before");
  expect(code).toBe(0);
  expect(document).toMatchObject({
    sessions: [{ header: { id: "chunky" }, revision: expect.any(String) }],
    problems: [],
  });
});

it("names what is wrong with a root and answers 1 when nothing is left", async () => {
  const { code, document } = await persyk("list", "--root", "01-zstd-packed/before", "--compression", "none");
  expect(code).toBe(1);
  expect(document).toMatchObject({ sessions: [], problems: [{ code: "event-log-encoding-mismatch" }] });
});

it("inspects, reads from a sequence number, loads and recovers", async () => {
  const root = copyRoot(join(FIXTURES, "06-raw-torn-tools/before"));
  const where = ["--root", root, "--compression", "none", "--id", "torn-r"];
  const inspected = await persyk("inspect", ...where);
  expect(inspected).toMatchObject({ code: 0, document: { meta: { id: "torn-r" } } });
  expect(await persyk("read", ...where, "--from", "11")).toMatchObject({
    code: 0,
    document: { events: [{ seq: 11 }, { seq: 12 }] },
  });
  expect(await persyk("recover", ...where, "--dry-run")).toMatchObject({
    document: { action: "cut-torn-tail", kept: null },
  });
  const loaded = await persyk("load", ...where);
  expect(loaded.document).toEqual(inspected.document);
  expect(await persyk("recover", ...where)).toMatchObject({ document: { action: "none", kept: null } });
});

it("says no with a code", async () => {
  const root = join(FIXTURES, "variants/z-trailing-garbage");
  expect(await persyk("inspect", "--root", root, "--id", "chunky")).toMatchObject({
    code: 1,
    document: {
      error: { code: "event-log-corrupt", offset: 1493, location: expect.stringContaining("session.jsonl.zstd") },
    },
  });
  expect(await persyk("inspect", "--root", root, "--id", "nobody")).toMatchObject({
    document: { error: { code: "not-found" } },
  });
  expect(await persyk("inspect", "--root", root, "--id", "x", "--compression", "lz4")).toMatchObject({ code: 2 });
  expect(await persyk("inspect", "--root", root)).toMatchObject({ code: 2 });
});
