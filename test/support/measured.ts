import { setTimeout as sleep } from 'node:timers/promises';

/**
 * For tests in which DynamoDB Local, a gateway or another process must answer within production's time limits: a busy machine may be
 * late once, but not three times in a row. What is wrong with the code makes all three fail. Where only a deadline of this process
 * is tested, `within` cannot be late.
 */
export const ON_TIME = { retry: 2 };

/**
 * What `work` leads to, if it does so before a timer of so many milliseconds. Of two timers of one process the earlier one is first,
 * however busy the machine is: what a deadline in this process ends, and then needs no network, is never late by chance.
 */
export async function within<Result>(ms: number, work: () => Promise<Result>): Promise<Result> {
  const end = new AbortController();
  const late = sleep(ms, undefined, { signal: end.signal }).then(() => {
    throw new Error(`it took over ${ms} ms`);
  });
  late.catch(() => undefined);
  return Promise.race([work(), late]).finally(() => end.abort());
}

const TICK_MS = 20;
const LATE_MS = 4;

/** Counts the milliseconds for which this process had no processor: other tests run beside. */
function watchStalls(): () => number {
  let stalledMs = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    if (nowMs - last > TICK_MS + LATE_MS) stalledMs += nowMs - last - TICK_MS;
    last = nowMs;
  }, TICK_MS);
  return () => {
    clearInterval(timer);
    return stalledMs;
  };
}

/** @returns what `work` does, and how long it took, without the time in which a busy machine gave this process no processor */
export async function measured<Result>(work: () => Promise<Result>): Promise<{ result: Result; tookMs: number }> {
  const began = performance.now();
  const stalledMs = watchStalls();
  try {
    const result = await work();
    return { result, tookMs: performance.now() - began - stalledMs() };
  } finally {
    stalledMs();
  }
}
