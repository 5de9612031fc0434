import { Action, ActionPanel, Icon, List, openExtensionPreferences } from "@raycast/api";
import { type ReactElement } from "react";
import { type LibraryDiagnostic } from "@persyk/store";
import { plain } from "../lib/markdown";
import { type RecordingFace } from "../lib/recording-face";
import { recoverSession } from "../lib/session-actions";
import { type Settings } from "../lib/settings";
import { openLibrary } from "../lib/store";

interface Props {
  /** A recording whose process died. */
  interrupted: Extract<RecordingFace, { kind: "interrupted" }> | null;
  /** Folders that cannot be read. */
  folders: readonly LibraryDiagnostic[];
  settings: Settings;
  onRecovered: () => void;
}

/** What needs a decision before anything else, above the sessions. */
export function AttentionSection({ interrupted, folders, settings, onRecovered }: Props): ReactElement | null {
  if (interrupted === null && folders.length === 0) return null;
  const session = interrupted?.session ?? null;
  return (
    <List.Section title="Needs Attention">
      {interrupted === null ? null : (
        <List.Item
          id="interrupted"
          title={interrupted.problem.title}
          icon={{ value: Icon.BandAid, tooltip: "Interrupted" }}
          detail={
            <List.Item.Detail markdown={plain(`${interrupted.problem.cause}\n\n${interrupted.problem.remedy}`)} />
          }
          actions={
            <ActionPanel>
              {session === null ? null : (
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
