import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Where benchmarks keep what they make and install: outside version control, reused by the next run. */
export const cacheFolder = path.join(process.env.PERSYK_PROJECT ?? process.cwd(), ".cache", "bench");

const words = (
  "the of and to in is that for it as was with be by on not he his but at are this have from or had an they which one " +
  "you were all her she there would their we him been has when who will no more if out so said what up its about into " +
  "than them can only other time new some could these two may first then do any like my now over such our man me even " +
  "most made after also did many off before must well back through years much where your way down should because long " +
  "each just state those people too little how good world make very year still see own work men day get here old life " +
  "both between being under three never know same last another while us might great go come since against right take " +
  "house during high without again home around small however mission budget quarter release notes review café naïve über"
).split(" ");

/** The same numbers in every run, so that runs compare. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x7fff_ffff;
  };
}

/**
 * A root of sessions with entries of about 1 kB, four of five of them messages, one minute apart. File times are those
 * that a writer would have left.
 */
export function corpus(name: string, sessions: number, entries: number): string {
  const root = path.join(cacheFolder, "corpus", `${name}-${sessions}x${entries}`);
  const complete = path.join(root, ".complete");
  if (existsSync(complete)) return root;
  rmSync(root, { recursive: true, force: true });
  const random = generator(42);
  for (let index = 0; index < sessions; index += 1) {
    const id = `session-${`${index}`.padStart(6, "0")}`;
    const startMs = Date.parse("2026-01-01T00:00:00Z") + index * 60_000;
    const folder = path.join(root, id);
    mkdirSync(folder, { recursive: true });
    const file = path.join(folder, "session.jsonl");
    writeFileSync(file, sessionLog(id, startMs, entries, random));
    const endSeconds = (startMs + entries * 200) / 1000;
    utimesSync(file, endSeconds, endSeconds);
  }
  writeFileSync(complete, "");
  return root;
}

function sessionLog(id: string, startMs: number, entries: number, random: () => number): string {
  const lines = [JSON.stringify({ type: "session", version: 1, id, timestamp: new Date(startMs).toISOString() })];
  let parentId: string | null = null;
  for (let index = 0; index < entries; index += 1) {
    const atMs = startMs + index * 200;
    const timestamp = new Date(atMs).toISOString();
    const text = Array.from(
      { length: 110 + Math.floor(random() * 60) },
      () => words[Math.floor(random() * words.length)],
    ).join(" ");
    const common = { id: `entry-${index}`, parentId, timestamp };
    const content = [{ type: "text", text }];
    lines.push(
      JSON.stringify(
        index === 0
          ? {
              type: "api_connection",
              ...common,
              connectionId: "connection-1",
              provider: "bench",
              endpoint: "wss://bench.invalid",
              requestedModel: "none",
              api: "realtime",
              originId: "origin-1",
            }
          : index % 5 === 4
            ? {
                type: "realtime_event",
                ...common,
                connectionId: "connection-1",
                direction: "incoming",
                observation: "received",
                observedAt: timestamp,
                sequence: index,
                payload: { type: "response.output_audio_transcript.delta", delta: text },
              }
            : {
                type: "message",
                ...common,
                message: { role: index % 2 === 0 ? "assistant" : "user", timestamp: atMs, content },
              },
      ),
    );
    parentId = `entry-${index}`;
  }
  return `${lines.join("\n")}\n`;
}

/** The same sessions in the shape that Pi reads: one file each, with its header. */
export function corpusForPi(root: string): string {
  const folder = `${root}-pi`;
  if (existsSync(path.join(folder, ".complete"))) return folder;
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(root)) {
    if (name.startsWith(".")) continue;
    const [first = "", ...rest] = readFileSync(path.join(root, name, "session.jsonl"), "utf8").split("\n");
    const header = first.replace('"version":1', '"version":3').replace(/\}$/, ',"cwd":"/tmp"}');
    writeFileSync(path.join(folder, `${name}.jsonl`), [header, ...rest].join("\n"));
  }
  writeFileSync(path.join(folder, ".complete"), "");
  return folder;
}

/** The logs of a root, as a shell's glob would give them. */
export function logsOf(root: string): string[] {
  return readdirSync(root)
    .filter((name) => !name.startsWith("."))
    .map((name) => path.join(root, name, "session.jsonl"));
}
