import { setTimeout as sleep } from 'node:timers/promises';
import { isThrottled } from '../table/failures.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/** Retries while DynamoDB throttles, with a growing pause. */
export async function untilNotThrottled(act: () => Promise<boolean>, signal: AbortSignal | undefined): Promise<void> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    signal?.throwIfAborted();
    try {
      if (await act()) return;
    } catch (error) {
      if (!isThrottled(error)) throw error;
    }
    await sleep(pause * (0.5 + Math.random() / 2), undefined, signal ? { signal } : {});
  }
}
