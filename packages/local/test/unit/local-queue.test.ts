import type { DynamoDBRecord } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createQueues, type EventSource } from '../../queues.ts';
import { deliver, matches } from '../../stream.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const REDRIVE = { deadLetterTargetArn: 'arn:aws:sqs:local:000000000000:Letters', maxReceiveCount: 3 };
const SOURCE: EventSource = {
  ...{ queue: 'Queue', functionName: 'finish', batchSize: 1, windowSeconds: 0 },
  ...{ concurrency: 10, reportsFailures: false },
};

interface Event {
  Records: { messageId: string; body: string; attributes: Record<string, string> }[];
}

/** A queue with a function that runs `handle`. `calls` are the messages that it was called with, each with its count of receives. */
function connectedQueue(handle: (event: Event, call: number) => unknown = () => {}, source: Partial<EventSource> = {}) {
  const queues = createQueues([
    { name: 'Queue', attributes: { DelaySeconds: 5, VisibilityTimeout: 180, RedrivePolicy: JSON.stringify(REDRIVE) } },
    { name: 'Letters', attributes: {} },
  ]);
  const calls: string[] = [];
  const invoke = async (event: unknown) => {
    const { Records } = event as Event;
    calls.push(Records.map(({ body, attributes }) => `${body} ${attributes.ApproximateReceiveCount}`).join(', '));
    return handle(event as Event, calls.length);
  };
  const failed: string[][] = [];
  queues.connect({ ...SOURCE, ...source }, invoke, (_error, bodies) => failed.push([...bodies]));
  const counts = () => [queues.count('Queue'), queues.count('Letters')];
  return { ...queues, calls, failed, counts, send: (body: string) => queues.send('Queue', body) };
}

describe('a local queue', () => {
  it('passes a message to the function when its delay is over, one message per call', async () => {
    const { calls, counts, send, stop } = connectedQueue();
    for (const body of ['one', 'two']) send(body);
    expect(counts()).toEqual([2, 0]);
    await vi.advanceTimersByTimeAsync(4_990);
    expect(calls).toEqual([]);
    await vi.advanceTimersByTimeAsync(110);
    expect([calls, counts()]).toEqual([
      ['one 1', 'two 1'],
      [0, 0],
    ]);
    await stop();
  });

  it('retries a message when its function failed, and keeps it as a dead letter after it was received too often', async () => {
    const { calls, failed, counts, send, stop } = connectedQueue(() => Promise.reject(new Error('failed')));
    send('one');
    await vi.advanceTimersByTimeAsync(4 * 180_000);
    expect(calls).toEqual(['one 1', 'one 2', 'one 3']);
    expect([failed, counts()]).toEqual([Array(3).fill(['one']), [0, 1]]);
    await stop();
  });

  it('fills a batch for its window, and retries only the messages that the function names', async () => {
    const named = ({ Records }: Event, call: number) => ({
      batchItemFailures: call === 1 ? [{ itemIdentifier: Records[1]?.messageId }] : [],
    });
    const source = { batchSize: 10, windowSeconds: 1, reportsFailures: true };
    const { calls, counts, send, stop } = connectedQueue(named, source);
    send('one');
    await vi.advanceTimersByTimeAsync(500);
    send('two');
    await vi.advanceTimersByTimeAsync(6_000);
    expect(calls).toEqual(['one 1, two 1']);
    await vi.advanceTimersByTimeAsync(182_000);
    expect([calls.slice(1), counts()]).toEqual([['two 2'], [0, 0]]);
    await stop();
  });

  it('calls the function no more often at once than its limit, and passes on nothing once it is stopped', async () => {
    const running = Promise.withResolvers<void>();
    const { calls, send, stop } = connectedQueue(() => running.promise, { concurrency: 2 });
    for (const body of ['one', 'two', 'three']) send(body);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(calls).toEqual(['one 1', 'two 1']);
    const stopping = stop();
    running.resolve();
    await stopping;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(calls).toHaveLength(2);
  });
});

describe('the local stream', () => {
  const failed = (...numbers: string[]) => ({
    batchItemFailures: numbers.map((itemIdentifier) => ({ itemIdentifier })),
  });

  it.each([
    ['again from the first failed record on', [failed('2', '1'), failed('1'), failed()], ['012', '123', '123', '4']],
    ['again when the function failed', [new Error('failed')], ['012', '012', '34']],
  ])('passes records on %s', async (_how, results: (object | Error)[], batches) => {
    const records = Array.from({ length: 5 }, (_, index) => ({ dynamodb: { SequenceNumber: String(index) } }));
    const passed: string[] = [];
    const invoke = async (event: unknown) => {
      const { Records } = event as { Records: DynamoDBRecord[] };
      passed.push(Records.map(({ dynamodb }) => dynamodb?.SequenceNumber).join(''));
      const result = results.shift();
      if (result instanceof Error) throw result;
      return result;
    };
    const delivering = deliver(records, 3, invoke, new AbortController().signal);
    await vi.advanceTimersByTimeAsync(60_000);
    await delivering;
    expect(passed).toEqual(batches);
  });

  it.each([
    [true, { a: { S: 'y' }, b: { N: '1' } }],
    [false, { a: { S: 'z' }, b: { N: '1' } }],
    [false, { a: { S: 'x' }, b: { S: '1' } }],
  ])('filters by values, and by whether a value exists: %j for %j', (passes, record) => {
    const pattern = { a: { S: ['x', 'y'] }, b: { N: [{ exists: true }] } };
    expect(matches(pattern, record)).toBe(passes);
  });
});
