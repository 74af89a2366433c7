import { expect, it, onTestFinished, vi } from 'vitest';
import { createTimeBudget } from '../../../lib/operations/browse-fleet/read-hosts.ts';

it('a budget is used up by work alone, also by work that fails, and ends with its call', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const call = new AbortController();
  const [budget, unused, unlimited] = [100, 100, undefined].map((ms) => createTimeBudget(ms, call.signal));
  const isOverAfter = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    return budget?.signal.aborted;
  };
  const work = (ms: number) => new Promise<string>((resolve) => setTimeout(() => resolve('done'), ms));
  const fails = budget?.spend(() => work(60).then(() => Promise.reject(new Error('failed'))));
  fails?.catch(() => undefined);
  expect(await isOverAfter(60)).toBe(false);
  await expect(fails).rejects.toThrow('failed');
  expect(await isOverAfter(1_000)).toBe(false);
  const done = budget?.spend(() => work(60));
  expect([await isOverAfter(39), await isOverAfter(1), await isOverAfter(20)]).toEqual([false, true, true]);
  expect(await done).toBe('done');
  call.abort();
  expect([unused?.signal.aborted, unlimited?.signal.aborted]).toEqual([true, true]);
});
