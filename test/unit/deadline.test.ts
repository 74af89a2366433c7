import { afterEach, describe, expect, it, vi } from 'vitest';
import { createAppKeys } from '../../lib/auth/app-keys.ts';
import { type ApiRequest, deadlineMiddleware } from '../../lib/http/call.ts';
import type { Deps } from '../../lib/shared/deps.ts';
import { TIME_LIMITS } from '../../lib/shared/time-limits.ts';

afterEach(() => vi.restoreAllMocks());

/** Milliseconds that a call is given from when it first asks, by a clock that stands at 1,000,000 when the handler starts. */
function given({ arrivedMs, askedMs = 1_000_000 }: { arrivedMs: number | undefined; askedMs?: number }): number {
  const timeout = vi.spyOn(AbortSignal, 'timeout');
  const event = { requestContext: { requestTimeEpoch: arrivedMs }, call: { startedMs: 1_000_000 } };
  deadlineMiddleware({ now: () => askedMs, timeLimits: TIME_LIMITS }).before?.({ event } as unknown as ApiRequest);
  const { signal } = event.call as { signal?: AbortSignal };
  expect((event.call as { signal?: AbortSignal }).signal).toBe(signal);
  expect(timeout).toHaveBeenCalledTimes(1);
  return timeout.mock.calls[0]?.[0] as number;
}

describe('the time of a call', () => {
  it.each([
    ['counts from its first byte', { arrivedMs: 999_200 }, 1_900],
    ['counts at most a second as gone, for clocks differ', { arrivedMs: 900_000 }, 1_700],
    ['is never longer than from the start of the handler', { arrivedMs: 1_005_000 }, 2_700],
    ['counts from the start of the handler where the first byte is not known', { arrivedMs: undefined }, 2_700],
    ['is shorter by what was spent', { arrivedMs: 999_200, askedMs: 1_001_000 }, 900],
    ['may be over', { arrivedMs: 999_200, askedMs: 1_009_000 }, 1],
  ])('%s', (_what, times, ms) => {
    expect(given(times)).toBe(ms);
  });
});

describe("a key's look-up", () => {
  it('is waited for no longer than the call may take, and goes on for others', async () => {
    let reply: (row: object) => void = () => undefined;
    const send = vi.fn(() => new Promise((resolve) => (reply = resolve)));
    const table = { name: 't', client: { send } } as unknown as Deps['table'];
    const settings = { appKeyCacheSeconds: 30 } as Deps['settings'];
    const appKeys = createAppKeys({ table, now: () => 0, settings, timeLimits: TIME_LIMITS });
    const hurried = appKeys.find('k', { signal: AbortSignal.timeout(20) });
    const patient = appKeys.find('k', { signal: new AbortController().signal });
    await expect(hurried).rejects.toMatchObject({ name: 'TimeoutError' });
    reply({ Item: { account_id: 1, permissions: [], cursor_secret: new Uint8Array() } });
    expect(await patient).toMatchObject({ accountId: 1 });
    await expect(appKeys.find('other', { signal: AbortSignal.abort(new Error('over')) })).rejects.toThrow('over');
    expect(send).toHaveBeenCalledTimes(2);
  });
});
