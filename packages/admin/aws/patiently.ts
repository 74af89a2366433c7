import { backoff, isThrottled } from '../../../lib/shared/concurrency.ts';

/** Long waits, since callers of the API need the table's capacity first. */
export const BACKOFF = { baseMs: 50, maxMs: 5_000 };

/** Does work again and again while DynamoDB throttles it. */
export async function patiently<Result>(work: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!isThrottled(error)) throw error;
    }
    await backoff(attempt, BACKOFF, signal);
  }
}
