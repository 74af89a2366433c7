import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** After a conflict: the other writer is done within milliseconds. */
export const CONFLICT: Backoff = { firstMs: 10, longestMs: 200 };
/** After a conflict on a row that all of an account's merges write: one that waits longer than others is overtaken by them. */
export const CONTENDED: Backoff = { firstMs: 10, longestMs: 80 };
/** After being throttled: a partition's units come back within a second. */
export const THROTTLED: Backoff = { firstMs: 25, longestMs: 400 };

/**
 * Waits before the next attempt: capped exponential backoff with full jitter.
 * @param attempt the number of attempts so far, from 1
 * @throws AbortError when the signal ends it
 */
export async function backoff(
  attempt: number,
  { firstMs, longestMs }: Backoff = CONFLICT,
  signal?: AbortSignal,
): Promise<void> {
  const boundMs = Math.min(longestMs, firstMs * 2 ** Math.min(attempt, 20));
  await sleep(boundMs * Math.random(), undefined, signal ? { signal } : {});
}
