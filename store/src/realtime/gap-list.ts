import { type Gap } from "../format/schema";
import { type OrderGap } from "./actions";
import { type AudioRange } from "./audio-clock";
import { scalarText } from "./fields";
import { MAX_NAMED_GAP_BYTES, MAX_NAMED_GAPS } from "./limits";

const MAX_ID_LENGTH = 256;

interface NamedGap {
  readonly gap: Gap;
  readonly bytes: number;
  readonly lostConnection: string | undefined;
}

/** Everything that a recording lacks, as its end names it; the named ones are bounded so that they fit its record. */
export class GapList {
  #gaps: NamedGap[] = [];
  #bytes = 0;
  /** How many are not named, by the lost connection that they came of, or none. */
  readonly #further = new Map<string | undefined, number>();

  get gaps(): Gap[] {
    const named = this.#gaps.map(({ gap }) => gap);
    const count = [...this.#further.values()].reduce((sum, further) => sum + further, 0);
    return count === 0 ? named : [...named, { reason: "further_gaps", count }];
  }

  add(gap: Gap, lostConnection?: string): void {
    const bytes = Buffer.byteLength(JSON.stringify(gap));
    if (this.#gaps.length >= MAX_NAMED_GAPS || this.#bytes + bytes > MAX_NAMED_GAP_BYTES) {
      this.#further.set(lostConnection, (this.#further.get(lostConnection) ?? 0) + 1);
      return;
    }
    this.#bytes += bytes;
    this.#gaps.push({ gap, bytes, lostConnection });
  }

  /** Takes back what a lost connection left open. */
  dropLoss(connectionId: string): void {
    this.#further.delete(connectionId);
    this.#gaps = this.#gaps.filter(({ lostConnection }) => lostConnection !== connectionId);
    this.#bytes = this.#gaps.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  addOrderGap(gap: OrderGap, range: AudioRange | undefined, isOfLoss: boolean): void {
    const { connectionId, itemId, responseId, reason } = gap;
    const named = {
      reason,
      ...range,
      connectionId,
      ...(itemId === undefined ? {} : { itemId: bounded(itemId) }),
      ...(responseId === undefined ? {} : { responseId: bounded(responseId) }),
    };
    this.add(named, isOfLoss ? connectionId : undefined);
  }
}

/** Ids are the provider's words: they must fit a record. */
function bounded(id: string): string {
  return scalarText(id.slice(0, MAX_ID_LENGTH));
}
