// Spoken end to end: flite speaks, the file source captures, pocketsphinx recognises, the session holds the words,
// search finds them, the clipboard gets them. Versions of the engines differ: at most two wrong words.
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { check, finish, runToEnd, temporaryFolder } from "./lib.mjs";

const folder = temporaryFolder("spoken");
const sentences = [
  "please remind me to call the bank tomorrow morning",
  "i would like to record a short note about the meeting",
];
const input = path.join(folder, "spoken.wav");
const parts = [];
for (const [at, sentence] of sentences.entries()) {
  const spoken = path.join(folder, `spoken-${at}.wav`);
  const padded = path.join(folder, `padded-${at}.wav`);
  await runToEnd("flite", ["-voice", "rms", "-t", sentence, "-o", spoken]);
  await runToEnd("sox", [spoken, padded, "pad", "0.4", "1"]);
  parts.push(padded);
}
// 44.1 kHz stereo on purpose: a user's own recording is rarely in the provider's format.
const made = await runToEnd("sox", [...parts, "-r", "44100", "-c", "2", "-b", "16", input]);
check("the speech was made", made.code === 0 && existsSync(input), made.stderr);

// A stand-in clipboard program: it keeps what it is given.
const bin = path.join(folder, "bin");
mkdirSync(bin);
const clipboard = path.join(folder, "clipboard.txt");
for (const tool of ["xsel", "wl-copy"]) {
  writeFileSync(path.join(bin, tool), `#!/bin/sh\ncat > "${clipboard}"\n`);
  chmodSync(path.join(bin, tool), 0o755);
}
const where = path.join(folder, "sessions");
const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, DISPLAY: ":0" };
const run = await runToEnd("npm", ["start", "--", "--root", where, "--input", input, "--copy"], { env });
check("npm start -- --input FILE.wav --copy ends well", run.code === 0, run.stdout + run.stderr);
check("it says which engine", /pocketsphinx/.test(run.stdout), run.stdout);

const session = path.join(where, readdirSync(where)[0]);
const show = JSON.parse((await runToEnd("npx", ["persyk", "show", session, "--json"])).stdout);
const heard = show.history.map((item) => item.text).join(" ");
const wrong = distance(sentences.join(" ").split(" "), heard.split(/\s+/));
check(`the session holds the words (${wrong} wrong)`, wrong <= 2, heard);
const hits = JSON.parse((await runToEnd("npx", ["persyk", "search", "tomorrow", "--root", where, "--json"])).stdout);
check("search finds a word", hits.hits.length === 1);
const copied = existsSync(clipboard) ? readFileSync(clipboard, "utf8") : "";
check("the clipboard has the text", distance(heard.split(/\s+/), copied.split(/\s+/)) === 0, copied);
finish();

/** The number of words that must be inserted, deleted or replaced to make one list of the other. */
function distance(a, b) {
  let row = b.map((_, at) => at + 1);
  row.unshift(0);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length];
}
