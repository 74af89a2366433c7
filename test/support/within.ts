import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';

/** Turns of the event loop that code without network calls may take after its timer. */
const TURNS = 20;

/**
 * The result of `work`; fails when a timer of `ms` ends first. Timers of one process fire in order however busy the machine is. So work that
 * a shorter timer ends is never late by chance, provided that it needs no network afterwards.
 */
export async function within<Result>(ms: number, work: () => Promise<Result>): Promise<Result> {
  const stopTimer = new AbortController();
  const timeOut = sleep(ms, undefined, { signal: stopTimer.signal }).then(async () => {
    // On a busy machine both timers may fire in one turn: this lets the work complete that the earlier timer has ended.
    for (let turns = 0; turns < TURNS; turns += 1) await turn();
    throw new Error(`it took over ${ms} ms`);
  });
  timeOut.catch(() => undefined);
  return Promise.race([work(), timeOut]).finally(() => stopTimer.abort());
}
