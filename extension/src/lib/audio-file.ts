import { PcmSource, UnreadableWav } from "../capture/pcm-source";
import { errorCode } from "./error-code";

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "This file is not there",
  EACCES: "The system refuses access to this file",
  EPERM: "The system refuses access to this file",
  EISDIR: "This is a folder",
};

/** Why a file cannot be transcribed, in a few words for a form; null when it can. */
export async function wavProblem(file: string): Promise<string | null> {
  try {
    const source = await PcmSource.open(file);
    try {
      return source.durationMs > 0 ? null : "This file holds no sound";
    } finally {
      await source.close();
    }
  } catch (error) {
    if (error instanceof UnreadableWav) return "This is not a WAV file that can be read";
    const reason = reasons[errorCode(error) ?? ""];
    if (reason !== undefined) return reason;
    throw error;
  }
}
