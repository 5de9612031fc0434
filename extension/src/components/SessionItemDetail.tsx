import { List } from "@raycast/api";
import { type ReactElement, useMemo } from "react";
import { useSessionView } from "../hooks/useSessionView";
import { highlighted } from "../lib/markdown";
import { problemMarkdown } from "../lib/problem-markdown";
import { problemOf } from "../lib/problems";
import { type Row } from "../lib/rows";
import { type Settings } from "../lib/settings";
import { openLibrary } from "../lib/store";
import { transcriptMarkdown } from "../lib/transcript";
import { SessionMetadata } from "./SessionMetadata";

/** The transcript beside the list, with what was found above it. */
export function SessionItemDetail({ row, settings }: { row: Row; settings: Settings }): ReactElement {
  const library = useMemo(() => openLibrary(settings), [settings]);
  const { view, isLoading, error } = useSessionView(library, row.location, { leaf: row.hit?.leaf });
  const found = row.hit === null ? "" : `> ${highlighted(row.hit.excerpt, row.hit.matches)}\n\n---\n\n`;
  if (error !== undefined) {
    return <List.Item.Detail markdown={problemMarkdown(problemOf(error, { location: row.location }))} />;
  }
  if (view === undefined) return <List.Item.Detail isLoading={isLoading} markdown={found} />;
  const body =
    view.kind === "readable"
      ? transcriptMarkdown(view)
      : "*This session is read-only: its log is not valid. Open it to see why.*";
  return <List.Item.Detail isLoading={isLoading} markdown={found + body} metadata={<SessionMetadata view={view} />} />;
}
