import path from "node:path";
import { Action, ActionPanel, Icon, Keyboard } from "@raycast/api";
import { type ReactElement } from "react";
import { type PlacedRecording } from "@persyk/store";
import { dateText } from "../lib/format";
import { type Settings } from "../lib/settings";
import { type SessionView } from "../lib/transcript";
import { LiveView } from "./LiveView";

interface Props {
  settings: Settings;
  view: Extract<SessionView, { kind: "readable" }>;
  onChange: () => void;
}

/** Play, reveal, and transcribe again: for each recording whose file is there. */
export function RecordingActions({ settings, view, onChange }: Props): ReactElement | null {
  const present = view.transcript.recordings.flatMap((recording) => {
    const file = fileOf(view.location, recording);
    return file === null ? [] : [{ recording, file }];
  });
  if (present.length === 0) return null;
  return (
    <ActionPanel.Section title={present.length === 1 ? "Recording" : "Recordings"}>
      {present.map(({ recording, file }, at) => {
        const suffix = present.length === 1 ? "" : ` of ${dateText(recording.startedAt)}`;
        // Shortcuts belong to the newest recording.
        const newest = at === present.length - 1;
        return (
          <ActionPanel.Section key={recording.recordingId}>
            <Action.Open
              title={`Play Recording${suffix}`}
              icon={Icon.Play}
              target={file}
              {...(newest ? { shortcut: { modifiers: ["cmd"], key: "p" } } : {})}
            />
            <Action.ShowInFinder
              title={`Show Recording${suffix} in Finder`}
              icon={Icon.Finder}
              path={file}
              {...(newest ? { shortcut: Keyboard.Shortcut.Common.OpenWith } : {})}
            />
            <Action.Push
              title={`Transcribe Recording${suffix} Again`}
              icon={Icon.Repeat}
              target={
                <LiveView
                  settings={settings}
                  start={{ kind: "again", session: view.location, path: file }}
                  onEnd={onChange}
                />
              }
              onPop={onChange}
            />
          </ActionPanel.Section>
        );
      })}
    </ActionPanel.Section>
  );
}

function fileOf(location: string, { asset }: PlacedRecording): string | null {
  return asset.status === "available" ? path.join(location, asset.path) : null;
}
