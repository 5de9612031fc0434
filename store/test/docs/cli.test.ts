import { writeFileSync } from "node:fs";
import path from "node:path";
import { type Command } from "commander";
import { createProgram } from "../../src/cli/main";
import { CliContext } from "../../src/cli/context";
import { formatTime } from "../../src/cli/output/format";
import { runCli } from "../cli/run-cli";
import { LogText, temporaryFolder, wav, writeSession } from "../library/sessions";
import { expectGenerated } from "./generated";

const folder = temporaryFolder();
const root = path.join(folder, "sessions");
const env = {
  PERSYK_ROOT: root,
  HOME: folder,
  PERSYK_LOCK_DIRECTORY: path.join(folder, "locks"),
  NO_COLOR: "1",
  TZ: "UTC",
};

/** What the page shows, run for real on the library below. */
const examples: [string[], string][] = [
  [["list"], "Newest first; what is wrong with a session stands beside the list."],
  [["search", "budget"], "With `--json` an excerpt carries the ranges of its matches."],
  [["search", "budget", "--limit", "1", "--json"], ""],
  [["show", "team-call"], "Times where the session knows them, recordings, gaps."],
  [["inspect", "torn-note"], ""],
  [["recover", "torn-note", "--dry-run"], "A dry run says what recovery would do, and changes nothing."],
  [["export", "team-call", "--format", "srt"], "Subtitles hold the turns whose time is known."],
  [["context", "team-call", "--json"], ""],
  [["show", "nobody"], "Failures are one line, with a remedy and a code."],
];

function makeLibrary(): void {
  const call = new LogText("team-call", Date.parse("2026-03-02T10:00:00Z"));
  const asset = { status: "available", path: "assets/rec-1.wav", mimeType: "audio/wav" };
  call.entry("recording.started", { recordingId: "rec-1", asset });
  call.user([
    { type: "text", text: "Let us move the budget review to Thursday." },
    { type: "audio", asset, recordingId: "rec-1", startMs: 500, endMs: 3100 },
  ]);
  call.message("assistant", "Thursday works. Who should join?");
  call.user([
    { type: "text", text: "Everyone who was there last quarter." },
    { type: "audio", asset, recordingId: "rec-1", startMs: 6200, endMs: 8800 },
  ]);
  call.entry("recording.finished", {
    recordingId: "rec-1",
    durationMs: 9500,
    outcome: "incomplete",
    gaps: [{ reason: "provider disconnected", startMs: 3600, endMs: 5900 }],
  });
  call.entry("session_info", { name: "Team call" });
  writeFileSync(
    path.join(writeSession(root, "team-call", call), "assets/rec-1.wav"),
    wav(9500, [
      [500, 3100],
      [6200, 8800],
    ]),
  );
  const note = new LogText("budget-note", Date.parse("2026-02-20T08:30:00Z"));
  note.user("Ask about the budget for the new microphones");
  writeSession(root, "budget-note", note);
  const torn = new LogText("torn-note", Date.parse("2026-01-05T17:45:00Z"));
  torn.user("The train leaves at nine");
  writeSession(root, "torn-note", `${torn.toString()}{"type":"message","id":"e2","parentId":"e1","time`);
}

/** What differs from run to run and place to place: folders, file identities, cursors, the local time zone. */
function steady(output: string): string {
  let text = output.replaceAll(folder, "~").trimEnd();
  for (const iso of ["2026-03-02T10:00:00.000Z", "2026-02-20T08:30:00.000Z", "2026-01-05T17:45:00.000Z"]) {
    text = text.replaceAll(formatTime(iso), iso.slice(0, 16).replace("T", " "));
  }
  return text.replace(/"(identity|cursor)":"[^"]*"/g, '"$1":"…"');
}

function helpOf(command: Command, path_: string): string[] {
  if (command.name() === "help") return [];
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 100 });
  command.outputHelp();
  const own = `## \`persyk ${path_}\`\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`;
  return [own, ...command.commands.flatMap((child) => helpOf(child, `${path_} ${child.name()}`))];
}

test("docs/cli.md shows every command's help, and what the examples really print", async () => {
  makeLibrary();
  const shown: string[] = [];
  for (const [argv, words] of examples) {
    const { stdout, stderr } = await runCli(argv, { env });
    const output = steady(`${stdout}${stderr}`);
    const typed = argv.map((word) => (word.includes(" ") ? `"${word}"` : word)).join(" ");
    shown.push(`${words === "" ? "" : `${words}\n\n`}\`\`\`text\n$ persyk ${typed}\n${output}\n\`\`\`\n`);
  }
  const io = {
    stdin: process.stdin,
    stdout: { write: () => undefined },
    stderr: { write: () => undefined },
    env,
    cwd: folder,
    signal: new AbortController().signal,
  };
  const program = createProgram(new CliContext(io));
  const commands = program.commands.flatMap((command) => helpOf(command, command.name()));
  expectGenerated(
    "cli.md",
    `# The command line

\`npx persyk\` works from the project root right after the install; \`node_modules/.bin/persyk\` is the program. It reads
and writes sessions without Raycast: for people, for scripts, for checks.

- Text for people by default: tables, colours only on a terminal (\`NO_COLOR\` turns them off), a progress bar on long
  work. \`--json\`, before or after the command, gives one JSON document on one line instead.
- Exit codes: 0 done; 1 the answer is negative (not valid, nothing found, refused for what the data says); 2 wrong
  usage; 3 could not (files, locks); 130 cancelled, with Ctrl-C or by SIGTERM or SIGHUP, with nothing half done and a line
  that says what was done; a second Ctrl-C ends at once. [errors.md](errors.md) lists the
  codes of failures.
- SESSION is a location (a folder, or its \`session.jsonl\`) or the unique id of a session in the roots.

| variable | |
| --- | --- |
| \`PERSYK_ROOT\` | the absolute folder of sessions; \`Documents/persyk/sessions\` without it |
| \`PERSYK_ADDITIONAL_ROOTS\` | further absolute folders, separated like \`PATH\` |
| \`PERSYK_DEVELOPMENT\` | \`1\`: the default is \`Documents/persyk-dev/sessions\` |
| \`PERSYK_LOCK_DIRECTORY\` | where lock files live, when not in the user's state folder |

\`--root DIR\`, repeatable, replaces the configured roots; the first is the one written to. Tab completion:
\`eval "$(persyk completion bash)"\`, or \`zsh\`, \`fish\`.

# Examples

${shown.join("\n")}
# Commands

${commands.join("\n")}`,
  );
});
