import { afterEach, describe, expect, it, vi } from 'vitest';
import { createAppKeys } from '../../../lib/http/app-keys.ts';
import { deadlineMiddleware } from '../../../lib/http/call.ts';
import type { ApiRequest } from '../../../lib/http/operation.ts';
import type { Deps } from '../../../lib/shared/deps.ts';
import { TIME_LIMITS } from '../../../lib/shared/settings.ts';

afterEach(() => vi.restoreAllMocks());

/** The milliseconds that a call gets if its handler starts at 1,000,000. @param nowMs when the middleware runs */
function timeGiven({ arrivedMs, nowMs = 1_000_000 }: { arrivedMs: number | undefined; nowMs?: number }): number {
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  const event = { requestContext: { requestTimeEpoch: arrivedMs }, call: { startedMs: 1_000_000 } };
  deadlineMiddleware({ now: () => nowMs, timeLimits: TIME_LIMITS }).before?.({ event } as unknown as ApiRequest);
  expect(event.call).toHaveProperty('signal', expect.any(AbortSignal));
  expect(timeout).toHaveBeenCalledTimes(1);
  return timeout.mock.calls[0]?.[0] as number;
}

describe('the time that a call gets', () => {
  it.each([
    ['counts from the first byte of its request', { arrivedMs: 999_200 }, 1_900],
    ['loses at most a second before the handler starts, since clocks differ', { arrivedMs: 900_000 }, 1_700],
    ['is never longer than from the start of the handler', { arrivedMs: 1_005_000 }, 2_700],
    [
      'counts from the start of the handler if it is not known when the first byte came',
      { arrivedMs: undefined },
      2_700,
    ],
    ['is shorter by what the handler has spent', { arrivedMs: 999_200, nowMs: 1_001_000 }, 900],
    ['is 1 ms when all is spent', { arrivedMs: 999_200, nowMs: 1_009_000 }, 1],
  ])('%s', (_what, times, ms) => {
    expect(timeGiven(times)).toBe(ms);
  });
});

describe("a key's lookup", () => {
  it('is waited for only until the signal of the call aborts, and goes on for other calls', async () => {
    let reply: (row: object) => void = () => undefined;
    const send = vi.fn(() => new Promise((resolve) => (reply = resolve)));
    const table = { name: 't', client: { send } } as unknown as Deps['table'];
    const appKeys = createAppKeys({ table, now: () => 0, timeLimits: TIME_LIMITS });
    const hurriedLookup = appKeys.find('k', { signal: AbortSignal.timeout(20) });
    const patientLookup = appKeys.find('k', { signal: new AbortController().signal });
    await expect(hurriedLookup).rejects.toMatchObject({ name: 'TimeoutError' });
    reply({ Item: { account_id: 1, permissions: [], cursor_secret: new Uint8Array() } });
    expect(await patientLookup).toMatchObject({ accountId: 1 });
    await expect(appKeys.find('other', { signal: AbortSignal.abort(new Error('over')) })).rejects.toThrow('over');
    expect(send).toHaveBeenCalledTimes(2);
  });
});
