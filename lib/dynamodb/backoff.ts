import { setTimeout as sleep } from 'node:timers/promises';

/** Bounds of the wait before a retry, in milliseconds. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** After a conflict: the other writer is done within milliseconds. */
export const CONFLICT: Backoff = { firstMs: 10, longestMs: 200 };
/**
 * After a conflict on the merge order, which all merges of an account write: short, since a caller that waits long keeps losing to others.
 */
export const CONTENDED: Backoff = { firstMs: 10, longestMs: 80 };
/** After throttling: the capacity of a partition is replenished every second. */
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
