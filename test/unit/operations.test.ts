import { describe, expect, it } from 'vitest';
import { FLEET_STATUSES, mergeAlerts, operations } from '../../lib/http/operations.ts';
import { rateLimitHeaders } from '../../lib/http/rate-limit.ts';

describe('the list of operations', () => {
  it('holds the four operations of the contract, each at its path', () => {
    expect(operations.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /monit/servicemap/fleet',
      'POST /rum/resource/info',
      'POST /incident/work-item/delete',
      'POST /alert/merge',
    ]);
  });

  it('asks for a permission in fleet browse alone', () => {
    expect(operations.map((operation) => ('permission' in operation ? operation.permission : undefined))).toEqual([
      'monit',
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('limits fleet browse to 2 calls a second and 30 a minute, exactly, and by the usage plan merges to 20 and each other operation to 50', () => {
    const [browse, ...others] = operations;
    expect(browse.rateWindows.map(({ limit, seconds }) => [limit, seconds])).toEqual([
      [2, 1],
      [30, 60],
    ]);
    for (const operation of others) expect(operation).not.toHaveProperty('rateWindows');
    const rest = operations.filter(({ name }) => name !== 'merge-alerts');
    for (const { throttle } of rest) expect(throttle).toEqual({ rate: 50, burst: 100 });
    expect(mergeAlerts.throttle).toEqual({ rate: 20, burst: 40 });
  });

  it('has the seven statuses of the contract', () => {
    expect(FLEET_STATUSES).toEqual([
      'active',
      'degraded',
      'stale',
      'initializing',
      'disabled',
      'unsupported',
      'no_data',
    ]);
  });
});

describe('the rate-limit headers', () => {
  const second = { name: 'second', limit: 2, seconds: 1 };
  const minute = { name: 'minute', limit: 30, seconds: 60 };
  const atMs = 1_750_000_020_250;
  const of = (inSecond: number, inMinute: number) =>
    rateLimitHeaders(
      [
        { window: second, remaining: inSecond, endsMs: 1_750_000_021_000 },
        { window: minute, remaining: inMinute, endsMs: 1_750_000_080_000 },
      ],
      atMs,
    );

  it('show the window with the fewest calls left, and both windows in the fields of the draft standard', () => {
    expect(of(1, 29)).toEqual({
      'X-RateLimit-Limit': '2',
      'X-RateLimit-Remaining': '1',
      'X-RateLimit-Reset': '1750000021',
      'RateLimit-Policy': '"second";q=2;w=1, "minute";q=30;w=60',
      RateLimit: '"second";r=1;t=1, "minute";r=29;t=60',
    });
  });

  it.each([
    [1, 1],
    [0, 0],
    [2, 1],
  ])('with %i left in the second and %i in the minute show the minute, which ends later', (inSecond, inMinute) => {
    expect(of(inSecond, inMinute)).toMatchObject({ 'X-RateLimit-Limit': '30', 'X-RateLimit-Reset': '1750000080' });
  });
});
