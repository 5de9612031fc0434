import { type ConnectionTiming, connectionTiming } from "./connection";

export interface TranscriberTiming extends ConnectionTiming {
  /** Waits between attempts that follow each other without a turn succeeding; their number is the bound. */
  retryMs: readonly number[];
  /** A connection this old is replaced at the next pause, before the server's own limit of an hour. */
  maxConnectionAgeMs: number;
  /** How long a replaced connection may take to answer what it was asked. */
  drainMs: number;
  /** How long a peer may take to answer the close of a connection that the recorder gives up. */
  closeMs: number;
  /** A turn this long is committed at the next frame without speech. */
  maxTurnMs: number;
}

export const transcriberTiming: TranscriberTiming = {
  ...connectionTiming,
  retryMs: [500, 1_000, 2_000, 4_000, 8_000],
  maxConnectionAgeMs: 55 * 60_000,
  drainMs: 10_000,
  closeMs: 1_000,
  maxTurnMs: 45_000,
};
