import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { Library } from "../src/library/library";
import { corpus, logsOf } from "./corpus";
import { interleave, rounds, times, timing } from "./measure";
import { type BenchRow } from "./row";

const SESSIONS = Number(process.env.PERSYK_BENCH_SESSIONS ?? "10000");

export async function bench(): Promise<BenchRow[]> {
  const root = corpus("search", SESSIONS, 100);
  const logs = logsOf(root);
  const result = await interleave(
    {
      ours: async () => {
        const last = await new Library({ writeRoot: root }).last();
        await last?.session.close();
      },
      floor: () => newestByHeader(logs),
    },
    rounds(5),
  );
  return [
    {
      what: `copy last, ${SESSIONS.toLocaleString("en-US")} sessions`,
      ours: timing(result.ours),
      against: "reading every header and the newest log",
      theirs: timing(result.floor),
      ratio: times(result.ours.wallMs, result.floor.wallMs),
      bar: "≤ 100 ms",
      met: result.ours.wallMs <= 100,
    },
  ];
}

function newestByHeader(logs: readonly string[]): number {
  const buffer = Buffer.allocUnsafe(512);
  let newest = "";
  let newestTime = "";
  for (const log of logs) {
    const descriptor = openSync(log, "r");
    const read = readSync(descriptor, buffer, 0, buffer.length, 0);
    closeSync(descriptor);
    const time = /"timestamp":"([^"]*)"/.exec(buffer.toString("latin1", 0, read))?.[1] ?? "";
    if (time > newestTime) [newest, newestTime] = [log, time];
  }
  return newest === "" ? 0 : readFileSync(newest).length;
}
