/** Reading bodies of committed entries back, by their place in the index. */
import { StoreError } from "../errors";
import { reparseEntry } from "../format/codec";
import { type Entry } from "../format/schema";
import { type OpenFile } from "../platform/fs";
import { readFully } from "../platform/whole-file";
import { type EntryIndex } from "./entry-index";

const LINE_FEED = 0x0a;
/** One read covers neighbours up to this size. */
const MAX_READ_BYTES = 4 * 1_048_576;
/** Reading over what is not wanted is cheaper than another read, up to this distance. */
const MAX_SKIPPED_BYTES = 64 * 1024;

/**
 * The entries at the given positions, which ascend. Records were validated when the log was scanned; one that is not in
 * its place any more is `log-replaced`.
 */
export async function readEntries(
  file: OpenFile,
  index: EntryIndex,
  positions: ArrayLike<number>,
  signal?: AbortSignal,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  let from = 0;
  while (from < positions.length) {
    signal?.throwIfAborted();
    const to = groupEnd(index, positions, from);
    await readGroup(file, index, positions, from, to, entries);
    from = to;
  }
  return entries;
}

/** Where the group of neighbours ends that begins at `from`. */
function groupEnd(index: EntryIndex, positions: ArrayLike<number>, from: number): number {
  const start = index.offsetOf(positions[from] ?? 0);
  let end = endOf(index, positions[from] ?? 0);
  let to = from + 1;
  for (; to < positions.length; to += 1) {
    const position = positions[to] ?? 0;
    const next = endOf(index, position);
    if (next - start > MAX_READ_BYTES || index.offsetOf(position) - end > MAX_SKIPPED_BYTES) break;
    end = next;
  }
  return to;
}

function endOf(index: EntryIndex, position: number): number {
  return index.offsetOf(position) + index.lengthOf(position) + 1;
}

async function readGroup(
  file: OpenFile,
  index: EntryIndex,
  positions: ArrayLike<number>,
  from: number,
  to: number,
  entries: Entry[],
): Promise<void> {
  const start = index.offsetOf(positions[from] ?? 0);
  const bytes = await readFully(file, start, endOf(index, positions[to - 1] ?? 0) - start);
  for (let at = from; at < to; at += 1) {
    const position = positions[at] ?? 0;
    const offset = index.offsetOf(position) - start;
    const end = offset + index.lengthOf(position);
    const entry =
      bytes[end] === LINE_FEED
        ? reparseEntry(bytes, offset, end, index.typeOf(position), index.idOf(position))
        : undefined;
    if (entry === undefined) throw new StoreError("log-replaced", { offset: start + offset });
    entries.push(entry);
  }
}
