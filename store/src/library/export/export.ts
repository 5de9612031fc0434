import { isStoreError } from "../../errors";
import { type Session } from "../../session/session";
import { readTranscript, type Transcript } from "../transcript";
import { toDocument } from "./document";
import { readWaveform, type Waveform } from "./peaks";
import { exportSrt, exportVtt } from "./subtitles";
import { exportSvg } from "./svg";
import { exportMarkdown, exportText } from "./text";

/** The forms that a session can be exported in. */
export const exportFormats = ["txt", "md", "json", "srt", "vtt", "svg"] as const;
export type ExportFormat = (typeof exportFormats)[number];

export interface ExportOptions {
  /** An entry id, or null for the empty ancestry; the default leaf when absent. */
  leaf?: string | null;
  signal?: AbortSignal;
  /** Bytes read so far of the recording that is being read, of all its bytes; only a picture needs them. */
  onProgress?: (done: number, total: number) => void;
}

/**
 * Exports the selected history of a session. Times appear only where the session has them: in `srt` and `vtt` a turn
 * without a known time is left out, in the other forms it stands without one.
 *
 * @example
 * const session = await library.open(id);
 * await writeFile("talk.srt", await exportSession(session, "srt"));
 */
export async function exportSession(
  session: Session,
  format: ExportFormat,
  options: ExportOptions = {},
): Promise<string> {
  const transcript = await readTranscript(session, options.leaf, options);
  switch (format) {
    case "txt":
      return exportText(transcript);
    case "md":
      return exportMarkdown(transcript);
    case "json":
      return `${JSON.stringify(toDocument(transcript), undefined, 2)}\n`;
    case "srt":
      return exportSrt(transcript);
    case "vtt":
      return exportVtt(transcript);
    case "svg":
      return exportSvg(transcript, await readWaveforms(session, transcript, options));
  }
}

async function readWaveforms(
  session: Session,
  transcript: Transcript,
  options: ExportOptions,
): Promise<Map<string, Waveform>> {
  const waveforms = new Map<string, Waveform>();
  for (const { recordingId, asset } of transcript.recordings) {
    if (asset.status === "missing") continue;
    // The picture shows the whole capture, whichever part of it the reference names.
    const { status, path, mimeType } = asset;
    try {
      const reader = await session.openAsset({ status, path, mimeType });
      try {
        const waveform = await readWaveform(reader, options);
        if (waveform !== null) waveforms.set(recordingId, waveform);
      } finally {
        await reader.close();
      }
    } catch (error) {
      // A recording whose file is gone is drawn as such; its text and times are still worth a picture.
      if (!isStoreError(error, "asset-missing") && !isStoreError(error, "asset-invalid")) throw error;
    }
  }
  return waveforms;
}
