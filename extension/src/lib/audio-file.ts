import { PcmSource, UnreadableWav } from "../capture/pcm-source";

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
    if (error instanceof Error && "code" in error) {
      if (error.code === "ENOENT") return "This file is not there";
      if (error.code === "EACCES" || error.code === "EPERM") return "The system refuses access to this file";
      if (error.code === "EISDIR") return "This is a folder";
    }
    throw error;
  }
}
