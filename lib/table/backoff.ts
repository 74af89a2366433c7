import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds. */
export interface Backoff {
  /** Half of the upper bound of the first wait; the bound doubles with each attempt. */
  readonly baseMs: number;
  /** The bound never exceeds this. */
  readonly maxMs: number;
}

/** After a conflict: the other writer is done within milliseconds. */
export const CONFLICT: Backoff = { baseMs: 10, maxMs: 200 };
/**
 * After a conflict on the merge order, which all merges of an account write: short, since a caller that waits long keeps losing to others.
 */
export const MERGE_ORDER_CONFLICT: Backoff = { baseMs: 10, maxMs: 80 };
/** After throttling: the capacity of a partition is replenished every second. */
export const THROTTLING: Backoff = { baseMs: 25, maxMs: 400 };

/**
 * Waits before the next attempt: capped exponential backoff with full jitter.
 * @param attempt the number of attempts so far, from 1
 * @throws AbortError when the signal ends it
 */
export async function backoff(
  attempt: number,
  { baseMs, maxMs }: Backoff = CONFLICT,
  signal?: AbortSignal,
): Promise<void> {
  const boundMs = Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 20));
  await sleep(boundMs * Math.random(), undefined, signal ? { signal } : {});
}
