import { performance } from "node:perf_hooks";

/** One timed run. CPU time is user plus system time of this process over all its threads. */
export interface Sample {
  wallMs: number;
  cpuMs: number;
}

/** Times one run of the work. */
export async function sample(work: () => unknown): Promise<Sample> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await work();
  const wallMs = performance.now() - start;
  const used = process.cpuUsage(cpu);
  return { wallMs, cpuMs: (used.user + used.system) / 1000 };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

/** Medians of wall and CPU time over several samples. */
export function medianSample(samples: readonly Sample[]): Sample {
  return { wallMs: median(samples.map((s) => s.wallMs)), cpuMs: median(samples.map((s) => s.cpuMs)) };
}

/**
 * Runs the named works in turn, round after round, so that a slow minute of the machine hits all of them, and gives
 * the median of each. A first round warms up and is not counted.
 */
export async function interleave<Name extends string>(
  works: Record<Name, () => unknown>,
  rounds: number,
): Promise<Record<Name, Sample>> {
  const names = Object.keys(works) as Name[];
  const samples = new Map<Name, Sample[]>(names.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of names) {
      globalThis.gc?.();
      const taken = await sample(works[name]);
      if (round > 0) samples.get(name)?.push(taken);
    }
  }
  return Object.fromEntries(names.map((name) => [name, medianSample(samples.get(name) ?? [])])) as Record<Name, Sample>;
}

/** `412 ms`, `1.84 s`, `0.22 ms`. */
export function ms(value: number): string {
  if (value >= 10_000) return `${(value / 1000).toFixed(1)} s`;
  if (value >= 1000) return `${(value / 1000).toFixed(2)} s`;
  if (value >= 10) return `${value.toFixed(0)} ms`;
  return `${value.toFixed(2)} ms`;
}

/** `412 ms (398 ms CPU)`. */
export function timing(value: Sample): string {
  return `${ms(value.wallMs)} (${ms(value.cpuMs)} CPU)`;
}

/** `0.42 ×`. */
export function times(ours: number, theirs: number): string {
  const ratio = ours / theirs;
  return `${ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(2)} ×`;
}

/** `123,400/s`. */
export function rate(count: number, wallMs: number): string {
  return `${Math.round((count * 1000) / wallMs).toLocaleString("en-US")}/s`;
}

/** Rounds of a measurement; `PERSYK_BENCH_ROUNDS` overrides it. */
export function rounds(normal: number): number {
  const asked = Number(process.env.PERSYK_BENCH_ROUNDS);
  return Number.isInteger(asked) && asked > 0 ? asked : normal;
}
