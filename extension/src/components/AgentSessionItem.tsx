import path from "node:path";
import { Action, ActionPanel, Icon, Keyboard, List } from "@raycast/api";
import { usePromise } from "@raycast/utils";
import { useRef, type ReactElement } from "react";
import { readAgentSession, type AgentSession } from "@persyk/store";
import { type AgentRow } from "../hooks/useAgentSessions";
import { counted, dateText } from "../lib/format";
import { highlighted, plain } from "../lib/markdown";
import { problemMarkdown } from "../lib/problem-markdown";
import { problemOf } from "../lib/problems";

interface Props {
  row: AgentRow;
  selected: boolean;
  showingDetail: boolean;
  toggleDetail: () => void;
}

/** A session of a coding agent. There is nothing here that writes to it. */
export function AgentSessionItem({ row, selected, showingDetail, toggleDetail }: Props): ReactElement {
  const { session, match } = row;
  const detail = selected ? <AgentSessionDetail row={row} /> : <List.Item.Detail />;
  return (
    <List.Item
      id={session.location}
      title={session.title}
      icon={{ value: Icon.Terminal, tooltip: "Agent session" }}
      {...(showingDetail || match === null ? {} : { subtitle: match.excerpt })}
      accessories={showingDetail ? [] : accessoriesOf(session)}
      {...(showingDetail ? { detail } : {})}
      actions={
        <ActionPanel>
          <Action
            title="Toggle Detail"
            icon={Icon.Sidebar}
            shortcut={Keyboard.Shortcut.Common.ToggleQuickLook}
            onAction={toggleDetail}
          />
          <Action.ShowInFinder path={session.location} icon={Icon.Finder} shortcut={Keyboard.Shortcut.Common.Open} />
          <Action.CopyToClipboard
            title="Copy Session ID"
            icon={Icon.Clipboard}
            content={session.id}
            shortcut={Keyboard.Shortcut.Common.Copy}
          />
          <Action.CopyToClipboard
            title="Copy Folder Path"
            icon={Icon.Clipboard}
            content={session.location}
            shortcut={Keyboard.Shortcut.Common.CopyPath}
          />
        </ActionPanel>
      }
    />
  );
}

function accessoriesOf({ cwd, messages, lastActivityAt }: AgentSession): List.Item.Accessory[] {
  return [
    ...(cwd === null ? [] : [{ text: path.basename(cwd), tooltip: cwd }]),
    { text: counted(messages, "message") },
    { date: new Date(lastActivityAt), tooltip: `Last active ${dateText(lastActivityAt)}` },
  ];
}

/** The newest messages; a log of an agent can be longer than anyone reads beside a list. */
const MAX_MESSAGES = 100;

function AgentSessionDetail({ row: { session, match } }: { row: AgentRow }): ReactElement {
  const abortable = useRef<AbortController | null>(null);
  const { data, isLoading, error } = usePromise(
    (location: string, root: string) => {
      const signal = abortable.current?.signal;
      return readAgentSession({ location, root }, { limit: MAX_MESSAGES, ...(signal === undefined ? {} : { signal }) });
    },
    [session.location, session.root],
    { abortable, onError: () => undefined },
  );
  if (error !== undefined) return <List.Item.Detail markdown={problemMarkdown(problemOf(error))} />;
  const found = match === null ? [] : [`> ${highlighted(match.excerpt, match.matches)}`, "---"];
  const omitted =
    data !== undefined && data.omitted > 0 ? [`*${counted(data.omitted, "earlier message")} not shown.*`] : [];
  const messages = (data?.messages ?? []).map(
    ({ role, text }) => `**${role === "user" ? "You" : "Agent"}**  \n${plain(text)}`,
  );
  return <List.Item.Detail isLoading={isLoading} markdown={[...found, ...omitted, ...messages].join("\n\n")} />;
}
