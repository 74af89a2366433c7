/** The exact limit of fleet browse. `schedules/rate-limit` counts calls of several functions, with faults. */
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it } from 'vitest';
import { createRateLimiter, rateLimitHeaders } from '../../../lib/http/rate-limit.ts';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import { keys } from '../../../lib/table/keys.ts';
import { itemBytes } from '../../limits-proxy/item-size.ts';
import { NOW, newDouble, remove, stored, testDeps } from '../../support/service.ts';

const ACCOUNT = 1;
const KEY = keys.rateCount(ACCOUNT, 'browse-fleet', NOW / 60_000);

/** The counts of an account, and a clock. */
function newCount() {
  const clock = { now: NOW };
  const table = newDouble();
  const limiter = createRateLimiter(browseFleet, testDeps(table, { now: () => clock.now }));
  return {
    ...{ clock, table, limiter },
    /** Counts a call. @returns the window that refuses it */
    take: async () => (await limiter.take(ACCOUNT)).refusedBy?.window.name,
  };
}

it('a refused call is refused from memory until its window ends, or the clock is set back to before it', async () => {
  const { clock, table, take } = newCount();
  expect([await take(), await take(), await take()]).toEqual([undefined, undefined, 'second']);
  await remove(table, KEY);
  clock.now += 999;
  expect(await take()).toBe('second');
  clock.now += 1;
  expect(await take()).toBeUndefined();
  await take();
  expect(await take()).toBe('second');
  clock.now -= 3_600_000;
  expect(await take()).toBeUndefined();
});

it('a window that has only what the same call has counted before is unused, whoever else was refused', async () => {
  const { limiter, take } = newCount();
  await limiter.take(ACCOUNT, undefined, 3);
  expect(await take()).toBe('second');
  const counted = async (amount: number, own: number) => (await limiter.take(ACCOUNT, undefined, amount, own)).windows;
  expect((await counted(30, 2)).map(({ remaining }) => remaining)).toEqual([0, 27]);
  expect((await counted(30, 3)).map(({ remaining }) => remaining)).toEqual([0, 0]);
});

it('the counts of a full minute are in a row below 1 KB, with the time at which it expires', async () => {
  const { clock, table, limiter, take } = newCount();
  for (let call = 0; call < 30; call += 1) {
    clock.now = NOW + 1_999 * call;
    expect(await take()).toBeUndefined();
  }
  expect(await take()).toBe('minute');
  clock.now += 1_000;
  // Refused from memory, in a second that is unused.
  expect((await limiter.take(ACCOUNT)).windows.map(({ remaining }) => remaining)).toEqual([2, 0]);
  const full = await stored(table, KEY);
  expect(full).toMatchObject({ total: 30, ttl: NOW / 1_000 + 60 + 2 * 3_600 });
  expect(itemBytes(marshall(full))).toBeLessThan(1_024);
});

it.each([
  // The window with the fewest calls left; with as many left, the one that ends later.
  [1, 29, '2', '1750000021'],
  [1, 1, '30', '1750000080'],
  [2, 1, '30', '1750000080'],
])(
  'with %i calls left in the second and %i in the minute, headers show the scarcest window',
  (second, minute, limit, reset) => {
    const windows = [
      { window: { name: 'second', limit: 2, seconds: 1 }, remaining: second, endsMs: 1_750_000_021_000 },
      { window: { name: 'minute', limit: 30, seconds: 60 }, remaining: minute, endsMs: 1_750_000_080_000 },
    ] as const;
    expect(rateLimitHeaders(windows, 1_750_000_020_250)).toEqual({
      'X-RateLimit-Limit': limit,
      'X-RateLimit-Remaining': String(Math.min(second, minute)),
      'X-RateLimit-Reset': reset,
      'RateLimit-Policy': '"second";q=2;w=1, "minute";q=30;w=60',
      RateLimit: `"second";r=${second};t=1, "minute";r=${minute};t=60`,
    });
  },
);
