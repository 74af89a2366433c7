import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';

/** Enough for what an event of this process leads to here. */
const TURNS = 20;

/**
 * What `work` leads to, if it does so before a timer of so many milliseconds. Of two timers of one process the earlier one is first,
 * however busy the machine is: what a deadline in this process ends, and then needs no network, is never late by chance.
 */
export async function within<Result>(ms: number, work: () => Promise<Result>): Promise<Result> {
  const end = new AbortController();
  const late = sleep(ms, undefined, { signal: end.signal }).then(async () => {
    // On a busy machine both timers may be over before either is looked at: the deadline's work is done first.
    for (let turns = 0; turns < TURNS; turns += 1) await turn();
    throw new Error(`it took over ${ms} ms`);
  });
  late.catch(() => undefined);
  return Promise.race([work(), late]).finally(() => end.abort());
}
