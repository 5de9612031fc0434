import { type Candidate, type Revision, sameRevision } from "../discover";

/** Needles remembered as not found, for each session. */
const MAX_MISSES = 16;

interface Memory {
  revision: Revision;
  /** Folded needles that this revision does not hold; nothing that contains one of them is in it either. */
  misses: string[];
}

/**
 * What one library remembers from search to search, so that the next letter typed does not read again what the letters
 * before it were not in. It is keyed by the place and state of each log, in memory only, bounded for each session, and
 * never needed for a right answer.
 */
export class WarmMemory {
  readonly #sessions = new Map<string, Memory>();

  /** True when the session, as it is, is known not to hold the needle. */
  lacks(candidate: Candidate, foldedNeedle: string): boolean {
    const memory = this.#recall(candidate);
    return memory !== undefined && memory.misses.some((miss) => foldedNeedle.includes(miss));
  }

  /** Remembers that the session does not hold the needle. */
  rememberMiss(candidate: Candidate, foldedNeedle: string): void {
    const known = this.#recall(candidate);
    if (known === undefined) {
      this.#sessions.set(candidate.location, { revision: candidate.revision, misses: [foldedNeedle] });
      return;
    }
    known.misses.push(foldedNeedle);
    if (known.misses.length > MAX_MISSES) known.misses.shift();
  }

  #recall(candidate: Candidate): Memory | undefined {
    const memory = this.#sessions.get(candidate.location);
    return memory !== undefined && sameRevision(memory.revision, candidate.revision) ? memory : undefined;
  }
}
