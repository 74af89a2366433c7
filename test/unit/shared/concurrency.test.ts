import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { forEach } from '../../../lib/shared/concurrency.ts';

describe('the pool', () => {
  it('processes each item once, and no more at a time than allowed', async () => {
    const done: number[] = [];
    let [underWay, mostAtOnce] = [0, 0];
    const items = Array.from({ length: 50 }, (_, item) => item);
    await forEach(
      items,
      async (item) => {
        underWay += 1;
        mostAtOnce = Math.max(mostAtOnce, underWay);
        await sleep(item % 3);
        underWay -= 1;
        done.push(item);
      },
      { concurrency: 4 },
    );
    expect(done.sort((a, b) => a - b)).toEqual(items);
    expect(mostAtOnce).toBe(4);
  });

  it('starts nothing after a failure, and throws it when all running work has ended', async () => {
    const begun: number[] = [];
    let underWay = 0;
    const work = async (item: number, signal: AbortSignal) => {
      begun.push(item);
      underWay += 1;
      await sleep(item === 1 ? 1 : 50).finally(() => {
        underWay -= 1;
      });
      if (item === 1) throw new Error('first');
      signal.throwIfAborted();
    };
    await expect(forEach([0, 1, 2, 3, 4], work, { concurrency: 3 })).rejects.toThrow('first');
    expect({ begun, underWay }).toEqual({ begun: [0, 1, 2], underWay: 0 });
  });

  it('ends when its signal aborts', async () => {
    const stop = new AbortController();
    let begun = 0;
    const work = async (item: number) => {
      begun += 1;
      if (item === 2) stop.abort(new Error('stopped'));
    };
    await expect(forEach([0, 1, 2, 3, 4], work, { concurrency: 1, signal: stop.signal })).rejects.toThrow('stopped');
    expect(begun).toBe(3);
  });
});
