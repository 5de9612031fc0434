import { Action, ActionPanel, Icon, Keyboard, List } from "@raycast/api";
import { useMemo, type ReactElement } from "react";
import { placeOf, speakerOf } from "@persyk/store";
import { useSessionView } from "../hooks/useSessionView";
import { clockTime, dateText, shorten } from "../lib/format";
import { plain } from "../lib/markdown";
import { problemOf } from "../lib/problems";
import { removeMessage } from "../lib/session-actions";
import { type Settings } from "../lib/settings";
import { openLibrary } from "../lib/store";
import { LabelForm } from "./LabelForm";
import { ProblemEmptyView } from "./ProblemView";

interface Props {
  settings: Settings;
  location: string;
  leaf?: string | null | undefined;
  onChange: () => void;
}

/** The messages of a session one by one: copy, label, remove. */
export function MessageList({ settings, location, leaf, onChange }: Props): ReactElement {
  const library = useMemo(() => openLibrary(settings), [settings]);
  const { view, isLoading, error, revalidate } = useSessionView(library, location, { leaf });
  const changed = () => {
    revalidate();
    onChange();
  };
  const readable = view?.kind === "readable" ? view : undefined;
  const turns = readable?.transcript.turns.filter((turn) => turn.text.trim() !== "") ?? [];
  return (
    <List
      isLoading={isLoading}
      isShowingDetail={turns.length > 0}
      navigationTitle="Messages"
      searchBarPlaceholder="Filter messages"
    >
      {error === undefined ? (
        <List.EmptyView icon={Icon.SpeechBubble} title="No Messages" description="This session has no text." />
      ) : (
        <ProblemEmptyView problem={problemOf(error, { location })} handlers={{ retry: revalidate }} />
      )}
      {turns.map((turn) => {
        const place = placeOf(turn, readable?.transcript.recordings ?? []);
        const label = readable?.labels.get(turn.entryId);
        return (
          <List.Item
            key={turn.entryId}
            id={turn.entryId}
            title={shorten(turn.text, 80)}
            icon={{ value: turn.role === "user" ? Icon.Person : Icon.SpeechBubble, tooltip: speakerOf(turn.role) }}
            accessories={[
              ...(label === undefined ? [] : [{ tag: label, tooltip: "Label" }]),
              { text: place === null ? "" : clockTime(place.startMs), tooltip: dateText(turn.timestamp) },
            ]}
            detail={<List.Item.Detail markdown={plain(turn.text)} />}
            actions={
              <ActionPanel>
                <Action.CopyToClipboard
                  title="Copy Message"
                  icon={Icon.Clipboard}
                  content={turn.text}
                  concealed={settings.concealedCopy}
                  shortcut={Keyboard.Shortcut.Common.Copy}
                />
                <Action.Push
                  title="Label Message…"
                  icon={Icon.Tag}
                  shortcut={Keyboard.Shortcut.Common.Edit}
                  target={
                    <LabelForm
                      library={library}
                      location={location}
                      entryId={turn.entryId}
                      label={label ?? ""}
                      onChange={changed}
                    />
                  }
                />
                <Action
                  title="Remove Message…"
                  icon={Icon.MinusCircle}
                  style={Action.Style.Destructive}
                  shortcut={Keyboard.Shortcut.Common.Remove}
                  onAction={() =>
                    void removeMessage(library, { location, entryId: turn.entryId, leaf }).then(
                      (done) => done && changed(),
                    )
                  }
                />
              </ActionPanel>
            }
          />
        );
      })}
    </List>
  );
}
