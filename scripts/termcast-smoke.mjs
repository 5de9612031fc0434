import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { root } from "./lib/node22.mjs";
import { toolEnvironment } from "./lib/run.mjs";

/**
 * Runs Search Sessions in a terminal with termcast and looks at what is on the screen: the list, a search, the detail, its
 * actions. `--pictures` writes the screens as pictures of the README. It needs tmux and, the first time, the network;
 * where one is missing it says so and ends with 0, because the isolate tests are what counts.
 *
 * termcast runs on Bun and knows neither `updateCommandMetadata`, tools nor the menu bar, so a copy without them is run.
 */
const folder = path.join(root, ".cache/termcast");
const copy = path.join(folder, "extension");
const sessions = path.join(folder, "sessions");
const socket = `persyk-${process.pid}`;
const pins = {
  private: true,
  dependencies: { termcast: "1.4.1", bun: "1.3.12" },
  // Later ones parse arguments asynchronously, and termcast ends at once.
  overrides: { goke: "6.9.0" },
};

if (spawnSync("tmux", ["-V"]).status !== 0) skip("tmux is not installed");
mkdirSync(folder, { recursive: true });
if (!existsSync(path.join(folder, "node_modules/termcast"))) {
  writeFileSync(path.join(folder, "package.json"), JSON.stringify(pins));
  const installed = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    env: toolEnvironment(),
    encoding: "utf8",
  });
  if (installed.status !== 0) skip("termcast cannot be installed here");
}
prepareCopy();
prepareSessions();
try {
  const bun = path.join(folder, "node_modules/.bin/bun");
  const program = path.join(folder, "node_modules/termcast/src/cli.tsx");
  tmux("new-session", "-d", "-s", "run", "-x", "118", "-y", "32", `${bun} ${program} dev ${copy} search-sessions`);
  await shows("list", "Morning notes", "Created:");
  tmux("send-keys", "-t", "run", "bank");
  await shows("search-sessions", "> bank", "Bank form", "call the bank");
  tmux("send-keys", "-t", "run", "Enter");
  await shows("session-detail", "go back", "the weather is nice");
  tmux("send-keys", "-t", "run", "C-k");
  await shows("session-actions", "Copy Transcript", "Play Recording", "Transcribe Recording Again");
  console.log("termcast: list, search, detail and actions are on the screen");
} finally {
  spawnSync("tmux", ["-L", socket, "kill-server"]);
}

function skip(reason) {
  console.log(`termcast: skipped, ${reason}`);
  process.exit(0);
}

function tmux(...args) {
  const done = spawnSync("tmux", ["-L", socket, ...args], { encoding: "utf8" });
  if (done.status !== 0) throw new Error(`tmux ${args[0]}: ${done.stderr}`);
  return done.stdout;
}

async function shows(name, ...texts) {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const screen = tmux("capture-pane", "-p", "-t", "run");
    if (texts.every((text) => screen.includes(text))) {
      if (process.argv.includes("--pictures") && name !== "list") writePicture(name, screen);
      return;
    }
    if (Date.now() > deadline)
      throw new Error(`${name}: ${texts.join(", ")} did not appear. On the screen:\n${screen}`);
    await sleep(100);
  }
}

function prepareCopy() {
  rmSync(copy, { recursive: true, force: true });
  const made = spawnSync(process.execPath, [path.join(root, "scripts/vendor-extension.mjs"), copy, "--no-lock"], {
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(made.stderr);
  symlinkSync(path.join(root, "node_modules"), path.join(copy, "node_modules"));
  edit("src/lib/raycast.ts", (text) =>
    text.replace(", updateCommandMetadata", "").replace("await updateCommandMetadata({ subtitle });", "void subtitle;"),
  );
  edit("package.json", (text) => {
    const manifest = JSON.parse(text);
    delete manifest.ai;
    delete manifest.tools;
    manifest.commands = manifest.commands.filter((command) => command.name === "search-sessions");
    manifest.preferences.find((preference) => preference.name === "sessionsDirectory").default = sessions;
    return JSON.stringify(manifest);
  });
}

function edit(name, change) {
  const file = path.join(copy, name);
  writeFileSync(file, change(readFileSync(file, "utf8")));
}

function prepareSessions() {
  rmSync(sessions, { recursive: true, force: true });
  const { turns } = JSON.parse(readFileSync(path.join(root, "assets/sample.transcript.json"), "utf8"));
  writeSession("notes", "2026-09-01T08:15:00.000Z", turns, "Morning notes", path.join(root, "assets/sample.wav"));
  writeSession("bread", "2026-08-30T17:40:00.000Z", [{ text: "buy bread and two litres of milk" }]);
  writeSession("form", "2026-08-29T11:05:00.000Z", [{ text: "the bank wants the signed form by friday" }], "Bank form");
  writeSession("talk", "2026-08-28T09:30:00.000Z", [{ text: "ideas for the talk: start with the crash" }]);
}

function writeSession(id, createdAt, turns, name, wav) {
  const location = path.join(sessions, id);
  mkdirSync(path.join(location, "assets"), { recursive: true });
  const startMs = Date.parse(createdAt);
  const lines = [{ type: "session", version: 1, id, timestamp: createdAt }];
  let parentId = null;
  const add = (type, fields) => {
    const entry = {
      type,
      id: `${id}-${lines.length}`,
      parentId,
      timestamp: new Date(startMs + lines.length).toISOString(),
    };
    lines.push({ ...entry, ...fields });
    parentId = entry.id;
  };
  const asset = { status: "available", path: `assets/${id}.wav`, mimeType: "audio/wav" };
  if (wav !== undefined) {
    cpSync(wav, path.join(location, asset.path));
    add("recording.started", { recordingId: id, asset });
  }
  for (const { text, startMs: from, endMs: to } of turns) {
    const sound = wav === undefined ? [] : [{ type: "audio", asset, recordingId: id, startMs: from, endMs: to }];
    const content = [...sound, { type: "text", text }];
    add("message", { message: { role: "user", timestamp: startMs + lines.length, content } });
  }
  if (wav !== undefined) add("recording.finished", { recordingId: id, durationMs: 13_000, outcome: "complete" });
  if (name !== undefined) add("session_info", { name });
  writeFileSync(path.join(location, "session.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

/** The screen as a picture of text that follows the light or dark scheme of where it is shown. */
function writePicture(name, screen) {
  const lines = screen.replace(/\s+$/, "").split("\n");
  while (lines[0]?.trim() === "") lines.shift();
  const [width, height] = [118 * 8 + 32, lines.length * 18 + 32];
  const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const rows = lines.map((line, at) => `<text x="16" y="${at * 18 + 30}">${escape(line.trimEnd())}</text>`);
  const style =
    "text{font:13.3px ui-monospace,Menlo,monospace;fill:#1f2937;white-space:pre}rect{fill:#f8fafc;stroke:#cbd5e1}" +
    "@media(prefers-color-scheme:dark){text{fill:#e5e7eb}rect{fill:#111827;stroke:#374151}}";
  const picture = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
    `<style>${style}</style><rect x="1" y="1" width="${width - 2}" height="${height - 2}" rx="10"/>`,
    ...rows,
    "</svg>\n",
  ].join("\n");
  mkdirSync(path.join(root, "extension/media"), { recursive: true });
  writeFileSync(path.join(root, "extension/media", `${name}.svg`), picture);
}
