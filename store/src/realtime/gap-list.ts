import { type Gap } from "../format/schema";
import { type OrderGap } from "./actions";
import { type AudioRange } from "./audio-clock";
import { scalarText } from "./fields";
import { MAX_NAMED_GAPS } from "./limits";

const MAX_ID_LENGTH = 256;

/** Everything that a recording lacks, as its end names it; the number of named ones is bounded. */
export class GapList {
  #gaps: Gap[] = [];
  #further = 0;

  get gaps(): Gap[] {
    if (this.#further === 0) return [...this.#gaps];
    return [...this.#gaps, { reason: "further_gaps", count: this.#further }];
  }

  get count(): number {
    return this.#gaps.length + this.#further;
  }

  add(gap: Gap): void {
    if (this.#gaps.length < MAX_NAMED_GAPS) this.#gaps.push(gap);
    else this.#further += 1;
  }

  addOrderGap(gap: OrderGap, range: AudioRange | undefined): void {
    const { connectionId, itemId, responseId, reason } = gap;
    this.add({
      reason,
      ...range,
      connectionId,
      ...(itemId === undefined ? {} : { itemId: bounded(itemId) }),
      ...(responseId === undefined ? {} : { responseId: bounded(responseId) }),
    });
  }
}

/** Ids are the provider's words: they must fit a record. */
function bounded(id: string): string {
  return scalarText(id.slice(0, MAX_ID_LENGTH));
}
