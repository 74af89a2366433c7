/** Measures in turns, so that other load on the machine affects all sides. */
import { createHistogram } from 'node:perf_hooks';

/** Runs tasks a number of rounds, in every other round in reverse order. */
export async function inTurns(rounds: number, tasks: readonly (() => unknown)[]): Promise<void> {
  for (let round = 0; round < rounds; round += 1)
    for (const task of round % 2 === 0 ? tasks : tasks.toReversed()) await task();
}

/** @returns gives the milliseconds since, of wall-clock time and of CPU time of this process */
export function startTimer() {
  const [began, before] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(before);
    return { tookMs: performance.now() - began, cpuMs: (user + system) / 1_000 };
  };
}

/** Collects durations in milliseconds. */
export function createTimes() {
  const histogram = createHistogram(); // of whole microseconds
  return {
    add: (ms: number) => histogram.record(Math.max(1, Math.round(ms * 1_000))),
    /** Adds how long an action takes. */
    async time<Result>(act: () => Promise<Result>): Promise<Result> {
      const elapsed = startTimer();
      const result = await act();
      this.add(elapsed().tookMs);
      return result;
    },
    percentile: (percent: number) => histogram.percentile(percent) / 1_000,
    mean: () => histogram.mean / 1_000,
  };
}

export type Times = ReturnType<typeof createTimes>;
