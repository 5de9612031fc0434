/** Durable appends against their floor: write and sync on an open handle, same bytes, same disk, same run. */
import { closeSync, fsyncSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type EntryInput } from "../src/format/schema";
import { LayeredLock } from "../src/lock/session-lock";
import { createSession } from "../src/session/create";
import { type Session } from "../src/session/session";
import { defaultStoreContext } from "../src/session/store-context";
import { interleave, rate, rounds, timing } from "./measure";
import { type BenchRow } from "./row";

const SINGLE_APPENDS = 1_000;
const BATCHES = 48;
const BATCH_RECORDS = 256;
const SMALL_BATCH_BAR = 100_000;
/** The record is about 1 kB with what the store fills in. */
const TEXT = "The quick brown fox jumps over the lazy dog. ".repeat(17);

function message(index: number): EntryInput {
  const text = `${index} ${TEXT}`;
  return {
    type: "message",
    message: { role: "user", timestamp: 1_767_225_601_000, content: [{ type: "text", text }] },
  };
}

/** The bytes that one append writes, to give the floor the same. */
function recordOf(index: number): Buffer {
  const id = "00000000-0000-4000-8000-000000000000";
  return Buffer.from(
    `${JSON.stringify({ ...message(index), id, parentId: id, timestamp: "2026-01-01T00:00:00.000Z" })}\n`,
  );
}

/** Writes and syncs pieces one after the other, on the calling thread: nothing durable is faster. */
function floor(folder: string, pieces: readonly Buffer[]): void {
  const fd = openSync(join(folder, "floor"), "a");
  for (const piece of pieces) {
    writeSync(fd, piece);
    fsyncSync(fd);
  }
  closeSync(fd);
}

async function appendEach(session: Session, batches: readonly EntryInput[][]): Promise<void> {
  for (const batch of batches) await session.append(batch, { parentId: session.leaf });
}

export async function bench(): Promise<BenchRow[]> {
  // On the disk of the project and not in a memory file system, where a sync costs nothing.
  const cache = join(__dirname, "..", "..", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "bench-append-"));
  const context = defaultStoreContext({ lock: new LayeredLock({ directory: join(folder, "locks") }) });
  const session = await createSession(folder, context);
  try {
    const singles = Array.from({ length: SINGLE_APPENDS }, (_, index) => [message(index)]);
    const singleBytes = Array.from({ length: SINGLE_APPENDS }, (_, index) => recordOf(index));
    const one = await interleave(
      { ours: () => appendEach(session, singles), floor: () => floor(folder, singleBytes) },
      rounds(7),
    );
    const batch = Array.from({ length: BATCH_RECORDS }, (_, index) => message(index));
    const batchBytes = Buffer.concat(batch.map((_, index) => recordOf(index)));
    const batches = Array.from({ length: BATCHES }, () => batch);
    const many = await interleave(
      {
        ours: () => appendEach(session, batches),
        floor: () =>
          floor(
            folder,
            batches.map(() => batchBytes),
          ),
      },
      rounds(7),
    );
    const last = await growth(session);
    const batchRecords = BATCHES * BATCH_RECORDS;
    const batchRate = (batchRecords * 1_000) / many.ours.wallMs;
    const singleRatio = one.floor.wallMs / one.ours.wallMs;
    const batchRatio = many.floor.wallMs / many.ours.wallMs;
    return [
      {
        what: "durable append, 1 KB message, one by one",
        ours: `${rate(SINGLE_APPENDS, one.ours.wallMs)}, ${timing(one.ours)}`,
        against: "write + fsync on an open handle",
        theirs: rate(SINGLE_APPENDS, one.floor.wallMs),
        ratio: percent(singleRatio),
        bar: "≥ 70 %",
        met: singleRatio >= 0.7,
      },
      {
        what: "durable append, batches of 256",
        ours: `${rate(batchRecords, many.ours.wallMs)}, ${timing(many.ours)}`,
        against: "the same with 256-record writes, bytes ready made",
        theirs: rate(batchRecords, many.floor.wallMs),
        ratio: percent(batchRatio),
        bar: "≥ 60 %, ≥ 100,000/s",
        met: batchRatio >= 0.6 && batchRate >= SMALL_BATCH_BAR,
        note: "Ours checks and encodes every record; the floor is handed its bytes.",
      },
      {
        what: "one append to a log of 100 and of 100,000 entries",
        ours: `${last.large.toFixed(3)} ms`,
        against: "the same append to the short log",
        theirs: `${last.small.toFixed(3)} ms`,
        ratio: `${(last.large / last.small).toFixed(2)} ×`,
        bar: "≤ 1.5 ×",
        met: last.large <= 1.5 * last.small,
      },
    ];
  } finally {
    await session.close();
    rmSync(folder, { recursive: true, force: true });
  }

  /** The time of one append in a short log and in one of 100,000 entries. */
  async function growth(grown: Session): Promise<{ small: number; large: number }> {
    const short = await createSession(folder, context);
    await appendEach(short, [Array.from({ length: 100 }, (_, index) => message(index))]);
    const filler = Array.from({ length: BATCH_RECORDS }, (_, index) => message(index));
    while (grown.entryCount < 100_000) await appendEach(grown, [filler]);
    const few = Array.from({ length: 100 }, (_, index) => [message(index)]);
    const taken = await interleave(
      { small: () => appendEach(short, few), large: () => appendEach(grown, few) },
      rounds(7),
    );
    await short.close();
    return { small: taken.small.wallMs / few.length, large: taken.large.wallMs / few.length };
  }
}

function percent(ratio: number): string {
  return `${Math.round(ratio * 100)} %`;
}
