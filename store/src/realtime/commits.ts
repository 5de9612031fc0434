/** The client's commits of the input buffer that the provider has not answered. */
export class Commits {
  #pending: { eventId: string | undefined; ordinal: number }[] = [];
  #count = 0;
  /** Commits that a server acknowledged without naming the item; the next announced item is theirs. */
  #nameless: (number | undefined)[] = [];
  /** Items that no commit had named when they were heard of: what a server commits next may be theirs. */
  #early = 0;

  get isWaiting(): boolean {
    return this.#pending.length > 0;
  }

  /** Turns that a server committed without naming them and of which nothing was heard since. */
  get unheard(): number {
    return this.#nameless.length;
  }

  sent(eventId: string | undefined): void {
    this.#pending.push({ eventId, ordinal: this.#count });
    this.#count += 1;
  }

  /** A commit that never left keeps its number, so that the later ones keep theirs. */
  unsent(): void {
    this.#count += 1;
  }

  /** The provider committed, asked to or not. Gives the number of the commit that it answers. */
  acknowledged(namesItem: boolean): number | undefined {
    const ordinal = this.#pending.shift()?.ordinal;
    if (this.#early > 0) this.#early -= 1;
    else if (!namesItem) this.#nameless.push(ordinal);
    return ordinal;
  }

  /** An item that no commit has named was heard of: it is of the oldest nameless commit, or of one that is still to come. */
  heard(): number | undefined {
    if (this.#nameless.length === 0) this.#early += 1;
    return this.#nameless.shift();
  }

  /** An error: it refuses the commit whose event it names, or the oldest when only its code says that it is one. */
  reject(eventId: string | undefined, code: string | undefined): void {
    const isEmpty = code === "input_audio_buffer_commit_empty";
    const index = this.#pending.findIndex((commit) => (eventId === undefined ? isEmpty : commit.eventId === eventId));
    if (index !== -1) this.#pending.splice(index, 1);
  }

  abandon(): void {
    this.#pending = [];
    this.#nameless = [];
  }
}
