/** One line of the table that `npm run bench` prints. */
export interface BenchRow {
  /** The work, in a few words, with its size. */
  what: string;
  /** Our figure with its unit, wall time first, CPU time beside it where it says more: `412 ms (398 ms CPU)`. */
  ours: string;
  /** What it is held against: `write + fsync on an open handle`, `ripgrep, one thread`, `Pi 0.85`. */
  against: string;
  /** The peer's or floor's figure, measured interleaved in the same run; `-` when the bar is an absolute one. */
  theirs: string;
  /** Ours divided by theirs (or what the bar compares), `-` when the bar is absolute. */
  ratio: string;
  /** The bar in words: `≤ 0.5 ×`, `≥ 70 %`, `≤ 100 ms`. */
  bar: string;
  /** Whether the bar is met; null when it could not be judged (a peer that is not installed). */
  met: boolean | null;
  /** The reason when the bar is not met or not judged, or a size that a reader has to know. */
  note?: string;
}

/** A benchmark of one room: `store/bench/<name>.ts` exports `bench`, and `store/bench/index.ts` lists it. */
export type Bench = () => Promise<BenchRow[]>;
