import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { Library } from "../src/library/library";
import { megabytes, peakMemory } from "./child";
import { corpus, logsOf } from "./corpus";
import { interleave, ms, rounds, sample, times, timing } from "./measure";
import { ripgrep } from "./peers";
import { type BenchRow } from "./row";

const SESSIONS = Number(process.env.PERSYK_BENCH_SESSIONS ?? "10000");
const ENTRIES = 100;
const MISS = "xylophone lesson";
const EVERYWHERE = "budget";

export async function searchAll(
  root: string,
  needle: string,
  library = new Library({ writeRoot: root }),
): Promise<number> {
  let hits = 0;
  for await (const _hit of library.searchStream(needle)) hits += 1;
  return hits;
}

export async function bench(): Promise<BenchRow[]> {
  const root = corpus("search", SESSIONS, ENTRIES);
  const logs = logsOf(root);
  const program = ripgrep();
  const rg = (needle: string): void => {
    if (program !== null) spawnSync(program, ["-j1", "-i", "-F", "-l", needle, root], { maxBuffer: 1e9 });
  };
  const size = `${SESSIONS.toLocaleString("en-US")} sessions`;

  const miss = await interleave({ ours: () => searchAll(root, MISS), rg: () => rg(MISS) }, rounds(3));
  const every = await interleave(
    { ours: () => searchAll(root, EVERYWHERE), parse: () => parseEverything(logs) },
    rounds(1),
  );
  const library = new Library({ writeRoot: root });
  await searchAll(root, MISS, library);
  const warm = await interleave({ warm: () => searchAll(root, MISS, library) }, rounds(9));
  const typed = await sample(() => searchAll(root, `${MISS}s`, library));
  const firstPage = await sample(() => new Library({ writeRoot: root }).search(EVERYWHERE, { limit: 50 }));
  const peakBytes = Math.max(peakMemory("search", root, MISS), peakMemory("search", root, EVERYWHERE));
  const haveRg = program !== null;
  return [
    {
      what: `cold search, ${size}, no hit`,
      ours: timing(miss.ours),
      against: "ripgrep -j1 -i -F -l",
      theirs: haveRg ? ms(miss.rg.wallMs) : "-",
      ratio: haveRg ? times(miss.ours.wallMs, miss.rg.wallMs) : "-",
      bar: "≤ 3 ×",
      met: haveRg ? miss.ours.wallMs <= 3 * miss.rg.wallMs : null,
      ...(haveRg ? {} : { note: "ripgrep could not be installed" }),
    },
    {
      what: `cold search, ${size}, every session hit`,
      ours: timing(every.ours),
      against: "slice + JSON.parse of every line",
      theirs: timing(every.parse),
      ratio: times(every.ours.wallMs, every.parse.wallMs),
      bar: "≤ 1.2 ×",
      met: every.ours.wallMs <= 1.2 * every.parse.wallMs,
    },
    absolute("… first page of 50 hits", ms(firstPage.wallMs), "-", null),
    absolute(`warm search, ${size}, no hit`, ms(warm.warm.wallMs), "≤ 100 ms", warm.warm.wallMs <= 100),
    absolute("… one more letter typed", ms(typed.wallMs), "≤ 100 ms", typed.wallMs <= 100),
    absolute("… peak memory of the cold searches", megabytes(peakBytes), "≤ 200 MB", peakBytes <= 200e6),
  ];
}

function absolute(what: string, ours: string, bar: string, met: boolean | null): BenchRow {
  return { what, ours, against: "-", theirs: "-", ratio: "-", bar, met };
}

function parseEverything(logs: readonly string[]): number {
  let records = 0;
  for (const log of logs) {
    const bytes = readFileSync(log);
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
      const value: unknown = JSON.parse(bytes.toString("utf8", start, end));
      if (value !== null) records += 1;
      start = end + 1;
    }
  }
  return records;
}
