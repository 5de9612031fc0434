import { type Candidate, type Revision, sameRevision } from "../discover";
import { type SearchableSession } from "./searchable";

/** Text kept from sessions that matched, in UTF-16 code units: at most 64 MB. */
const MAX_TEXT_UNITS = 32 * 1024 * 1024;
/** Needles remembered as not found, for each session. */
const MAX_MISSES = 16;

interface Memory {
  revision: Revision;
  /** Folded needles that this revision does not hold; nothing that contains one of them is in it either. */
  misses: string[];
  text: SearchableSession | null;
}

/**
 * What one library remembers from search to search, so that the next letter typed does not read everything again. It is
 * keyed by the place and state of each log, bounded, in memory only, and never needed for a right answer.
 */
export class WarmMemory {
  readonly #sessions = new Map<string, Memory>();
  #textUnits = 0;
  readonly #maxTextUnits: number;

  constructor(maxTextUnits = MAX_TEXT_UNITS) {
    this.#maxTextUnits = maxTextUnits;
  }

  /** True when the session, as it is, is known not to hold the needle. */
  lacks(candidate: Candidate, foldedNeedle: string): boolean {
    const memory = this.#recall(candidate);
    return memory !== undefined && memory.misses.some((miss) => foldedNeedle.includes(miss));
  }

  /** The text of the session as it is, when it was kept. */
  text(candidate: Candidate): SearchableSession | null {
    const memory = this.#recall(candidate);
    if (memory === undefined || memory.text === null) return null;
    // The map's order is the order of last use.
    this.#sessions.delete(candidate.location);
    this.#sessions.set(candidate.location, memory);
    return memory.text;
  }

  /** Remembers that the session does not hold the needle. */
  rememberMiss(candidate: Candidate, foldedNeedle: string): void {
    const { misses } = this.#make(candidate);
    misses.push(foldedNeedle);
    if (misses.length > MAX_MISSES) misses.shift();
  }

  /** Keeps the text of a session, letting go of what was used longest ago. */
  rememberText(candidate: Candidate, text: SearchableSession): void {
    if (text.size === null || text.size > this.#maxTextUnits / 8) return;
    const memory = this.#make(candidate);
    this.#drop(memory);
    memory.text = text;
    this.#textUnits += text.size;
    if (this.#textUnits <= this.#maxTextUnits) return;
    for (const other of this.#sessions.values()) {
      if (other !== memory) this.#drop(other);
      if (this.#textUnits <= this.#maxTextUnits) return;
    }
  }

  #recall(candidate: Candidate): Memory | undefined {
    const memory = this.#sessions.get(candidate.location);
    return memory !== undefined && sameRevision(memory.revision, candidate.revision) ? memory : undefined;
  }

  #make(candidate: Candidate): Memory {
    const known = this.#recall(candidate);
    if (known !== undefined) return known;
    const old = this.#sessions.get(candidate.location);
    if (old !== undefined) this.#drop(old);
    const made: Memory = { revision: candidate.revision, misses: [], text: null };
    this.#sessions.delete(candidate.location);
    this.#sessions.set(candidate.location, made);
    return made;
  }

  #drop(memory: Memory): void {
    this.#textUnits -= memory.text?.size ?? 0;
    memory.text = null;
  }
}
