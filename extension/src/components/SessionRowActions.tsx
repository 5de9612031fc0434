import { Action, ActionPanel, Icon, Keyboard } from "@raycast/api";
import { useMemo, type ReactElement } from "react";
import { copySession } from "../lib/session-actions";
import { type Row } from "../lib/rows";
import { type Settings } from "../lib/settings";
import { openLibrary } from "../lib/store";
import { ManageActions } from "./ManageActions";
import { SessionDetail } from "./SessionDetail";

export interface RowHandlers {
  onChange: () => void;
  toggleDetail: () => void;
}

export function SessionRowActions({
  row,
  settings,
  handlers,
}: {
  row: Row;
  settings: Settings;
  handlers: RowHandlers;
}): ReactElement {
  const library = useMemo(() => openLibrary(settings), [settings]);
  const { location, id, title, hit } = row;
  const writable = row.verdict === "valid" || row.verdict === "tail-pending";
  const leaf = hit === null ? undefined : hit.leaf;
  return (
    <ActionPanel>
      <ActionPanel.Section>
        <Action.Push
          title="Show Session"
          icon={Icon.Eye}
          target={<SessionDetail settings={settings} location={location} leaf={leaf} onChange={handlers.onChange} />}
        />
        {writable ? (
          <Action
            title="Copy Transcript"
            icon={Icon.Clipboard}
            shortcut={Keyboard.Shortcut.Common.Copy}
            onAction={() => void copySession(library, settings, { location, title, leaf })}
          />
        ) : null}
        <Action
          title="Toggle Detail"
          icon={Icon.Sidebar}
          shortcut={Keyboard.Shortcut.Common.ToggleQuickLook}
          onAction={handlers.toggleDetail}
        />
        <Action
          title="Refresh"
          icon={Icon.ArrowClockwise}
          shortcut={Keyboard.Shortcut.Common.Refresh}
          onAction={handlers.onChange}
        />
      </ActionPanel.Section>
      <ManageActions
        library={library}
        location={location}
        id={id}
        title={title}
        archived={writable ? row.archived : null}
        recoverable={row.interrupted || row.verdict === "tail-pending"}
        onChange={handlers.onChange}
        onDelete={handlers.onChange}
      />
    </ActionPanel>
  );
}
