import { Action, ActionPanel, Icon, List, openExtensionPreferences } from "@raycast/api";
import { type ReactElement } from "react";
import { showCommand } from "../lib/mend";
import { type Filter } from "../lib/rows";
import { type Settings } from "../lib/settings";

interface Props {
  needle: string;
  filter: Filter;
  settings: Settings;
}

/** Why the list is empty: nothing found, nothing passes the filter, or nothing recorded yet. */
export function EmptySearch({ needle, filter, settings }: Props): ReactElement {
  if (filter === "agent" && settings.eventLogRoots.length === 0) {
    return (
      <List.EmptyView
        icon={Icon.Terminal}
        title="No Agent Session Folders"
        description="Name the folders of your coding agent's event logs in the preferences."
        actions={
          <ActionPanel>
            <Action title="Open Preferences" icon={Icon.Gear} onAction={() => void openExtensionPreferences()} />
          </ActionPanel>
        }
      />
    );
  }
  if (needle !== "") {
    return (
      <List.EmptyView
        icon={Icon.MagnifyingGlass}
        title="Nothing Found"
        description={`No session holds “${needle}”. The search is literal: try one word.`}
      />
    );
  }
  if (filter !== "all") {
    return <List.EmptyView icon={Icon.Filter} title="Nothing Here" description="No session passes this filter." />;
  }
  return (
    <List.EmptyView
      icon={Icon.Microphone}
      title="No Sessions Yet"
      description="Record something, and it is here with its transcript."
      actions={
        <ActionPanel>
          <Action title="Record" icon={Icon.Microphone} onAction={() => void showCommand("record")} />
          <Action
            title="Transcribe Audio File"
            icon={Icon.Document}
            onAction={() => void showCommand("transcribe-audio-file")}
          />
        </ActionPanel>
      }
    />
  );
}
