/** A source of wall-clock time, injected wherever time is read so that tests run in virtual time. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** The envelope timestamp that writers emit: ISO 8601 with milliseconds in UTC (Session file format, Version 1 contract). */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
