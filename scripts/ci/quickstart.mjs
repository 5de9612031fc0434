// `npm start` as a stranger runs it: the whole path, an own file, no engine, and killed at several moments.
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync } from "node:fs";
import path from "node:path";
import { check, finish, root, runToEnd, start, temporaryFolder, until } from "./lib.mjs";

const folder = temporaryFolder("quickstart");
const sample = path.join(root, "assets/sample.wav");
const sampleBytes = readFileSync(sample).subarray(44);
const words = ["bank", "meeting", "weather"];

const sessionsOf = (where) => (existsSync(where) ? readdirSync(where).map((name) => path.join(where, name)) : []);
const wavOf = (session) => {
  if (session === undefined) return undefined;
  const assets = path.join(session, "assets");
  const name = existsSync(assets) ? readdirSync(assets).find((file) => file.endsWith(".wav")) : undefined;
  return name === undefined ? undefined : path.join(assets, name);
};
const hasLog = (session) => existsSync(path.join(session, "session.jsonl"));
const typesOf = (session) =>
  readFileSync(path.join(session, "session.jsonl"), "utf8")
    .split("\n")
    // The last piece is empty, or a record that is being written.
    .slice(0, -1)
    .map((line) => JSON.parse(line).type);

/** A PATH with only the given programs and Node, so that no speech engine is found. */
function barePath() {
  const bin = path.join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  for (const tool of ["bash", "sh", "env", "flock", "npm", "uname"]) {
    for (const where of ["/usr/bin", "/bin", "/usr/local/bin"]) {
      const target = path.join(where, tool);
      if (existsSync(target) && !existsSync(path.join(bin, tool))) symlinkSync(target, path.join(bin, tool));
    }
  }
  return [path.join(root, "node_modules/.bin"), bin].join(path.delimiter);
}

// 1. The built-in sample.
{
  const where = path.join(folder, "sessions");
  const run = await runToEnd("npm", ["start", "--", "--root", where]);
  check("npm start ends well", run.code === 0, run.stdout + run.stderr);
  const [session] = sessionsOf(where);
  check("it leaves one session", sessionsOf(where).length === 1);
  if (session !== undefined) {
    check("it prints the session's folder", run.stdout.includes(session), run.stdout);
    check("live text is told apart: saved", /^ +\d\d:\d\d\.\d +saved {2,}\S/m.test(run.stdout));
    check("live text is told apart: not yet saved", /^ +\d\d:\d\d\.\d +not yet saved {2,}\S/m.test(run.stdout));
    check("the level is shown with the elapsed time", /^ +\d\d:\d\d\.\d +█+·* -\d+ dB$/m.test(run.stdout));
    check("the engine is named", /^Transcriber +pocketsphinx_continuous/m.test(run.stdout));
    check("it prints a search hit", /search/i.test(run.stdout) && words.some((word) => run.stdout.includes(word)));
    check("it prints what would be on the clipboard", /clipboard/i.test(run.stdout));
    const types = typesOf(session);
    for (const type of [
      "session",
      "recording.started",
      "api_connection",
      "realtime_event",
      "message",
      "recording.finished",
    ]) {
      check(`the log has ${type}`, types.includes(type));
    }
    const wav = wavOf(session);
    const saved = wav === undefined ? Buffer.alloc(0) : readFileSync(wav).subarray(44);
    check(
      "the WAV holds the sample from its first sample to its last",
      saved.subarray(0, sampleBytes.length).equals(sampleBytes),
    );
    const independent = await runToEnd("python3", ["scripts/independent_reader.py", session]);
    check("an independent reader accepts the session", independent.code === 0, independent.stdout + independent.stderr);
    const inspect = await runToEnd("npx", ["persyk", "inspect", session, "--json"]);
    check(
      "npx persyk inspect: valid",
      JSON.parse(inspect.stdout || "{}").verdict === "valid",
      inspect.stdout + inspect.stderr,
    );
    const show = await runToEnd("npx", ["persyk", "show", session, "--json"]);
    const text = (JSON.parse(show.stdout || "{}").history ?? []).map((item) => item.text).join(" ");
    check(
      "npx persyk show: the words",
      words.every((word) => text.includes(word)),
      show.stdout + show.stderr,
    );
  }
}

// 2. No engine: the sample's transcript is replayed and it says so; an own file is kept and it says how to get one.
{
  const env = { ...process.env, PATH: barePath() };
  const where = path.join(folder, "no-engine");
  const replay = await runToEnd("npm", ["start", "--", "--root", where], { env });
  check("without an engine the sample's transcript is replayed", replay.code === 0, replay.stdout + replay.stderr);
  check("and it says exactly that", /replay/i.test(replay.stdout), replay.stdout);
  const own = path.join(folder, "own");
  const kept = await runToEnd("npm", ["start", "--", "--root", own, "--input", sample], { env });
  check(
    "an own file without an engine is kept",
    kept.code === 0 && wavOf(sessionsOf(own)[0]) !== undefined,
    kept.stdout + kept.stderr,
  );
  check("and it says how to get an engine", /pocketsphinx|whisper/i.test(kept.stdout), kept.stdout);
  check("no text is invented for it", !typesOf(sessionsOf(own)[0]).includes("message"));
}

// 3. Killed at many moments of a run, by two kinds of kill: everything at once, and the recorder alone.
const bytesOnDisk = (where) => {
  const wav = wavOf(sessionsOf(where)[0]);
  return wav === undefined ? 0 : statSync(wav).size;
};
const hasLine = (where, type) =>
  sessionsOf(where).some((session) => hasLog(session) && typesOf(session).includes(type));
for (const [name, target, reached] of [
  ["as soon as there is a session", "group", (where) => sessionsOf(where).some(hasLog)],
  ["with the first sound", "group", (where) => bytesOnDisk(where) > 44],
  ["after 0.1 s of sound", "recorder", (where) => bytesOnDisk(where) >= 44 + 4_800],
  ["after 4 s of sound", "group", (where) => bytesOnDisk(where) >= 44 + 200_000],
  ["with the first message", "recorder", (where) => hasLine(where, "message")],
  ["with all of the sound", "group", (where) => bytesOnDisk(where) >= 44 + sampleBytes.length],
]) {
  const where = path.join(folder, `killed-${name.replaceAll(/\W/g, "-")}`);
  const run = start("npm", ["start", "--", "--root", where, "--pace", "2"]);
  await until(name, () => reached(where));
  const before = bytesOnDisk(where);
  const startedBefore = hasLine(where, "recording.started");
  if (target === "group") process.kill(-run.child.pid, "SIGKILL");
  else process.kill(await findRecorder(where), "SIGKILL");
  await run.done;
  const [session] = sessionsOf(where);
  const wav = wavOf(session);
  const killed = `killed ${name} (${target})`;
  if (before > 44) check(`${killed}: the recording was named before its first sample`, startedBefore);
  const after = wav === undefined ? Buffer.alloc(0) : readFileSync(wav).subarray(44);
  const whole = Math.min(after.length - (after.length % 2), sampleBytes.length);
  check(
    `${killed}: the sound so far is on disk`,
    after.length + 44 >= before && sampleBytes.subarray(0, whole).equals(after.subarray(0, whole)),
  );
  const inspect = await runToEnd("npx", ["persyk", "inspect", session, "--json"]);
  const { verdict } = JSON.parse(inspect.stdout || "{}");
  check(
    `${killed}: the session opens`,
    verdict === "valid" || verdict === "tail-pending",
    inspect.stdout + inspect.stderr,
  );
  const recover = await until("the capture to be over", async () => {
    const result = await runToEnd("npx", ["persyk", "recover", session, "--json"]);
    return result.code === 0 ? result : undefined;
  });
  const types = typesOf(session);
  check(
    `${killed}: recover closes what was open`,
    !types.includes("recording.started") ||
      types.includes("recording.interrupted") ||
      types.includes("recording.finished"),
    recover.stdout,
  );
  if (types.includes("recording.started")) {
    const checked = await runToEnd("npx", ["persyk", "wav", "inspect", wav, "--json"]);
    check(
      `${killed}: the WAV is intact afterwards`,
      JSON.parse(checked.stdout || "{}").outcome === "intact",
      checked.stdout + checked.stderr,
    );
  }
  const independent = await runToEnd("python3", ["scripts/independent_reader.py", session]);
  check(`${killed}: an independent reader accepts the session`, independent.code === 0, independent.stdout);
}

// 4. What only a Mac can do says so, in one line.
if (process.platform !== "darwin") {
  const dev = await runToEnd("npm", ["run", "--silent", "dev"]);
  check(
    "npm run dev says in one line what it needs",
    dev.code === 0 && dev.stdout.trim().split("\n").length === 1 && /Mac/.test(dev.stdout),
    dev.stdout + dev.stderr,
  );
}

/** The process that runs the quickstart's bundle with this root: not npm, not its launcher, not the helper. */
async function findRecorder(where) {
  return until("the recorder's process", () => {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      const file = path.join("/proc", pid, "cmdline");
      const words = existsSync(file) ? safeRead(file).split("\0") : [];
      if (words.some((word) => word.endsWith("dist/quickstart.cjs")) && words.includes(where)) return Number(pid);
    }
    return undefined;
  });
}

function safeRead(file) {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ESRCH") return "";
    throw error;
  }
}

finish();
