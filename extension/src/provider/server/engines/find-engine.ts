import { access, constants, stat } from "node:fs/promises";
import path from "node:path";
import { errnoName } from "../../../capture/errno";
import { type SpeechEngine } from "../speech-engine";
import { AppleSpeechEngine, hasAppleSpeech } from "./apple-speech";
import { PocketsphinxEngine } from "./pocketsphinx";
import { WhisperCliEngine } from "./whisper-cli";

export interface EngineSearch {
  /** Folders to look in, `:`-separated; a launcher's own PATH is often minimal. */
  searchPath: string | undefined;
  /** A whisper.cpp model file. */
  whisperModel?: string | undefined;
  /** The capture helper, which reaches the system's own recogniser on macOS 26. */
  helperPath?: string | undefined;
}

/** Where package managers put programs that a launcher's PATH does not name. */
const USUAL_FOLDERS = ["/opt/homebrew/bin", "/usr/local/bin"];

export const howToGetAnEngine =
  "Install pocketsphinx (Debian: apt install pocketsphinx pocketsphinx-en-us), or whisper.cpp with a model file (macOS: brew install whisper-cpp, then WHISPER_MODEL=/path/to/ggml-model.bin).";

/** The best local engine that is there, or undefined: the one that the user set up, then the system's, then another. */
export async function findSpeechEngine(search: EngineSearch): Promise<SpeechEngine | undefined> {
  const { whisperModel } = search;
  if (whisperModel !== undefined && whisperModel !== "" && (await isFile(whisperModel))) {
    const whisper = await findProgram("whisper-cli", search.searchPath);
    if (whisper !== undefined) return new WhisperCliEngine(whisper, whisperModel);
  }
  const { helperPath } = search;
  if (helperPath !== undefined && (await isExecutable(helperPath)) && (await hasAppleSpeech(helperPath)))
    return new AppleSpeechEngine(helperPath);
  const pocketsphinx = await findProgram("pocketsphinx_continuous", search.searchPath);
  return pocketsphinx === undefined ? undefined : new PocketsphinxEngine(pocketsphinx);
}

async function findProgram(name: string, searchPath: string | undefined): Promise<string | undefined> {
  const extra = process.platform === "darwin" ? USUAL_FOLDERS : [];
  for (const folder of [...(searchPath ?? "").split(path.delimiter), ...extra]) {
    if (folder === "") continue;
    const file = path.join(folder, name);
    if (await isExecutable(file)) return file;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return false;
  }
}

async function isFile(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile();
  } catch (error) {
    if (errnoName(error) === undefined) throw error;
    return false;
  }
}
