/** Timers, and rounds in which tasks take turns, so that other load on the machine affects all tasks alike. */

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
