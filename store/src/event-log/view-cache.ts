import { type Revision } from "./log-file";
import { type LogView } from "./types";

/** The sessions that were looked at last, each for as long as its log is the same. */
export class ViewCache {
  readonly #capacity: number;
  readonly #views = new Map<string, { readonly revision: Revision; readonly view: LogView }>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(path: string, revision: Revision): LogView | undefined {
    const known = this.#views.get(path);
    if (known === undefined) return undefined;
    this.#views.delete(path);
    if (known.revision !== revision) return undefined;
    this.#views.set(path, known);
    return known.view;
  }

  put(path: string, revision: Revision, view: LogView): void {
    this.#views.delete(path);
    this.#views.set(path, { revision, view });
    for (const oldest of this.#views.keys()) {
      if (this.#views.size <= this.#capacity) break;
      this.#views.delete(oldest);
    }
  }
}
