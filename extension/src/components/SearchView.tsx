import { List } from "@raycast/api";
import { useMemo, useState, type ReactElement } from "react";
import { useAgentSessions } from "../hooks/useAgentSessions";
import { useRecording } from "../hooks/useRecording";
import { useRows } from "../hooks/useRows";
import { useSimilar } from "../hooks/useSimilar";
import { attempt } from "../lib/mend";
import { problemOf } from "../lib/problems";
import { recordings } from "../lib/recording";
import { filters, isFilter, type Filter } from "../lib/rows";
import { type Settings } from "../lib/settings";
import { FEW_HITS } from "../lib/similar";
import { openLibrary } from "../lib/store";
import { AgentSessionItem } from "./AgentSessionItem";
import { AttentionSection } from "./AttentionSection";
import { EmptySearch } from "./EmptySearch";
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
  const ofAgents = filter === "agent";
  const { rows, diagnostics, isLoading, error, pagination, revalidate } = useRows(library, needle, filter);
  const few = !ofAgents && !isLoading && needle !== "" && rows.length < FEW_HITS;
  const similar = useSimilar(library, needle, { execute: few, hits: rows });
  const agents = useAgentSessions(settings.eventLogRoots, needle, ofAgents);
  const recording = useRecording(source);
  const toggleDetail = () => setShowingDetail((shown) => !shown);
  const handlers = { onChange: revalidate, toggleDetail };
  const failure = ofAgents ? agents.error : error;
  const folders = ofAgents
    ? agents.problems.map(({ code, message, path }) => ({ code, message, location: path }))
    : diagnostics;
  const shown = ofAgents ? agents.rows.length : rows.length + similar.length;
  const first = ofAgents ? agents.rows[0]?.session.location : rows[0]?.key;
  const current = selected ?? first ?? null;
  return (
    <List
      isLoading={isLoading || agents.isLoading}
      isShowingDetail={showingDetail && failure === undefined && shown > 0}
      filtering={false}
      throttle
      searchBarPlaceholder="Search every transcript"
      onSearchTextChange={setText}
      onSelectionChange={setSelected}
      {...(pagination === undefined || ofAgents ? {} : { pagination })}
      searchBarAccessory={
        <List.Dropdown
          tooltip="Which sessions to show"
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
      {failure === undefined ? (
        <EmptySearch needle={needle} filter={filter} settings={settings} />
      ) : (
        <ProblemEmptyView problem={problemOf(failure)} handlers={{ retry: revalidate }} />
      )}
      <AttentionSection
        recording={
          needle === "" && (recording?.kind === "interrupted" || recording?.kind === "unknown") ? recording : null
        }
        folders={failure === undefined ? folders : []}
        settings={settings}
        onRecovered={() => {
          void attempt(undefined, () => source.announced());
          revalidate();
        }}
      />
      {failure === undefined && !ofAgents ? (
        <List.Section title={needle === "" ? "Sessions" : "Found"}>
          {rows.map((row) => (
            <SessionItem
              key={row.key}
              row={row}
              settings={settings}
              handlers={handlers}
              selected={current === row.key}
              showingDetail={showingDetail}
            />
          ))}
        </List.Section>
      ) : null}
      {similar.length > 0 && !ofAgents ? (
        <List.Section title="Similar Titles">
          {similar.map((row) => (
            <SessionItem
              key={`similar ${row.key}`}
              idPrefix="similar "
              row={row}
              settings={settings}
              handlers={handlers}
              selected={current === `similar ${row.key}`}
              showingDetail={showingDetail}
            />
          ))}
        </List.Section>
      ) : null}
      {ofAgents ? (
        <List.Section title="Agent Sessions">
          {agents.rows.map((row) => (
            <AgentSessionItem
              key={row.session.location}
              row={row}
              selected={current === row.session.location}
              showingDetail={showingDetail}
              toggleDetail={toggleDetail}
            />
          ))}
        </List.Section>
      ) : null}
    </List>
  );
}
