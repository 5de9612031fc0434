/** Bodies of entries kept after they were read back, for callers that project the same session again and again. */
import { type Entry } from "../format/schema";
import { type OpenFile } from "../platform/fs";
import { type EntryIndex } from "./entry-index";
import { readEntries } from "./read-entries";

/**
 * Keeps the entries that are read first, up to `maxBytes` of their records; what finds no room is read back each time,
 * so that a pass over a session larger than the cache still finds its beginning. Records never change, so nothing is
 * ever stale. What is kept is handed out to every caller and therefore frozen.
 */
export class BodyCache {
  /** By position. */
  readonly #entries = new Map<number, Entry>();
  #freeBytes: number;

  constructor(maxBytes: number) {
    this.#freeBytes = maxBytes;
  }

  /** As `readEntries`. */
  async read(file: OpenFile, index: EntryIndex, positions: ArrayLike<number>, signal?: AbortSignal): Promise<Entry[]> {
    // Taken at once: another read may fill the cache while this one waits for the file.
    const known: (Entry | undefined)[] = [];
    const missing: number[] = [];
    for (let at = 0; at < positions.length; at += 1) {
      const position = positions[at] ?? -1;
      const entry = this.#entries.get(position);
      known.push(entry);
      if (entry === undefined) missing.push(position);
    }
    const read = missing.length === 0 ? [] : await readEntries(file, index, missing, signal);
    for (const [at, entry] of read.entries()) this.#keep(index, missing[at] ?? -1, entry);
    let next = 0;
    const entries: Entry[] = [];
    for (const kept of known) {
      const entry = kept ?? read[next++];
      if (entry !== undefined) entries.push(entry);
    }
    return entries;
  }

  #keep(index: EntryIndex, position: number, entry: Entry): void {
    const bytes = index.lengthOf(position);
    if (bytes > this.#freeBytes || this.#entries.has(position)) return;
    this.#freeBytes -= bytes;
    this.#entries.set(position, deepFreeze(entry));
  }
}

/** Freezes plain data: no cycles, at most as deep as a record may be. */
function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value)) {
    if (typeof member === "object" && member !== null) deepFreeze(member as object);
  }
  return Object.freeze(value);
}
