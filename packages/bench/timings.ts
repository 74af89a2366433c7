/** Timers, and rounds in which tasks take turns, so that other load on the machine affects all tasks alike. */
import { createHistogram } from 'node:perf_hooks';

/** Runs the tasks one after another for a number of rounds, in every other round in reverse order. */
export async function inTurns(rounds: number, tasks: readonly (() => unknown)[]): Promise<void> {
  for (let round = 0; round < rounds; round += 1)
    for (const task of round % 2 === 0 ? tasks : tasks.toReversed()) await task();
}

/** @returns a function that gives the milliseconds elapsed since this call: wall-clock time, and CPU time of this process */
export function startTimer() {
  const [began, before] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(before);
    return { tookMs: performance.now() - began, cpuMs: (user + system) / 1_000 };
  };
}

/** Collects durations in milliseconds, of wall-clock time and of CPU time. */
export function createTimes() {
  const [took, cpu] = [createHistogram(), createHistogram()];
  // Histograms have whole numbers from 1, here of microseconds.
  const toMicroseconds = (ms: number) => Math.max(1, Math.round(ms * 1_000));
  return {
    add(tookMs: number, cpuMs = 0): void {
      took.record(toMicroseconds(tookMs));
      cpu.record(toMicroseconds(cpuMs));
    },
    /** Adds how long an action takes, and how much CPU time this process uses meanwhile. */
    async time<Result>(action: () => Promise<Result>): Promise<Result> {
      const elapsed = startTimer();
      const result = await action();
      const { tookMs, cpuMs } = elapsed();
      this.add(tookMs, cpuMs);
      return result;
    },
    percentile: (percent: number) => took.percentile(percent) / 1_000,
    meanCpu: () => cpu.mean / 1_000,
  };
}
