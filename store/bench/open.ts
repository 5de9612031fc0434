import { readFileSync } from "node:fs";
import path from "node:path";
import { openSession, type Session } from "../src/session/session";
import { corpus, corpusForPi } from "./corpus";
import { interleave, rounds, type Sample, times, timing } from "./measure";
import { importPeer } from "./peers";
import { type BenchRow } from "./row";

const ENTRIES = 100_000;

/** Opening one long session with full validation, and projecting it. */
export async function bench(): Promise<BenchRow[]> {
  const root = corpus("open", 1, ENTRIES);
  const location = path.join(root, "session-000000");
  const log = path.join(location, "session.jsonl");
  const half = path.join(corpus("open", 1, ENTRIES / 2), "session-000000");
  const openWithPi = await piOpen(corpusForPi(root));
  const rows: BenchRow[] = [];

  const opened = await interleave(
    {
      ours: () => openAndClose(location),
      half: () => openAndClose(half),
      parse: () => parseEveryLine(log),
      pi: () => openWithPi?.(),
    },
    rounds(5),
  );
  const megabytes = Math.round(readFileSync(log).length / 1e6);
  rows.push({
    what: `open and validate ${ENTRIES.toLocaleString("en-US")} entries (${megabytes} MB)`,
    ours: timing(opened.ours),
    against: "slice and JSON.parse of every line",
    theirs: timing(opened.parse),
    ratio: times(opened.ours.cpuMs, opened.parse.cpuMs),
    bar: "≤ 2.5 ×",
    met: opened.ours.cpuMs <= 2.5 * opened.parse.cpuMs,
  });
  rows.push(againstPi("… the same", opened.ours, openWithPi === null ? null : opened.pi, 1.3));
  rows.push({
    what: "… twice the entries cost",
    ours: times(opened.ours.cpuMs, opened.half.cpuMs),
    against: "half of them",
    theirs: timing(opened.half),
    ratio: times(opened.ours.cpuMs, opened.half.cpuMs),
    bar: "≤ 2.4 ×",
    met: opened.ours.cpuMs <= 2.4 * opened.half.cpuMs,
  });

  const session = await openSession(location);
  const heapBytes = await heapOf(location);
  rows.push({
    what: "… heap that an open session keeps",
    ours: `${(heapBytes / 1e6).toFixed(1)} MB`,
    against: "-",
    theirs: "-",
    ratio: "-",
    bar: "≤ 30 MB",
    met: heapBytes <= 30e6,
  });

  rows.push(...(await benchContext(session, location, root, opened)));
  const unchanged = await interleave({ refresh: () => session.refresh() }, rounds(9));
  rows.push({
    what: "… look again at an unchanged log",
    ours: timing(unchanged.refresh),
    against: "-",
    theirs: "-",
    ratio: "-",
    bar: "≤ 5 ms CPU",
    met: unchanged.refresh.cpuMs <= 5,
  });
  await session.close();
  return rows;
}

/** The bodies of the whole corpus. */
const ALL_BODIES = 256 * 1_048_576;

/**
 * Pi holds every body in memory once a session is open. With `bodyCacheBytes` a session here does the same after the
 * first reading; without, it reads them back each time.
 */
async function benchContext(
  session: Session,
  location: string,
  root: string,
  opened: { ours: Sample; pi: Sample },
): Promise<BenchRow[]> {
  const what = `context of a ${ENTRIES.toLocaleString("en-US")}-deep ancestry`;
  const piContext = await piContextOf(corpusForPi(root));
  const keeping = await openSession(location, undefined, { bodyCacheBytes: ALL_BODIES });
  const context = await interleave(
    { kept: () => keeping.context(), read: () => session.context(), pi: () => piContext?.() },
    rounds(5),
  );
  await keeping.close();
  const row = againstPi(`${what}, bodies in memory`, context.kept, piContext === null ? null : context.pi, 1);
  if (piContext === null) return [row];
  const [ours, theirs] = [opened.ours.cpuMs + context.read.cpuMs, opened.pi.cpuMs + context.pi.cpuMs];
  return [
    { ...row, note: "both keep every body; here `bodyCacheBytes` asks for it, and the first reading fills it" },
    {
      ...againstPi("… bodies read back from the log", context.read, context.pi, 1),
      note: "the default: an open session keeps an index of 11 MB, so each context decodes and parses 73 MB of bodies",
    },
    {
      what: "… opening and reading it back together",
      ours: `${Math.round(ours)} ms CPU`,
      against: "Pi 0.85, both together",
      theirs: `${Math.round(theirs)} ms CPU`,
      ratio: `${times(ours, theirs)} CPU`,
      bar: "-",
      met: null,
    },
  ];
}

function againstPi(
  what: string,
  ours: { wallMs: number; cpuMs: number },
  pi: { wallMs: number; cpuMs: number } | null,
  bar: number,
): BenchRow {
  return {
    what,
    ours: timing(ours),
    against: "Pi 0.85, which validates nothing",
    theirs: pi === null ? "-" : timing(pi),
    ratio: pi === null ? "-" : `${times(ours.cpuMs, pi.cpuMs)} CPU`,
    bar: `≤ ${bar.toFixed(1)} × CPU`,
    met: pi === null ? null : ours.cpuMs <= bar * pi.cpuMs,
    ...(pi === null ? { note: "Pi could not be installed" } : {}),
  };
}

async function openAndClose(location: string): Promise<void> {
  const session = await openSession(location);
  if (session.verdict !== "valid") throw new Error("the corpus is not valid");
  await session.close();
}

/** The anchor: what reading costs that checks nothing but JSON. */
function parseEveryLine(log: string): number {
  const bytes = readFileSync(log);
  let count = 0;
  for (let start = 0, end = bytes.indexOf(0x0a); end !== -1; start = end + 1, end = bytes.indexOf(0x0a, start)) {
    const value: unknown = JSON.parse(bytes.toString("utf8", start, end));
    if (value !== null) count += 1;
  }
  return count;
}

async function heapOf(location: string): Promise<number> {
  globalThis.gc?.();
  const before = process.memoryUsage();
  const session: Session = await openSession(location);
  globalThis.gc?.();
  const after = process.memoryUsage();
  await session.close();
  return after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
}

interface PiSession {
  buildSessionContext: () => unknown;
}

async function piSession(): Promise<((file: string) => PiSession) | null> {
  const loaded = await importPeer("pi", "@earendil-works/pi-coding-agent/dist/core/session-manager.js");
  const manager = loaded?.["SessionManager"];
  if (typeof manager !== "function" || !("open" in manager) || typeof manager.open !== "function") return null;
  const { open } = manager;
  return (file) => {
    const session: unknown = Reflect.apply(open, manager, [file]);
    if (typeof session !== "object" || session === null || !("buildSessionContext" in session)) {
      throw new Error("Pi has another interface");
    }
    const { buildSessionContext } = session;
    if (typeof buildSessionContext !== "function") throw new Error("Pi has another interface");
    return { buildSessionContext: (): unknown => Reflect.apply(buildSessionContext, session, []) };
  };
}

async function piOpen(folder: string): Promise<(() => unknown) | null> {
  const open = await piSession();
  return open === null ? null : () => open(path.join(folder, "session-000000.jsonl"));
}

async function piContextOf(folder: string): Promise<(() => unknown) | null> {
  const open = await piSession();
  if (open === null) return null;
  const session = open(path.join(folder, "session-000000.jsonl"));
  return () => session.buildSessionContext();
}
