import Table from "cli-table3";
import { type CliContext } from "../context";

export interface Column {
  head: string;
  align?: "left" | "right";
  /** Takes what the other columns leave, and is cut with an ellipsis to fit the terminal. Text columns only. */
  flexible?: boolean;
}

/** A table for people: no frame, a dim head, columns two spaces apart, fitted to the terminal's width. */
export function renderTable(cli: CliContext, columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((column, index) =>
    Math.max(displayWidth(column.head), ...rows.map((row) => displayWidth(row[index] ?? ""))),
  );
  const flexible = columns.findIndex((column) => column.flexible === true);
  const total = widths.reduce((sum, width) => sum + width, 0) + 2 * (columns.length - 1);
  if (flexible !== -1 && total > cli.columns) {
    widths[flexible] = Math.max(12, (widths[flexible] ?? 0) - (total - cli.columns));
  }
  const table = new Table({
    chars: {
      top: "",
      "top-mid": "",
      "top-left": "",
      "top-right": "",
      bottom: "",
      "bottom-mid": "",
      "bottom-left": "",
      "bottom-right": "",
      left: "",
      "left-mid": "",
      mid: "",
      "mid-mid": "",
      right: "",
      "right-mid": "",
      middle: "  ",
    },
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [], compact: true },
    colAligns: columns.map((column) => column.align ?? "left"),
    colWidths: widths,
    wordWrap: false,
  });
  table.push(columns.map((column) => cli.style.dim(column.head)));
  for (const row of rows) table.push([...row]);
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

/** Columns a string takes in a terminal: wide characters two, combining marks none, escape sequences none. */
export function displayWidth(text: string): number {
  // eslint-disable-next-line no-control-regex -- colours take no room
  const plain = text.replace(/\u001b\[[0-9;]*m/g, "");
  let width = 0;
  for (const character of plain) {
    if (/[\p{Mn}\p{Me}\p{Cf}]/u.test(character)) continue;
    width += wide.test(character) ? 2 : 1;
  }
  return width;
}

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
