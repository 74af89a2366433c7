import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startQueue } from '../../queue.ts';
import { handOver, matches } from '../../stream.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const SETTINGS = { delayMs: 5_000, visibilityMs: 180_000, maxReceives: 3 };

/** A function that fails so often, and what it was called with. */
function target(failures = 0) {
  const events: { Records: { body: string; attributes: { ApproximateReceiveCount: string } }[] }[] = [];
  const invoke = async (event: unknown) => {
    events.push(event as (typeof events)[number]);
    if (events.length <= failures) throw new Error('failed');
  };
  return { invoke, events };
}

describe('the local queue', () => {
  it('hands a message over when its delay is over, one a call', async () => {
    const { invoke, events } = target();
    const queue = startQueue(SETTINGS, { invoke });
    queue.send('one');
    queue.send('two');
    await vi.advanceTimersByTimeAsync(4_999);
    expect(events).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(events.map(({ Records }) => Records.map(({ body }) => body))).toEqual([['one'], ['two']]);
    await queue.stop();
  });

  it('retries a message when its function failed, without delaying others', async () => {
    const { invoke, events } = target(1);
    const queue = startQueue(SETTINGS, { invoke });
    queue.send('one');
    await vi.advanceTimersByTimeAsync(5_000);
    queue.send('two');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(events).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(175_000);
    expect(events.map(({ Records: [record] }) => [record?.body, record?.attributes.ApproximateReceiveCount])).toEqual([
      ['one', '1'],
      ['two', '1'],
      ['one', '2'],
    ]);
    await queue.stop();
  });

  it('puts a message that was received too often with the dead letters', async () => {
    const { invoke, events } = target(9);
    const queue = startQueue(SETTINGS, { invoke });
    queue.send('one');
    await vi.advanceTimersByTimeAsync(10 * 180_000);
    expect(events).toHaveLength(3);
    expect(queue.deadLetters).toEqual(['one']);
    await queue.stop();
  });

  it('hands nothing over once it is stopped', async () => {
    const { invoke, events } = target();
    const queue = startQueue(SETTINGS, { invoke });
    queue.send('one');
    await queue.stop();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(events).toEqual([]);
  });
});

describe('the local stream', () => {
  const records = Array.from({ length: 5 }, (_, index) => ({ dynamodb: { SequenceNumber: String(index) } }));
  const handed = async (results: (object | Error)[]) => {
    const batches: string[] = [];
    const invoke = async (event: unknown) => {
      batches.push((event as { Records: typeof records }).Records.map((one) => one.dynamodb.SequenceNumber).join(''));
      const result = results.shift();
      if (result instanceof Error) throw result;
      return result;
    };
    const handing = handOver(records, 3, { invoke }, new AbortController().signal);
    await vi.advanceTimersByTimeAsync(60_000);
    await handing;
    return batches;
  };
  const failed = (...numbers: string[]) => ({
    batchItemFailures: numbers.map((itemIdentifier) => ({ itemIdentifier })),
  });

  it.each([
    ['in batches', [failed(), failed()], ['012', '34']],
    ['again from the first record that failed', [failed('2', '1'), failed()], ['012', '123', '4']],
    ['again when the function failed', [new Error('failed')], ['012', '012', '34']],
  ])('hands records over %s', async (_how, results, batches) => {
    expect(await handed(results)).toEqual(batches);
  });

  it('filters by values, and by what is there', () => {
    const pattern = { a: { S: ['x', 'y'] }, b: { N: [{ exists: true }] } };
    expect([
      matches(pattern, { a: { S: 'y' }, b: { N: '1' } }),
      matches(pattern, { a: { S: 'z' }, b: { N: '1' } }),
      matches(pattern, { a: { S: 'x' }, b: { S: '1' } }),
      matches(pattern, undefined),
    ]).toEqual([true, false, false, false]);
  });
});
