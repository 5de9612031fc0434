import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { LayeredLock } from "../../src/lock/session-lock";
import { temporaryFolder } from "../library/sessions";
import { bundleFile, Program, removeBundles, until } from "../support/program";
import { install, type Installed } from "./installed";
import { contentOf, environmentOf, makeLibrary } from "./signal-cases";

jest.setTimeout(120_000);

let installed: Installed;
let interrupt: string;
let place: string;
let folder: string;
const started: Program[] = [];

beforeAll(() => {
  installed = install();
  interrupt = bundleFile(path.join(__dirname, "programs/interrupt.ts"));
  place = temporaryFolder();
});
beforeEach(() => {
  folder = mkdtempSync(path.join(place, "library-"));
  makeLibrary(folder);
});
afterEach(() => {
  for (const program of started.splice(0)) program.signal("SIGKILL");
});
afterAll(removeBundles);

function start(argv: readonly string[], env: Record<string, string> = {}): Program {
  const program = new Program(process.execPath, [installed.program, ...argv], { ...environmentOf(folder), ...env });
  started.push(program);
  return program;
}

/** The command stands still in the middle of a file operation, as it would on a disk that does not answer. */
async function startHeld(argv: readonly string[], at: number): Promise<Program> {
  const program = start(argv, {
    NODE_OPTIONS: `--require ${interrupt}`,
    INTERRUPT_AT: String(at),
    INTERRUPT_WITH: "hold",
  });
  await until(() => program.stderr.includes("test: held\n"), "the command stands still");
  return program;
}

describe("a second signal ends at once what the first could not", () => {
  test.each([
    ["SIGINT", ["show", "talk"]],
    ["SIGTERM", ["recover", "torn"]],
    ["SIGINT", ["export", "talk", "--format", "svg"]],
    ["SIGTERM", ["delete", "talk", "--yes"]],
  ] as const)("%s %j", async (signal, argv) => {
    const before = contentOf(folder);
    const program = await startHeld(argv, 3);
    program.signal(signal);
    await until(() => program.stderr.includes(`test: ${signal}\n`), "the first signal is seen");
    expect(program.child.exitCode).toBeNull();
    program.signal(signal);
    expect(await program.ended).toEqual({ code: 130, signal: null });
    expect(program.stderr).toMatch(/error: Ended at once, before the work could be put in order\. \[aborted\]\n$/);
    expect(program.lines).toEqual([]);
    expect(contentOf(folder)).toEqual(before);
  });

  test("signals of two kinds are not a second one: a launcher passes one on that the terminal has sent already", async () => {
    const program = await startHeld(["show", "talk"], 3);
    program.signal("SIGINT");
    await until(() => program.stderr.includes("test: SIGINT\n"), "the first is seen");
    program.signal("SIGTERM");
    await until(() => program.stderr.includes("test: SIGTERM\n"), "the other is seen");
    expect(program.stderr).not.toContain("Ended at once");
    program.signal("SIGINT");
    expect(await program.ended).toEqual({ code: 130, signal: null });
  });
});

describe("a command that waits stops waiting", () => {
  test.each([
    [["rename", "talk", "Another name"]],
    [["archive", "talk"]],
    [["remove", "talk", "e3"]],
    [["append", "talk"]],
    [["recover", "talk"]],
    [["delete", "talk", "--yes"]],
  ])("for the lock of a session: %j", async (argv) => {
    const location = path.join(folder, "sessions/talk");
    const locks = path.join(folder, "locks");
    const { dev, ino } = statSync(location, { bigint: true });
    const before = contentOf(folder);
    await new LayeredLock({ directory: locks }).withLock({ dev, ino, location }, {}, async () => {
      const program = start(argv);
      program.child.stdin?.end('{"type":"session_info","name":"Standup"}\n');
      await until(() => readdirSync(locks).some((name) => name.endsWith(".waiting")), "the command waits");
      program.signal("SIGINT");
      expect(await program.ended).toEqual({ code: 130, signal: null });
      expect(program.stderr).toMatch(/^error: The work was cancelled\. Nothing was changed\. [^\n]+ \[aborted\]\n$/);
    });
    expect(contentOf(folder)).toEqual(before);
  });

  test("for standard input that stays open", async () => {
    const before = contentOf(folder);
    const program = start(["append", "talk", "--json"]);
    await feed(program);
    program.signal("SIGINT");
    expect(await program.ended).toEqual({ code: 130, signal: null });
    expect(JSON.parse(program.lines.join("\n"))).toMatchObject({
      error: { code: "aborted", message: "The work was cancelled. Nothing was changed." },
    });
    expect(contentOf(folder)).toEqual(before);
  });

  const olderNode = findOlderNode();
  (olderNode === undefined ? test.skip : test)(
    "started by the launcher that had to look for a newer Node (needs a Node before 22.13 on the PATH)",
    async () => {
      for (const signal of ["SIGINT", "SIGTERM"] as const) {
        const program = new Program(olderNode ?? "", [installed.launcher, "append", "talk"], environmentOf(folder));
        await feed(program);
        program.signal(signal);
        expect(await program.ended).toEqual({ code: 130, signal: null });
        expect(program.stderr).toMatch(/^error: The work was cancelled\. Nothing was changed\. [^\n]+\n$/);
      }
    },
  );
});

/** Writes more than a pipe holds and never ends: when it is through, the program waits for more. */
function feed(program: Program): Promise<void> {
  return new Promise((resolve, reject) => {
    program.child.stdin?.on("error", () => undefined);
    program.child.stdin?.write(" ".repeat(1_048_576), (error) => (error ? reject(error) : resolve()));
  });
}

function findOlderNode(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(path.delimiter);
  return folders
    .map((each) => path.join(each, "node"))
    .filter((file) => existsSync(file))
    .find((file) => {
      const [major = 0, minor = 0] = spawnSync(file, ["-p", "process.versions.node"], { encoding: "utf8" })
        .stdout.split(".")
        .map(Number);
      return major > 0 && (major < 22 || (major === 22 && minor < 13));
    });
}
