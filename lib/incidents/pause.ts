import { setTimeout as sleep } from 'node:timers/promises';

/** Waits before a next attempt after losing to another merge: longer with each attempt, and never two alike. */
export async function pause(attempt: number, signal?: AbortSignal): Promise<void> {
  const longestMs = Math.min(200, 10 * 2 ** attempt);
  await sleep(longestMs * (0.25 + 0.75 * Math.random()), undefined, signal ? { signal } : {});
}
