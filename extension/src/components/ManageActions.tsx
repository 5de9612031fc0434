import { Action, ActionPanel, Icon, Keyboard } from "@raycast/api";
import { type ReactElement } from "react";
import { type Library } from "@persyk/store";
import { exportChoices } from "../lib/exports";
import { deleteSession, exportSessionAs, recoverSession, setArchived } from "../lib/session-actions";
import { RenameForm } from "./RenameForm";

interface Props {
  library: Library;
  location: string;
  id: string | null;
  title: string;
  /** The leaf that is shown; the newest when absent. */
  leaf?: string | null | undefined;
  /** Null when the session cannot be written to. */
  archived: boolean | null;
  recoverable: boolean;
  onChange: () => void;
  onDelete: () => void;
}

/** Export, rename, archive, recover, delete: the same in the list and in the detail. */
export function ManageActions(props: Props): ReactElement {
  const { library, location, id, title, leaf, archived, recoverable, onChange, onDelete } = props;
  return (
    <>
      <ActionPanel.Section title="Manage">
        {recoverable ? (
          <Action
            title="Recover Session…"
            icon={Icon.BandAid}
            onAction={() => void recoverSession(library, location).then((done) => done && onChange())}
          />
        ) : null}
        {archived === null ? null : (
          <>
            <ActionPanel.Submenu title="Export Session…" icon={Icon.Download}>
              {exportChoices.map(({ format, title: choice }) => (
                <Action
                  key={format}
                  title={choice}
                  icon={Icon.Document}
                  onAction={() => void exportSessionAs(library, { location, leaf }, format)}
                />
              ))}
            </ActionPanel.Submenu>
            <Action.Push
              title="Rename Session…"
              icon={Icon.Pencil}
              shortcut={Keyboard.Shortcut.Common.Edit}
              target={<RenameForm library={library} location={location} name={title} onChange={onChange} />}
            />
            <Action
              title={archived ? "Restore Session" : "Archive Session"}
              icon={archived ? Icon.Tray : Icon.Box}
              onAction={() => void setArchived(library, location, !archived).then((done) => done && onChange())}
            />
          </>
        )}
        <Action.ShowInFinder path={location} icon={Icon.Finder} shortcut={Keyboard.Shortcut.Common.Open} />
        <Action.CopyToClipboard
          title="Copy Folder Path"
          icon={Icon.Clipboard}
          content={location}
          shortcut={Keyboard.Shortcut.Common.CopyPath}
        />
        {id === null ? null : <Action.CopyToClipboard title="Copy Session ID" icon={Icon.Clipboard} content={id} />}
      </ActionPanel.Section>
      <ActionPanel.Section>
        <Action
          title="Delete Session…"
          icon={Icon.Trash}
          style={Action.Style.Destructive}
          shortcut={Keyboard.Shortcut.Common.Remove}
          onAction={() => void deleteSession(library, { location, title }).then((done) => done && onDelete())}
        />
      </ActionPanel.Section>
    </>
  );
}
