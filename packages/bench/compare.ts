import { Bench } from 'tinybench';

export type Task = () => unknown;

/** Milliseconds of wall-clock time, or of CPU time, the collector's included. */
const wallClock = () => performance.now();
export const cpuClock = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

export interface Turns {
  /** How often the tasks take turns. */
  rounds: number;
  /** Calls of a task in one turn. */
  calls: number;
  clock?: () => number;
}

/** How long a call of a task takes, in milliseconds. */
export interface Timing {
  p50: number;
  p99: number;
}

const quantile = (sorted: readonly number[], fraction: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))] as number;

/** Runs tasks alternately, so that other load on the machine affects all of them; gives the median and 99th percentile of each. */
export async function takeTurns<Name extends string>(
  tasks: Record<Name, Task>,
  { rounds, calls, clock = wallClock }: Turns,
): Promise<Record<Name, Timing>> {
  const names = Object.keys(tasks) as Name[];
  const samples = new Map<Name, number[]>(names.map((name) => [name, []]));
  // Otherwise tinybench would begin each turn with a call that it does not await.
  const isAsync = new Map<Name, boolean>();
  for (const name of names) {
    const first = tasks[name]();
    isAsync.set(name, first instanceof Promise);
    await first;
  }
  for (let round = -1; round < rounds; round += 1) {
    const bench = new Bench({ iterations: calls, time: 0, warmup: false, now: clock, retainSamples: true });
    // Each round begins with another task.
    const order = names.map((_name, index) => names[(index + Math.max(0, round)) % names.length] as Name);
    for (const name of order) bench.add(name, tasks[name] as () => void, { async: isAsync.get(name) ?? false });
    await bench.run();
    for (const { name, result } of bench.tasks) {
      if (result.state !== 'completed')
        throw new Error(`${name} ${result.state}`, 'error' in result ? { cause: result.error } : {});
      // The first round warms up.
      if (round >= 0) samples.get(name as Name)?.push(...(result.latency.samples ?? []));
    }
  }
  return Object.fromEntries(
    names.map((name) => {
      const sorted = (samples.get(name) as number[]).sort((one, other) => one - other);
      return [name, { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) }];
    }),
  ) as Record<Name, Timing>;
}
