import os from "node:os";
import { Table } from "./table";
import { reportPeak } from "./child";
import { bench as append } from "./append";
import { bench as eventLog } from "./event-log";
import { bench as last } from "./last";
import { bench as list, listAll } from "./list";
import { bench as listening } from "./listening";
import { bench as open } from "./open";
import { bench as realtime } from "./realtime";
import { bench as search, searchAll } from "./search";
import { type Bench, type BenchRow } from "./row";

/** In the order of the table. */
const benches: Record<string, Bench> = {
  append,
  open,
  list,
  search,
  last,
  listening,
  realtime,
  "event-log": eventLog,
};

/** What a child process does to have its memory measured. */
const works: Record<string, (...values: string[]) => Promise<unknown>> = {
  list: (root = "") => listAll(root),
  search: (root = "", needle = "") => searchAll(root, needle),
};

async function main(argv: readonly string[]): Promise<number> {
  const [first, name, ...values] = argv;
  if (first === "--work") {
    const work = works[name ?? ""];
    if (work === undefined) throw new Error("no such work");
    await work(...values);
    reportPeak();
    return 0;
  }
  const asked = argv.length === 0 ? Object.keys(benches) : [...argv];
  const unknown = asked.filter((each) => !(each in benches));
  if (unknown.length > 0) {
    process.stderr.write(`No such benchmark: ${unknown.join(", ")}. There are: ${Object.keys(benches).join(", ")}.\n`);
    return 2;
  }
  const rows: BenchRow[] = [];
  for (const each of asked) {
    process.stderr.write(`measuring ${each} …\n`);
    rows.push(...((await benches[each]?.()) ?? []));
  }
  const cpu = os.cpus()[0]?.model ?? "unknown CPU";
  const machine = `${cpu}, ${os.cpus().length} cores, ${os.platform()} ${os.release()}, Node ${process.versions.node}`;
  process.stdout.write(`${new Table(rows).toMarkdown()}\n\n${new Date().toISOString().slice(0, 10)}, ${machine}.\n`);
  return rows.some((row) => row.met === false) ? 1 : 0;
}

main(process.argv.slice(2)).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 3;
  },
);
