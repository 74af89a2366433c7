import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';

/** Turns of the event loop that code without network calls may take after its timer. */
const TURNS = 20;

/**
 * The result of `work`; fails when a timer of `ms` ends first. Timers of one process fire in order however busy the machine is, so work
 * that a shorter timer ends, and that needs no network afterwards, is never late by chance.
 */
export async function within<Result>(ms: number, work: () => Promise<Result>): Promise<Result> {
  const end = new AbortController();
  const late = sleep(ms, undefined, { signal: end.signal }).then(async () => {
    // On a busy machine both timers may fire in one turn: what the earlier one leads to is done first.
    for (let turns = 0; turns < TURNS; turns += 1) await turn();
    throw new Error(`it took over ${ms} ms`);
  });
  late.catch(() => undefined);
  return Promise.race([work(), late]).finally(() => end.abort());
}
