import { Detail } from "@raycast/api";
import { type ReactElement } from "react";
import { type RecordingFace } from "../lib/recording-face";

const phases = { starting: "Waiting to Start", recording: "Recording", finishing: "Finishing" } as const;

/** State, time, level and device as words. */
export function LiveMetadata({ face }: { face: Extract<RecordingFace, { kind: "live" }> }): ReactElement {
  return (
    <Detail.Metadata>
      <Detail.Metadata.Label title="State" text={phases[face.phase]} />
      <Detail.Metadata.Label title="Elapsed" text={face.elapsed} />
      <Detail.Metadata.Label title="Level" text={face.level} />
      <Detail.Metadata.Label title="Device" text={face.device} />
      <Detail.Metadata.Label title="Transcription" text={face.provider} />
    </Detail.Metadata>
  );
}
