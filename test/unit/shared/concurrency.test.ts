import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { forEach } from '../../../lib/shared/concurrency.ts';

it('after a failure nothing starts, and it is thrown when all running work, which is told by its signal, has ended', async () => {
  const begun: number[] = [];
  const aborted: number[] = [];
  const work = async (item: number, signal: AbortSignal) => {
    begun.push(item);
    if (item === 1) throw new Error('first');
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    await sleep(1);
    aborted.push(item);
    signal.throwIfAborted();
  };
  await expect(forEach([0, 1, 2, 3, 4], work, { concurrency: 3 })).rejects.toThrow('first');
  expect([begun, aborted.sort()]).toEqual([
    [0, 1, 2],
    [0, 2],
  ]);
});

it('nothing starts once the signal aborts, and its reason is thrown', async () => {
  const stop = new AbortController();
  let begun = 0;
  const work = async (item: number) => {
    begun += 1;
    if (item === 2) stop.abort(new Error('stopped'));
  };
  await expect(forEach([0, 1, 2, 3, 4], work, { concurrency: 1, signal: stop.signal })).rejects.toThrow('stopped');
  expect(begun).toBe(3);
});
