import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "../library/sessions";
import { bundleFile, removeBundles, rounds } from "../support/program";
import { install, type Installed } from "./installed";
import {
  contentOf,
  environmentOf,
  LONG_APPEND,
  makeLibrary,
  shapeOf,
  signalCases,
  type SignalCase,
} from "./signal-cases";

jest.setTimeout(600_000);

let installed: Installed;
let interrupt: string;
let place: string;

beforeAll(() => {
  installed = install();
  interrupt = bundleFile(path.join(__dirname, "programs/interrupt.ts"));
  place = temporaryFolder();
});
afterAll(removeBundles);

interface Outcome {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** File operations that were begun. */
  operations: number;
}

function freshFolder(): string {
  const folder = mkdtempSync(path.join(place, "library-"));
  makeLibrary(folder);
  return folder;
}

/** Runs a command line; at its file operation number `at` it is sent the signal. */
function run(folder: string, { argv, stdin = "" }: SignalCase, at = 0, signal = "SIGINT"): Outcome {
  const countFile = path.join(place, "count");
  const { status, stdout, stderr, ...rest } = spawnSync(
    process.execPath,
    ["--require", interrupt, installed.program, ...argv],
    {
      cwd: folder,
      input: stdin,
      encoding: "utf8",
      env: {
        PATH: process.env["PATH"],
        ...environmentOf(folder),
        NODE_COMPILE_CACHE: path.join(place, "compiled"),
        INTERRUPT_AT: String(at),
        INTERRUPT_WITH: signal,
        INTERRUPT_COUNT: countFile,
      },
    },
  );
  return { exitCode: status, signal: rest.signal, stdout, stderr, operations: Number(readFileSync(countFile, "utf8")) };
}

/** What lies in the folder of locks, without the names of what is locked. */
function lockKinds(folder: string): string[] {
  return readdirSync(path.join(folder, "locks")).map((name) => name.replace(/^[^.]*/, ""));
}

/** At most so many of the numbers from 1 to `count`, the first and the last among them. */
function spread(count: number, most: number): number[] {
  if (count <= most) return Array.from({ length: count }, (_, index) => index + 1);
  return Array.from({ length: most }, (_, index) => 1 + Math.round((index * (count - 1)) / (most - 1)));
}

const cancelled = /^error: The work was cancelled\. [^\n]+ \[aborted\]\n$/;

describe("a signal at any moment leaves nothing half done", () => {
  test.each(signalCases.map((each) => [each.argv.join(" "), each] as const))("persyk %s", (_name, each) => {
    const whole = freshFolder();
    const before = contentOf(whole);
    const undisturbed = run(whole, each);
    const done = shapeOf(contentOf(whole));
    const locks = lockKinds(whole);
    expect(undisturbed).toMatchObject({ exitCode: each.exitCode ?? 0, stderr: expect.not.stringContaining("error") });

    let cancellations = 0;
    spread(undisturbed.operations, rounds(6)).forEach((at, index) => {
      const signal = ["SIGINT", "SIGTERM", "SIGHUP"][index % 3];
      const folder = freshFolder();
      const outcome = run(folder, each, at, signal);
      const after = contentOf(folder);
      const moment = { at, signal, outcome };
      if (outcome.exitCode === undisturbed.exitCode) {
        expect({ moment, shape: shapeOf(after) }).toEqual({ moment, shape: done });
        return;
      }
      cancellations += 1;
      expect(outcome).toMatchObject({ exitCode: 130, signal: null, stdout: "" });
      expect(outcome.stderr).toMatch(cancelled);
      for (const lock of lockKinds(folder)) expect(locks).toContain(lock);
      if (each.leaves === "all or nothing") {
        expect({ moment, content: after }).toEqual({ moment, content: before });
        return;
      }
      expect([...after.keys()].filter((name) => !done.some((line) => line.startsWith(`${name} `)))).toEqual([]);
      expect(run(folder, each).exitCode).toBe(undisturbed.exitCode);
      expect({ moment, shape: shapeOf(contentOf(folder)) }).toEqual({ moment, shape: done });
    });
    // What takes one step of a few milliseconds is done before the signal is looked at.
    if (each.isOneStep !== true) expect(cancellations).toBeGreaterThan(0);
  });
});

test("an interrupted append says what is committed, and that is what is on disk", () => {
  const each = signalCases.find(({ argv }) => argv[0] === "append");
  if (each === undefined) throw new Error("there is no append");
  const { operations } = run(freshFolder(), each);
  const said = spread(operations, rounds(8)).map((at) => {
    const folder = freshFolder();
    const { exitCode, stderr } = run(folder, each, at);
    const committed = readFileSync(path.join(folder, "sessions/talk/session.jsonl"), "utf8").split("\n").length - 6;
    const text =
      committed === 0
        ? "Nothing was changed."
        : `The first ${committed} of ${LONG_APPEND} entries are committed, up to new-${committed - 1}; the rest is not.`;
    if (exitCode === 0) expect(committed).toBe(LONG_APPEND);
    else expect({ exitCode, stderr }).toEqual({ exitCode: 130, stderr: expect.stringContaining(text) as string });
    return committed;
  });
  expect(new Set(said).size).toBeGreaterThan(2);
});
