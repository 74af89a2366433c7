/** Limits the write units that the merges of an account take for the rows of their alerts. */

import type { Deps } from '../../deps.ts';
import { refusal } from '../../http/errors.ts';
import { type RateLimiter, retryAfter, type Verdict } from '../../http/rate-limit.ts';
import { backoff, isThrottled, THROTTLING } from '../../shared/concurrency.ts';
import type { Int64 } from '../../shared/json.ts';
import { rowBytes } from '../../table/row-size.ts';
import { mergeAlerts } from './schema.ts';

/** An average of 2,000 a second leaves to other calls half of the 4,000 a second that a new table has. */
export const WRITE_LIMIT = {
  name: mergeAlerts.name,
  rateWindows: [
    { name: 'burst', limit: 12_000, seconds: 3 },
    { name: 'minute', limit: 120_000, seconds: 60 },
  ],
  remembers: 'latest',
} as const;

/** Write units for each KB begun, since rows are written in transactions; so also the least that an alert takes. */
export const UNITS_PER_KB = 2;
/** What a merge adds to a row that lacks it. */
const ID = '0'.repeat(24);
const ADDED = { incident_id: ID, moved_from: ID, feed_incident: ID, moved_sequence: 1_234_567_890_123 };

/** Write units that a merge takes for an alert at most. @param row all its attributes, as read; empty: it does not exist */
export const writeUnitsOf = (row: object): number => UNITS_PER_KB * Math.ceil(rowBytes({ ...ADDED, ...row }) / 1_024);

export interface WriteBudget {
  limiter: Pick<RateLimiter, 'take'>;
  now: Deps['now'];
}

/**
 * Reserves what one merge writes from the budget of its account.
 * @returns a function that gets the write units of the merge in all, as far as they are known. It reserves those that it has not reserved, and
 *   throws an ApiError if the budget does not have them. What was reserved before stays counted
 */
export function createReservation({ limiter, now }: WriteBudget, account: Int64, signal: AbortSignal | undefined) {
  let reserved = 0;

  /** Like the merge's other calls, it is repeated while DynamoDB throttles. */
  async function take(amount: number, attempt = 1): Promise<Verdict> {
    try {
      return await limiter.take(account, signal, amount, reserved);
    } catch (error) {
      if (!isThrottled(error)) throw error;
      await backoff(attempt, THROTTLING, signal);
      return take(amount, attempt + 1);
    }
  }

  return async function reserve(units: number): Promise<void> {
    if (units <= reserved) return;
    const { refusedBy } = await take(units - reserved);
    if (refusedBy) {
      const { limit, seconds: windowSeconds } = refusedBy.window;
      throw refusal('mergesWriteTooMuch', { limit, windowSeconds }, retryAfter(refusedBy, now()));
    }
    reserved = units;
  };
}
