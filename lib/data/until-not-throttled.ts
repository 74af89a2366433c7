import { backoff } from '../table/backoff.ts';
import { isThrottled } from '../table/failures.ts';

/** An import has time, and leaves the table's units to calls. */
const UNHURRIED = { firstMs: 50, longestMs: 5_000 };

/** Repeats an act while DynamoDB throttles it, or it is not done. */
export async function untilNotThrottled(act: () => Promise<boolean>, signal: AbortSignal | undefined): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      if (await act()) return;
    } catch (error) {
      if (!isThrottled(error)) throw error;
    }
    await backoff(attempt, UNHURRIED, signal);
  }
}
