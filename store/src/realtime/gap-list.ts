import { type Gap } from "../format/schema";
import { type OrderGap } from "./actions";
import { type AudioRange } from "./audio-clock";
import { scalarText } from "./fields";
import { MAX_NAMED_GAP_BYTES, MAX_NAMED_GAPS } from "./limits";

const MAX_ID_LENGTH = 256;

/** Everything that a recording lacks, as its end names it; the named ones are bounded so that they fit its record. */
export class GapList {
  #gaps: Gap[] = [];
  #bytes = 0;
  #further = 0;

  get gaps(): Gap[] {
    if (this.#further === 0) return [...this.#gaps];
    return [...this.#gaps, { reason: "further_gaps", count: this.#further }];
  }

  add(gap: Gap): void {
    const bytes = Buffer.byteLength(JSON.stringify(gap));
    if (this.#gaps.length >= MAX_NAMED_GAPS || this.#bytes + bytes > MAX_NAMED_GAP_BYTES) {
      this.#further += 1;
      return;
    }
    this.#bytes += bytes;
    this.#gaps.push(gap);
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
