import { Color, Icon, List, type Image } from "@raycast/api";
import { type ReactElement, type ReactNode } from "react";
import { counted, spokenLength } from "../lib/format";
import { type Row } from "../lib/rows";
import { type Settings } from "../lib/settings";
import { SessionItemDetail } from "./SessionItemDetail";
import { SessionRowActions, type RowHandlers } from "./SessionRowActions";

interface Props {
  row: Row;
  settings: Settings;
  handlers: RowHandlers;
  /** Only the selected session is read for the side detail. */
  selected: boolean;
  showingDetail: boolean;
  /** Sections may show the same session; their ids differ. */
  idPrefix?: string;
}

export function SessionItem({ row, settings, handlers, selected, showingDetail, idPrefix = "" }: Props): ReactElement {
  const detail: ReactNode = showingDetail ? (
    selected ? (
      <SessionItemDetail row={row} settings={settings} />
    ) : (
      <List.Item.Detail />
    )
  ) : undefined;
  return (
    <List.Item
      id={idPrefix + row.key}
      title={row.title}
      icon={iconOf(row)}
      accessories={accessoriesOf(row, showingDetail)}
      {...(showingDetail || row.hit === null ? {} : { subtitle: row.hit.excerpt })}
      {...(detail === undefined ? {} : { detail })}
      actions={<SessionRowActions row={row} settings={settings} handlers={handlers} />}
    />
  );
}

function iconOf(row: Row): { value: Image.ImageLike; tooltip: string } {
  if (row.verdict === "blocked" || row.verdict === "corrupt" || row.verdict === "unreadable") {
    return { value: Icon.ExclamationMark, tooltip: "This session cannot be read" };
  }
  if (row.recordings > 0) return { value: Icon.Microphone, tooltip: "Voice session" };
  return { value: Icon.Text, tooltip: "Text session" };
}

/** States are tags with words; the colour only repeats them. */
function accessoriesOf(row: Row, narrow: boolean): List.Item.Accessory[] {
  const accessories: List.Item.Accessory[] = [];
  if (row.verdict === "blocked" || row.verdict === "corrupt" || row.verdict === "unreadable") {
    accessories.push({ tag: { value: "Read-Only", color: Color.Red }, tooltip: "The log is not valid" });
  } else if (row.interrupted || row.verdict === "tail-pending") {
    accessories.push({
      tag: { value: "Interrupted", color: Color.Orange },
      tooltip: "A recording did not end properly",
    });
  }
  if (row.archived) accessories.push({ tag: { value: "Archived", color: Color.SecondaryText }, tooltip: "Archived" });
  if (!narrow && row.messages > 0) accessories.push({ text: counted(row.messages, "message") });
  if (row.durationMs > 0) accessories.push({ text: spokenLength(row.durationMs), tooltip: "Length of the recordings" });
  if (row.createdAt !== null && !narrow) {
    const date = new Date(row.createdAt);
    if (!Number.isNaN(date.getTime())) accessories.push({ date, tooltip: `Created ${row.createdAt}` });
  }
  return accessories;
}
