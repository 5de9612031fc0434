/**
 * What `npm start` runs: one recording from a file, as if it were the microphone, through the same capture client,
 * realtime client, ordering and store that the extension uses, and then a search and the text for the clipboard.
 */
import { mkdirSync, mkdtempSync } from "node:fs";
import { access, constants, readFile, stat } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { Library, defaultStoreContext, isStoreError, openSession, transcriptText } from "@persyk/store";
import * as z from "zod";
import { HostError } from "../host/errors";
import { RecordingControl } from "../host/control";
import { type RecordingResult, runRecording } from "../host/record";
import { type HostState } from "../host/state";
import { findSpeechEngine, howToGetAnEngine } from "../provider/server/engines/find-engine";
import { ScriptedEngine } from "../provider/server/engines/scripted";
import { type SpeechEngine } from "../provider/server/speech-engine";
import { type LiveFrame, LiveView, type Style } from "./live-view";
import { type QuickstartOptions, helpText, parseOptions } from "./options";

const EXIT = { done: 0, failed: 1, usage: 2 } as const;
const MAX_DURATION_MS = 12 * 60 * 60 * 1000;
/** An empty screen line in front of each block makes the four results easy to find. */
const out = (text: string): boolean => process.stdout.write(text);

const scriptSchema = z.object({
  turns: z.array(z.object({ startMs: z.number(), endMs: z.number(), text: z.string() })),
});

/** What recognises the recording, and how that is said. */
type Recogniser =
  { kind: "engine"; engine: SpeechEngine } | { kind: "replay"; engine: SpeechEngine } | { kind: "none" };

async function main(): Promise<number> {
  const parsed = parseOptions(process.argv.slice(2));
  if (parsed.kind === "help") return (out(helpText), EXIT.done);
  if (parsed.kind === "error") return (process.stderr.write(`${parsed.message}\n\n${helpText}`), EXIT.usage);
  const project = path.resolve(process.env["PERSYK_PROJECT"] ?? process.cwd());
  const { options } = parsed;
  const fromCaller = (file: string): string => path.resolve(process.env["PERSYK_CALLER_CWD"] ?? process.cwd(), file);
  const input = options.input === undefined ? path.join(project, "assets/sample.wav") : fromCaller(options.input);
  const problem = await whyNotReadable(input);
  if (problem !== undefined) return (process.stderr.write(`${problem}\n`), EXIT.usage);
  const root = rootFolder(options, fromCaller);
  const recogniser = await chooseRecogniser(options, project);

  out(`Recording    ${path.relative(process.cwd(), input) || input}, played at ${options.pace}× as the microphone\n`);
  out(`Transcriber  ${describe(recogniser)}\n`);
  out(`Sessions in  ${root}\n\n`);

  const result = await record(options, project, input, root, recogniser);
  if (result.kind === "discarded") return (out("The recording was discarded.\n"), EXIT.done);
  return showResult(result, options, root, recogniser);
}

/** What keeps a recording from being read, in one sentence with its cause. */
async function whyNotReadable(file: string): Promise<string | undefined> {
  try {
    await access(file, constants.R_OK);
    return (await stat(file)).isFile() ? undefined : `${file} is not a file.`;
  } catch (error) {
    return `The recording cannot be read: ${firstLine(error)}`;
  }
}

function rootFolder(options: QuickstartOptions, fromCaller: (file: string) => string): string {
  if (options.root === undefined) return path.join(mkdtempSync(path.join(os.tmpdir(), "persyk-")), "sessions");
  return fromCaller(options.root);
}

async function chooseRecogniser(options: QuickstartOptions, project: string): Promise<Recogniser> {
  const engine = await findSpeechEngine({
    searchPath: process.env["PATH"],
    whisperModel: process.env["WHISPER_MODEL"],
  });
  if (engine !== undefined) return { kind: "engine", engine };
  if (options.input !== undefined) return { kind: "none" };
  const script = scriptSchema.parse(
    JSON.parse(await readFile(path.join(project, "assets/sample.transcript.json"), "utf8")),
  );
  return { kind: "replay", engine: new ScriptedEngine(script) };
}

function describe(recogniser: Recogniser): string {
  switch (recogniser.kind) {
    case "engine":
      return `${recogniser.engine.name}, behind the realtime server on this machine`;
    case "replay":
      return "no speech engine is installed: the transcript that ships with the sample is replayed";
    case "none":
      return "no speech engine is installed: the recording is kept and can be transcribed later";
  }
}

async function record(
  options: QuickstartOptions,
  project: string,
  input: string,
  root: string,
  recogniser: Recogniser,
): Promise<RecordingResult> {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const view = new LiveView(
    {
      isTerminal: process.stdout.isTTY,
      width: () => process.stdout.columns || 80,
      height: () => process.stdout.rows || 24,
      write: out,
    },
    style(),
  );
  const control = new RecordingControl();
  const stop = (): void => control.push({ kind: "stop" });
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  try {
    return await runRecording(
      {
        supportPath: root,
        root,
        source: { kind: "file", path: input, pace: options.pace },
        provider: { kind: recogniser.kind === "none" ? "none" : "on-device" },
        maxDurationMs: MAX_DURATION_MS,
      },
      {
        control,
        onState: (state) => view.show(frameOf(state)),
        standIn: captureProgram(project),
        findEngine: () => Promise.resolve(recogniser.kind === "none" ? undefined : recogniser.engine),
      },
    );
  } finally {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
    if (recogniser.kind !== "none") await recogniser.engine.close();
  }
}

/** The capture helper where one is named (it plays files too), else the stand-in, which needs no native code. */
function captureProgram(project: string): [string, ...string[]] {
  const helper = process.env["PERSYK_CAPTURE_HELPER"];
  if (helper !== undefined && helper !== "") return [helper];
  return [process.execPath, path.join(project, "extension/dist/capture-stand-in.cjs")];
}

function frameOf(state: HostState): LiveFrame {
  return {
    phase: state.phase,
    elapsedMs: state.elapsedMs,
    levelDb: state.levelDb,
    device: state.device,
    saved: state.saved,
    provisional: state.provisional.map((turn) => turn.text),
    warnings: state.warnings.map((warning) => `${warning.message} ${warning.remedy}`),
  };
}

async function showResult(
  result: Extract<RecordingResult, { kind: "finished" }>,
  options: QuickstartOptions,
  root: string,
  recogniser: Recogniser,
): Promise<number> {
  const context = defaultStoreContext();
  const session = await openSession(result.session.location, context);
  const text = await transcriptText(session);
  await session.close();
  const paint = style();
  out(`\n${paint.bold("Session")}\n  ${result.session.location}\n`);
  if (text === "") {
    out("  The recording is kept; it has no text.\n");
    if (recogniser.kind === "none") out(`  ${howToGetAnEngine}\n  Then run the same command again.\n`);
  } else {
    await showSearch(text, root, paint);
    await showClipboard(text, options, paint);
  }
  out(`\n${paint.bold("Next")}\n  npx persyk show ${result.session.location}\n`);
  out(`  npx persyk inspect ${result.session.location}\n`);
  return result.outcome === "interrupted" || result.state.phase === "failed" ? EXIT.failed : EXIT.done;
}

/** Searches for the longest word of what was said: a short one would hit by chance. */
async function showSearch(text: string, root: string, paint: Style): Promise<void> {
  const [word] = text.match(/\p{L}+/gu)?.sort((a, b) => b.length - a.length) ?? [];
  if (word === undefined) return;
  const library = new Library({ writeRoot: { path: root, explicit: true } });
  const { hits } = await library.search(word);
  out(`\n${paint.bold(`Search for “${word}”`)}\n`);
  for (const hit of hits) out(`  ${hit.label}\n  ${mark(hit.excerpt, hit.matches, paint)}\n`);
}

function mark(excerpt: string, matches: readonly { start: number; end: number }[], paint: Style): string {
  let marked = "";
  let at = 0;
  for (const { start, end } of matches) {
    marked += excerpt.slice(at, start) + paint.bold(paint.yellow(excerpt.slice(start, end)));
    at = end;
  }
  return marked + excerpt.slice(at);
}

async function showClipboard(text: string, options: QuickstartOptions, paint: Style): Promise<void> {
  const heading = options.copy ? await copy(text) : "Clipboard (--copy puts it there)";
  out(`\n${paint.bold(heading)}\n${text.replace(/^/gm, "  ")}\n`);
}

/** Copies, and says how that went. */
async function copy(text: string): Promise<string> {
  try {
    const { default: clipboard } = await import("clipboardy");
    await clipboard.write(text);
    return "On the clipboard";
  } catch (error) {
    return `Not on the clipboard (${firstLine(error)})`;
  }
}

function firstLine(error: unknown): string {
  return error instanceof Error ? (error.message.split("\n")[0] ?? "") : "unknown failure";
}

function style(): Style {
  const colour = process.stdout.isTTY && process.env["NO_COLOR"] === undefined;
  const paint =
    (open: number, close: number) =>
    (text: string): string =>
      colour ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return { bold: paint(1, 22), dim: paint(2, 22), green: paint(32, 39), yellow: paint(33, 39) };
}

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    const remedy = error instanceof HostError || isStoreError(error) ? ` ${error.remedy}` : "";
    process.stderr.write(`${firstLine(error)}${remedy}\n`);
    process.exitCode = EXIT.failed;
  },
);
