import { type Entry, type EntryInput } from "../format/schema";

/** What a continuation needs of its session. */
export interface Appendable {
  append(
    entries: readonly EntryInput[],
    options: { parentId: string | null; signal?: AbortSignal },
  ): Promise<{ committed: Entry[]; leaf: string | null }>;
}

/**
 * One writer's place in a session (Session file format, Branches and context). Its leaf moves only after its own
 * acknowledged append; what others append never moves it. Calls are taken one after the other.
 */
export class Continuation {
  readonly #session: Appendable;
  #leaf: string | null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(session: Appendable, leaf: string | null) {
    this.#session = session;
    this.#leaf = leaf;
  }

  get leaf(): string | null {
    return this.#leaf;
  }

  /**
   * Appends after the leaf; each entry that names no parent follows the one before it. After a failure the leaf is
   * where it was: the same ids and content may be sent again.
   */
  append(inputs: readonly EntryInput[], options: { signal?: AbortSignal } = {}): Promise<Entry[]> {
    const run = async (): Promise<Entry[]> => {
      const { committed } = await this.#session.append(inputs, { ...options, parentId: this.#leaf });
      const last = committed.at(-1);
      if (last !== undefined) this.#leaf = last.id;
      return committed;
    };
    const result = this.#last.then(run, run);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
