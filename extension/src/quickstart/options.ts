import { parseArgs } from "node:util";

/** What `npm start` was asked to do. */
export interface QuickstartOptions {
  /** Folder that holds the sessions; a temporary one when absent. */
  root: string | undefined;
  /** A WAV of the user's own; the shipped sample when absent. */
  input: string | undefined;
  /** Puts the text on the clipboard instead of only printing it. */
  copy: boolean;
  /** How fast the recording is played into the recorder; 1 is the speed of speech. */
  pace: number;
}

export type ParsedOptions =
  { kind: "run"; options: QuickstartOptions } | { kind: "help" } | { kind: "error"; message: string };

export const helpText = `Runs the whole path once: record → transcript → session → search → clipboard.

  npm start                          the shipped sample recording, as if it were the microphone
  npm start -- --input FILE.wav      a recording of your own
  npm start -- --root DIR            keep the session under DIR (default: a new temporary folder)
  npm start -- --copy                put the text on the clipboard
  npm start -- --pace N              play the recording N times as fast as speech (default 1)

The speech engine is pocketsphinx_continuous, or whisper-cli with WHISPER_MODEL naming its model, where one is
installed. Without one the transcript that ships with the sample is replayed, and it says so.
Ctrl-C stops the recording as the stop key would: what was said so far is kept.
`;

export function parseOptions(args: readonly string[]): ParsedOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        root: { type: "string" },
        input: { type: "string" },
        copy: { type: "boolean", default: false },
        pace: { type: "string", default: "1" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) return { kind: "help" };
    const pace = Number(values.pace);
    if (!(pace >= 0.1 && pace <= 100)) return { kind: "error", message: "--pace takes a number from 0.1 to 100" };
    return { kind: "run", options: { root: values.root, input: values.input, copy: values.copy, pace } };
  } catch (error) {
    return { kind: "error", message: error instanceof Error ? error.message : "the arguments could not be read" };
  }
}
