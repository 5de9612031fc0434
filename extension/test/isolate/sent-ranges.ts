import { readEntries } from "../host/bench";

export interface SentRange {
  start: number;
  end: number;
}

/** Which bytes of the recording's WAV were sent, in the order of the session's evidence. */
export async function sentRanges(location: string): Promise<SentRange[]> {
  const ranges: SentRange[] = [];
  for (const entry of await readEntries(location)) {
    if (entry.type !== "realtime_event" || entry.observation !== "send_attempt") continue;
    for (const { asset } of entry.media ?? []) {
      if (asset.status !== "available" || asset.byteRange === undefined) throw new Error("A piece has no range.");
      ranges.push({ start: asset.byteRange.start, end: asset.byteRange.end });
    }
  }
  return ranges;
}
