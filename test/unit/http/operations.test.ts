import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../lib/http/operation.ts';
import { rateLimitHeaders } from '../../../lib/http/rate-limit.ts';
import { operations } from '../../../lib/operations/index.ts';

it.each<Operation>(operations)(
  '$name is refused while writes are frozen if and only if it may write more than its rate counts',
  ({ grants, writes = false }) => {
    const written = grants.flatMap(({ actions, on }) =>
      actions.some((action) => action === 'PutItem' || action === 'UpdateItem') ? on : [],
    );
    expect(writes).toBe(written.some((kind) => kind !== 'rate'));
  },
);

describe('the rate-limit headers', () => {
  const second = { name: 'second', limit: 2, seconds: 1 };
  const minute = { name: 'minute', limit: 30, seconds: 60 };
  const atMs = 1_750_000_020_250;
  const headersWith = (inSecond: number, inMinute: number) =>
    rateLimitHeaders(
      [
        { window: second, remaining: inSecond, endsMs: 1_750_000_021_000 },
        { window: minute, remaining: inMinute, endsMs: 1_750_000_080_000 },
      ],
      atMs,
    );

  it('show the window with the fewest calls left, and both windows in the fields of the draft standard', () => {
    expect(headersWith(1, 29)).toEqual({
      'X-RateLimit-Limit': '2',
      'X-RateLimit-Remaining': '1',
      'X-RateLimit-Reset': '1750000021',
      'RateLimit-Policy': '"second";q=2;w=1, "minute";q=30;w=60',
      RateLimit: '"second";r=1;t=1, "minute";r=29;t=60',
    });
  });

  it('show the minute, whose window ends later, when it has as few calls left as the second', () => {
    const ofMinute = { 'X-RateLimit-Limit': '30', 'X-RateLimit-Reset': '1750000080' };
    for (const headers of [headersWith(1, 1), headersWith(0, 0), headersWith(2, 1)])
      expect(headers).toMatchObject(ofMinute);
  });
});
