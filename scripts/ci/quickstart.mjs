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
  const assets = path.join(session, "assets");
  const name = existsSync(assets) ? readdirSync(assets).find((file) => file.endsWith(".wav")) : undefined;
  return name === undefined ? undefined : path.join(assets, name);
};
const typesOf = (session) =>
  readFileSync(path.join(session, "session.jsonl"), "utf8")
    .split("\n")
    .filter(Boolean)
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
    check("live text is told apart: saved", /saved {2,}\S/.test(run.stdout));
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
    kept.code === 0 && wavOf(sessionsOf(own)[0] ?? "") !== undefined,
    kept.stdout + kept.stderr,
  );
  check("and it says how to get an engine", /pocketsphinx|whisper/i.test(kept.stdout), kept.stdout);
  check("no text is invented for it", !typesOf(sessionsOf(own)[0]).includes("message"));
}

// 3. Killed at several moments, by two kinds of kill.
for (const [name, afterBytes, target] of [
  ["everything at once, early", 4_800, "group"],
  ["everything at once, later", 200_000, "group"],
  ["the recorder alone", 100_000, "recorder"],
]) {
  const where = path.join(folder, `killed-${afterBytes}`);
  const run = start("npm", ["start", "--", "--root", where]);
  const wav = await until("the first sound on disk", () => {
    const found = wavOf(sessionsOf(where)[0] ?? "/nonexistent");
    return found !== undefined && statSync(found).size >= 44 + afterBytes ? found : undefined;
  });
  const onDisk = statSync(wav).size;
  if (target === "group") process.kill(-run.child.pid, "SIGKILL");
  else {
    const recorder = await findRecorder(where);
    process.kill(recorder, "SIGKILL");
  }
  await run.done;
  const [session] = sessionsOf(where);
  const after = readFileSync(wav).subarray(44);
  const whole = after.length - (after.length % 2);
  check(
    `killed (${name}): the sound so far is on disk`,
    after.length + 44 >= onDisk &&
      sampleBytes.subarray(0, whole).equals(after.subarray(0, Math.min(whole, sampleBytes.length))),
  );
  const inspect = await runToEnd("npx", ["persyk", "inspect", session, "--json"]);
  const verdict = JSON.parse(inspect.stdout || "{}").verdict;
  check(
    `killed (${name}): the session opens`,
    verdict === "valid" || verdict === "tail-pending",
    inspect.stdout + inspect.stderr,
  );
  const recover = await until("the capture to be over", async () => {
    const result = await runToEnd("npx", ["persyk", "recover", session, "--json"]);
    return result.code === 0 ? result : undefined;
  });
  check(
    `killed (${name}): recover closes the recording`,
    typesOf(session).includes("recording.interrupted"),
    recover.stdout,
  );
  const checked = await runToEnd("npx", ["persyk", "wav", "inspect", wav, "--json"]);
  check(
    `killed (${name}): the WAV is intact afterwards`,
    JSON.parse(checked.stdout || "{}").outcome === "intact",
    checked.stdout + checked.stderr,
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
