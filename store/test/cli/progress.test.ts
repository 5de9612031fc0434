import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { LogText, temporaryFolder, writeSession } from "../library/sessions";
import { bundleFile, removeBundles } from "../support/program";
import { install, type Installed } from "./installed";
import { environmentOf, makeLibrary } from "./signal-cases";
import { inTerminal, linesOn, withTerminal, type TerminalAnswer, type TerminalRun } from "./terminal";

jest.setTimeout(120_000);

let installed: Installed;
let clock: string;
let interrupt: string;
let place: string;

beforeAll(() => {
  installed = install();
  clock = bundleFile(path.join(__dirname, "programs/clock.ts"));
  interrupt = bundleFile(path.join(__dirname, "programs/interrupt.ts"));
  place = temporaryFolder();
});
afterAll(removeBundles);

/** Work is long when a clock says so that runs a hundred times as fast, and short when it stands still. */
type Work = "long" | "short";

function run(argv: readonly string[], work: Work, more: Partial<TerminalRun> = {}): TerminalAnswer {
  const folder = mkdtempSync(path.join(place, "library-"));
  makeLibrary(folder);
  // It is warned of, where all that is looked at here is the bar.
  rmSync(path.join(folder, "sessions/torn"), { recursive: true });
  for (let count = 0; count < 20; count += 1) {
    const log = new LogText(`note-${count}`);
    log.user("A note about the budget");
    writeSession(path.join(folder, "sessions"), `note-${count}`, log);
  }
  writeFileSync(path.join(folder, "sessions/talk/session.jsonl"), longLog());
  return inTerminal({
    argv: [process.execPath, "--require", clock, installed.program, ...argv],
    cwd: folder,
    ...more,
    env: {
      PATH: process.env["PATH"] ?? "",
      TERM: "xterm",
      ...environmentOf(folder),
      CLOCK_RATE: work === "long" ? "100" : "0",
      ...more.env,
    },
  });
}

/** Longer than what is read at once. */
function longLog(): string {
  const log = new LogText("talk");
  log.entry("recording.started", {
    recordingId: "rec-1",
    asset: { status: "available", path: "assets/rec-1.wav", mimeType: "audio/wav" },
  });
  for (let count = 0; count < 5; count += 1) log.entry("custom", { customType: "test", data: "x".repeat(500_000) });
  log.message("assistant", "the end of it");
  return log.toString();
}

const bar = /[━╌]{24} +\d+ % {2}\S.* of \S/;
const cursorHidden = "\u001b[?25l";
const cursorShown = "\u001b[?25h";

const longWork: readonly [string, readonly string[]][] = [
  ["searching", ["search", "budget"]],
  ["reading", ["list"]],
  ["reading", ["doctor"]],
  ["reading", ["show", "talk"]],
  ["reading", ["context", "talk"]],
  ["reading", ["inspect", "talk"]],
  ["reading", ["export", "talk", "--format", "txt"]],
  ["drawing", ["export", "talk", "--format", "svg"]],
  ["reading", ["recover", "talk", "--dry-run"]],
  ["reading", ["rename", "talk", "Another name"]],
  ["replaying", ["realtime", "replay", "trace.jsonl"]],
];

describe("in a terminal", () => {
  withTerminal.each(longWork)("long work shows a bar that is gone in the end: %s %j", (label, argv) => {
    const { screen, exitCode, stdout } = run(argv, "long", { piped: ["stdout"] });
    expect(exitCode).toBe(0);
    expect(screen).toMatch(new RegExp(`${label}  ${bar.source}`));
    expect(stdout).not.toMatch(bar);
    expect(linesOn(screen).join("").trim()).toBe("");
    expect(screen.lastIndexOf(cursorShown)).toBeGreaterThan(screen.lastIndexOf(cursorHidden));
  });

  withTerminal("the result follows where the bar was", () => {
    const lines = linesOn(run(["search", "budget"], "long").screen);
    expect(lines.join("\n")).not.toMatch(bar);
    expect(lines[0]).toMatch(/^A note about the budget/);
    expect(lines.at(-2)).toMatch(/^\d+ sessions$/);
  });

  withTerminal.each(longWork)("short work shows none: %s %j", (_label, argv) => {
    const { screen, exitCode } = run(argv, "short", { piped: ["stdout"] });
    expect({ screen, exitCode }).toEqual({ screen: "", exitCode: 0 });
  });

  withTerminal.each(longWork)("none with --json: %s %j", (_label, argv) => {
    const { screen, stdout } = run([...argv, "--json"], "long", { piped: ["stdout"] });
    expect(screen).toBe("");
    expect(stdout).not.toBe("");
  });

  withTerminal.each(longWork)("none where standard error is a pipe: %s %j", (_label, argv) => {
    const { screen, stderr } = run(argv, "long", { piped: ["stderr"] });
    expect(screen).not.toMatch(bar);
    expect(screen).not.toContain(cursorHidden);
    expect(stderr).toBe("");
  });
});

describe("Ctrl-C typed while the bar is on the screen", () => {
  /** Stands still before it reads the second part of the log, with the bar for the first one. */
  function interruptedRead(mode: "pause" | "hold", keys: readonly (readonly [string, string])[]): TerminalAnswer {
    const env = {
      NODE_OPTIONS: `--require ${interrupt}`,
      INTERRUPT_ONLY: "read",
      INTERRUPT_AT: "2",
      INTERRUPT_WITH: mode,
    };
    return run(["show", "./sessions/talk"], "long", { env, keys });
  }

  withTerminal("takes it away and says that nothing was changed", () => {
    const { screen, exitCode, missed } = interruptedRead("pause", [["test: held", "\u0003"]]);
    expect({ missed, exitCode }).toEqual({ missed: undefined, exitCode: 130 });
    expect(screen).toMatch(bar);
    expect(linesOn(screen).at(-2)).toMatch(/^error: The work was cancelled\. Nothing was changed\. .*\[aborted\]$/);
    expect(linesOn(screen).join("\n")).not.toMatch(bar);
    expect(screen.lastIndexOf(cursorShown)).toBeGreaterThan(screen.lastIndexOf(cursorHidden));
  });

  withTerminal("typed twice ends at once, and gives the cursor back", () => {
    const { screen, exitCode, missed } = interruptedRead("hold", [
      ["test: held", "\u0003"],
      ["test: SIGINT", "\u0003"],
    ]);
    expect({ missed, exitCode }).toEqual({ missed: undefined, exitCode: 130 });
    expect(screen).toMatch(bar);
    expect(screen).toContain("error: Ended at once");
    expect(screen.lastIndexOf(cursorShown)).toBeGreaterThan(screen.lastIndexOf(cursorHidden));
  });
});
