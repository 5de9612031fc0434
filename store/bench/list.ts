import { Library } from "../src/library/library";
import { megabytes, peakMemory } from "./child";
import { corpus, corpusForPi } from "./corpus";
import { interleave, rounds, times, timing } from "./measure";
import { importPeer } from "./peers";
import { type BenchRow } from "./row";

const SESSIONS = 1000;

export async function listAll(root: string): Promise<number> {
  const { sessions } = await new Library({ writeRoot: root }).list({ limit: SESSIONS });
  return sessions.length;
}

export async function bench(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  const listWithPi = await piList();
  for (const messages of [20, 200]) {
    const root = corpus("list", SESSIONS, messages);
    const theirs = listWithPi === null ? null : corpusForPi(root);
    const result = await interleave(
      { ours: () => listAll(root), pi: () => (theirs === null ? 0 : listWithPi?.(theirs)) },
      rounds(3),
    );
    const peakBytes = peakMemory("list", root);
    const measured = listWithPi !== null;
    rows.push({
      what: `list ${SESSIONS} sessions × ${messages} entries, each fully validated`,
      ours: timing(result.ours),
      against: "Pi 0.85, which validates nothing",
      theirs: measured ? timing(result.pi) : "-",
      ratio: measured ? `${times(result.ours.cpuMs, result.pi.cpuMs)} CPU` : "-",
      bar: "≤ 0.5 × CPU",
      met: measured ? result.ours.cpuMs <= 0.5 * result.pi.cpuMs : null,
      ...(measured ? {} : { note: "Pi could not be installed" }),
    });
    rows.push({
      what: `… peak memory, ${messages} entries`,
      ours: megabytes(peakBytes),
      against: "-",
      theirs: "-",
      ratio: "-",
      bar: "≤ 150 MB",
      met: peakBytes <= 150e6,
    });
  }
  return rows;
}

async function piList(): Promise<((folder: string) => Promise<unknown>) | null> {
  const loaded = await importPeer("pi", "@earendil-works/pi-coding-agent/dist/core/session-manager.js");
  const manager = loaded?.["SessionManager"];
  if (typeof manager !== "function" || !("list" in manager) || typeof manager.list !== "function") return null;
  const { list } = manager;
  return async (folder) => {
    const answer: unknown = await Reflect.apply(list, manager, ["/tmp", folder]);
    return answer;
  };
}
