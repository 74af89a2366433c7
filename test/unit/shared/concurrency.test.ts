import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { chunksOf, forEach } from '../../../lib/shared/concurrency.ts';

it('each item is processed once, and no more at a time than allowed', async () => {
  const done: number[] = [];
  let [underWay, mostAtOnce] = [0, 0];
  const work = async (item: number) => {
    underWay += 1;
    mostAtOnce = Math.max(mostAtOnce, underWay);
    await sleep(item % 3);
    underWay -= 1;
    done.push(item);
  };
  const items = Array.from({ length: 50 }, (_, item) => item);
  await forEach(items, work, { concurrency: 4 });
  expect([done.sort((a, b) => a - b), mostAtOnce]).toEqual([items, 4]);
});

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

it('chunks have the size but for the last one', () => {
  expect([chunksOf([1, 2, 3], 2), chunksOf([], 2)]).toEqual([[[1, 2], [3]], []]);
});
