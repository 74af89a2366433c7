import { backoff } from '../table/backoff.ts';
import { isThrottled } from '../table/failures.ts';

/** An import has time, and leaves the table's units to calls. */
const UNHURRIED = { firstMs: 50, longestMs: 5_000 };

/** Repeats an act while DynamoDB throttles it, or it has no result. */
export async function untilNotThrottled<Result>(
  act: () => Promise<Result | undefined>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      const result = await act();
      if (result !== undefined) return result;
    } catch (error) {
      if (!isThrottled(error)) throw error;
    }
    await backoff(attempt, UNHURRIED, signal);
  }
}
