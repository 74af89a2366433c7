/** Limits the read units of an account's merges. */

import type { Deps } from '../../deps.ts';
import { refusal } from '../../http/errors.ts';
import { type RateLimiter, retryAfter } from '../../http/rate-limit.ts';
import type { Int64 } from '../../shared/json.ts';
import { mergeAlerts } from './schema.ts';

/** An average of 2,000 a second leaves to other calls most of the 12,000 a second that a new table has. */
export const READ_LIMIT = {
  name: mergeAlerts.name,
  rateWindows: [
    { name: 'burst', limit: 12_000, seconds: 3 },
    { name: 'minute', limit: 120_000, seconds: 60 },
  ],
  remembers: 'latest',
} as const;

/**
 * The most read units, of 4 KB, of a small merge; so few are not limited. A transaction costs two write units per KB, and a partition has 1,000
 * a second. Far below the 4 MB of a transaction.
 */
export const FREE_UNITS = 125;

export interface ReadBudget {
  limiter: Pick<RateLimiter, 'take'>;
  now: Deps['now'];
}

/**
 * Counts what one merge reads against the budget of its account.
 * @returns a function that gets the units that the merge reads in all. It counts those that it has not counted, unless they are so few that
 *   they are free, and throws an ApiError when the budget is used up
 */
export function createUnitCounter({ limiter, now }: ReadBudget, account: Int64, signal: AbortSignal | undefined) {
  let counted = 0;
  return async function countUnits(units: number): Promise<void> {
    const amount = units - counted;
    if (amount <= FREE_UNITS) return;
    const { refusedBy } = await limiter.take(account, signal, amount);
    counted = units;
    if (!refusedBy) return;
    const { limit, seconds: windowSeconds } = refusedBy.window;
    throw refusal('mergesReadTooMuch', { limit, windowSeconds }, retryAfter(refusedBy, now()));
  };
}
