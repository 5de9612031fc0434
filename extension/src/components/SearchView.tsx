import { Action, ActionPanel, Icon, List, openExtensionPreferences } from "@raycast/api";
import { useMemo, useState, type ReactElement } from "react";
import { useRecording } from "../hooks/useRecording";
import { useRows } from "../hooks/useRows";
import { useSimilar } from "../hooks/useSimilar";
import { problemOf } from "../lib/problems";
import { openCommand } from "../lib/raycast";
import { recordings } from "../lib/recording";
import { filters, isFilter, type Filter } from "../lib/rows";
import { recoverSession } from "../lib/session-actions";
import { type Settings } from "../lib/settings";
import { FEW_HITS } from "../lib/similar";
import { openLibrary } from "../lib/store";
import { AgentSessionSection } from "./AgentSessionSection";
import { ProblemEmptyView } from "./ProblemView";
import { SessionItem } from "./SessionItem";

/** All sessions, newest first; with text, those that hold it. */
export function SearchView({ settings }: { settings: Settings }): ReactElement {
  const library = useMemo(() => openLibrary(settings), [settings]);
  const source = useMemo(() => recordings(), []);
  const [text, setText] = useState("");
  const [filter, setFilter] = useState<Filter>("all");
  const [selected, setSelected] = useState<string | null>(null);
  const [showingDetail, setShowingDetail] = useState(true);
  const needle = text.trim();
  const { rows, diagnostics, isLoading, error, pagination, revalidate } = useRows(library, needle, filter);
  const few = filter !== "agent" && !isLoading && needle !== "" && rows.length < FEW_HITS;
  const similar = useSimilar(library, needle, { execute: few, hits: rows });
  const interrupted = useRecording(source);
  const handlers = { onChange: revalidate, toggleDetail: () => setShowingDetail((shown) => !shown) };
  const first = rows[0]?.key ?? null;
  return (
    <List
      isLoading={isLoading}
      isShowingDetail={showingDetail && error === undefined && rows.length + similar.length > 0}
      filtering={false}
      throttle
      searchBarPlaceholder="Search every transcript"
      onSearchTextChange={setText}
      onSelectionChange={setSelected}
      {...(pagination === undefined ? {} : { pagination })}
      searchBarAccessory={
        <List.Dropdown
          tooltip="Show"
          storeValue
          onChange={(value) => {
            if (isFilter(value)) setFilter(value);
          }}
        >
          {filters.map(({ value, title }) => (
            <List.Dropdown.Item key={value} value={value} title={title} />
          ))}
        </List.Dropdown>
      }
    >
      {error === undefined ? (
        <EmptySearch needle={needle} filter={filter} settings={settings} />
      ) : (
        <ProblemEmptyView problem={problemOf(error)} handlers={{ retry: revalidate }} />
      )}
      {interrupted?.kind === "interrupted" && needle === "" && error === undefined ? (
        <List.Section title="Needs Attention">
          <List.Item
            id="interrupted"
            title={interrupted.problem.title}
            icon={{ value: Icon.FirstAidKit, tooltip: "Interrupted" }}
            detail={<List.Item.Detail markdown={`${interrupted.problem.cause}\n\n${interrupted.problem.remedy}`} />}
            actions={
              <ActionPanel>
                {interrupted.session === null ? null : (
                  <RecoverAction
                    location={interrupted.session.location}
                    settings={settings}
                    onDone={() => {
                      void source.announced();
                      revalidate();
                    }}
                  />
                )}
              </ActionPanel>
            }
          />
        </List.Section>
      ) : null}
      {diagnostics.length === 0 || error !== undefined ? null : (
        <List.Section title="Folders">
          {diagnostics.map((diagnostic) => (
            <List.Item
              key={`${diagnostic.code} ${diagnostic.location ?? ""}`}
              id={`folder ${diagnostic.code} ${diagnostic.location ?? ""}`}
              title={diagnostic.message}
              icon={{ value: Icon.Folder, tooltip: "Folder" }}
              detail={<List.Item.Detail markdown={`${diagnostic.message}\n\n${diagnostic.location ?? ""}`} />}
              actions={
                <ActionPanel>
                  <Action title="Open Preferences" icon={Icon.Gear} onAction={() => void openExtensionPreferences()} />
                </ActionPanel>
              }
            />
          ))}
        </List.Section>
      )}
      {error === undefined && filter !== "agent" ? (
        <List.Section title={needle === "" ? "Sessions" : "Found"}>
          {rows.map((row) => (
            <SessionItem
              key={row.key}
              row={row}
              settings={settings}
              handlers={handlers}
              selected={(selected ?? first) === row.key}
              showingDetail={showingDetail}
            />
          ))}
        </List.Section>
      ) : null}
      {similar.length > 0 ? (
        <List.Section title="Similar Titles">
          {similar.map((row) => (
            <SessionItem
              key={`similar ${row.key}`}
              idPrefix="similar "
              row={row}
              settings={settings}
              handlers={handlers}
              selected={selected === `similar ${row.key}`}
              showingDetail={showingDetail}
            />
          ))}
        </List.Section>
      ) : null}
      {filter === "agent" ? (
        <AgentSessionSection settings={settings} text={needle} selected={selected} showingDetail={showingDetail} />
      ) : null}
    </List>
  );
}

function RecoverAction({
  location,
  settings,
  onDone,
}: {
  location: string;
  settings: Settings;
  onDone: () => void;
}): ReactElement {
  return (
    <Action
      title="Recover Session…"
      icon={Icon.FirstAidKit}
      onAction={() => void recoverSession(openLibrary(settings), location).then((done) => done && onDone())}
    />
  );
}

function EmptySearch({
  needle,
  filter,
  settings,
}: {
  needle: string;
  filter: Filter;
  settings: Settings;
}): ReactElement {
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
    const agent = filter === "agent";
    return (
      <List.EmptyView
        icon={Icon.Filter}
        title={agent && settings.eventLogRoots.length === 0 ? "No Agent Session Folders" : "Nothing Here"}
        description={
          agent && settings.eventLogRoots.length === 0
            ? "Name the folders of your coding agent's event logs in the preferences."
            : "No session passes this filter."
        }
        {...(agent
          ? {
              actions: (
                <ActionPanel>
                  <Action title="Open Preferences" icon={Icon.Gear} onAction={() => void openExtensionPreferences()} />
                </ActionPanel>
              ),
            }
          : {})}
      />
    );
  }
  return (
    <List.EmptyView
      icon={Icon.Microphone}
      title="No Sessions Yet"
      description="Record something, and it is here with its transcript."
      actions={
        <ActionPanel>
          <Action title="Record" icon={Icon.Microphone} onAction={() => void openCommand("record")} />
          <Action
            title="Transcribe Audio File"
            icon={Icon.Document}
            onAction={() => void openCommand("transcribe-audio-file")}
          />
        </ActionPanel>
      }
    />
  );
}
