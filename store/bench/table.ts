import { type BenchRow } from "./row";

const heads = ["what", "ours", "peer or floor", "theirs", "ratio", "bar", "met"] as const;

/** The table of a run, in Markdown, so that it is read in a terminal and pasted into `docs/bench.md` as it is. */
export class Table {
  readonly #rows: readonly BenchRow[];

  constructor(rows: readonly BenchRow[]) {
    this.#rows = rows;
  }

  toMarkdown(): string {
    const cells = this.#rows.map((row) => [
      row.what,
      row.ours,
      row.against,
      row.theirs,
      row.ratio,
      row.bar,
      row.met === null ? "-" : row.met ? "yes" : "no",
    ]);
    const widths = heads.map((head, column) => Math.max(head.length, ...cells.map((row) => row[column]?.length ?? 0)));
    const line = (row: readonly string[]): string =>
      `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(" | ")} |`;
    const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
    const notes = this.#rows.flatMap((row) => (row.note === undefined ? [] : [`- ${row.what}: ${row.note}`]));
    return [line(heads), rule, ...cells.map(line), ...(notes.length > 0 ? ["", ...notes] : [])].join("\n");
  }
}
