import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createTimeBudget } from '../../../lib/operations/browse-fleet/read-hosts.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const work = (ms: number) => () => new Promise<string>((resolve) => setTimeout(() => resolve('done'), ms));

it('a budget is used up by work alone, and its signal then aborts', async () => {
  const budget = createTimeBudget(100, new AbortController().signal);
  const firstWork = budget.spend(work(60));
  await vi.advanceTimersByTimeAsync(60);
  expect(await firstWork).toBe('done');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(budget.signal.aborted).toBe(false);
  const failing = budget.spend(() => Promise.reject(new Error('failed')));
  await expect(failing).rejects.toThrow('failed');
  const secondWork = budget.spend(work(60));
  await vi.advanceTimersByTimeAsync(39);
  expect(budget.signal.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(budget.signal.aborted).toBe(true);
  await vi.advanceTimersByTimeAsync(20);
  expect(await secondWork).toBe('done');
});

it('a budget ends with its call, whatever time is left, also if it has no limit', async () => {
  for (const ms of [100, undefined]) {
    const call = new AbortController();
    const budget = createTimeBudget(ms, call.signal);
    const working = budget.spend(work(10));
    expect(budget.signal.aborted).toBe(false);
    call.abort();
    expect(budget.signal.aborted).toBe(true);
    await vi.advanceTimersByTimeAsync(10);
    expect(await working).toBe('done');
  }
});
