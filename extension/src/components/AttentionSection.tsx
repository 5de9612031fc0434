import { Action, ActionPanel, Icon, List, openExtensionPreferences } from "@raycast/api";
import { type ReactElement } from "react";
import { type LibraryDiagnostic } from "@persyk/store";
import { plain } from "../lib/markdown";
import { type RecordingFace } from "../lib/recording-face";
import { recoverSession } from "../lib/session-actions";
import { type Settings } from "../lib/settings";
import { openLibrary } from "../lib/store";
import { RemedyAction } from "./RemedyAction";

interface Props {
  /** A recording whose process died, or of which nothing is known. */
  recording: Extract<RecordingFace, { kind: "interrupted" | "unknown" }> | null;
  /** Folders that cannot be read. */
  folders: readonly LibraryDiagnostic[];
  settings: Settings;
  onRecovered: () => void;
}

/** What needs a decision before anything else, above the sessions. */
export function AttentionSection({ recording, folders, settings, onRecovered }: Props): ReactElement | null {
  if (recording === null && folders.length === 0) return null;
  const session = recording?.session ?? null;
  return (
    <List.Section title="Needs Attention">
      {recording === null ? null : (
        <List.Item
          id="interrupted"
          title={recording.problem.title}
          icon={{ value: Icon.BandAid, tooltip: recording.problem.title }}
          detail={<List.Item.Detail markdown={plain(`${recording.problem.cause}\n\n${recording.problem.remedy}`)} />}
          actions={
            <ActionPanel>
              {session === null ? (
                <RemedyAction problem={recording.problem} />
              ) : (
                <Action
                  title="Recover Session…"
                  icon={Icon.BandAid}
                  onAction={() =>
                    void recoverSession(openLibrary(settings), session.location).then((done) => done && onRecovered())
                  }
                />
              )}
            </ActionPanel>
          }
        />
      )}
      {folders.map(({ code, message, location = "" }) => (
        <List.Item
          key={`${code} ${location}`}
          id={`${code} ${location}`}
          title={message}
          icon={{ value: Icon.Folder, tooltip: "Folder" }}
          detail={<List.Item.Detail markdown={plain(`${message}\n\n${location}`)} />}
          actions={
            <ActionPanel>
              <Action title="Open Preferences" icon={Icon.Gear} onAction={() => void openExtensionPreferences()} />
            </ActionPanel>
          }
        />
      ))}
    </List.Section>
  );
}
