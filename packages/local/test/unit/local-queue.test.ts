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

/** A queue with a function that runs `handle`. `calls` are the bodies and receive counts that the function was called with. */
function connectedQueue(handle: (event: Event, call: number) => unknown = () => {}, source: Partial<EventSource> = {}) {
  const queues = createQueues([
    { name: 'Queue', attributes: { DelaySeconds: 5, VisibilityTimeout: 180, RedrivePolicy: JSON.stringify(REDRIVE) } },
    { name: 'Letters', attributes: {} },
  ]);
  const calls: [body: string, receives: string | undefined][][] = [];
  const invoke = async (event: unknown) => {
    const { Records } = event as Event;
    calls.push(Records.map(({ body, attributes }) => [body, attributes.ApproximateReceiveCount]));
    return handle(event as Event, calls.length);
  };
  queues.connect({ ...SOURCE, ...source }, { invoke });
  return { queues, calls, send: (body: string) => queues.send('Queue', body) };
}

/** A function that fails in its first calls. */
const failFirst = (calls: number) => (_event: Event, call: number) => {
  if (call <= calls) throw new Error('failed');
};

describe('a local queue', () => {
  it('passes a message to the function when its delay is over, one message per call', async () => {
    const { queues, calls, send } = connectedQueue();
    send('one');
    send('two');
    expect(queues.count('Queue')).toBe(2);
    await vi.advanceTimersByTimeAsync(4_990);
    expect(calls).toEqual([]);
    await vi.advanceTimersByTimeAsync(110);
    expect(calls).toEqual([[['one', '1']], [['two', '1']]]);
    expect(queues.count('Queue')).toBe(0);
    await queues.stop();
  });

  it('retries a message when its function failed, without delaying others', async () => {
    const { queues, calls, send } = connectedQueue(failFirst(1));
    send('one');
    await vi.advanceTimersByTimeAsync(5_100);
    send('two');
    await vi.advanceTimersByTimeAsync(5_100);
    expect(calls).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(175_000);
    expect(calls).toEqual([[['one', '1']], [['two', '1']], [['one', '2']]]);
    await queues.stop();
  });

  it('moves a message to the dead letters after it was received too often', async () => {
    const { queues, calls, send } = connectedQueue(failFirst(9));
    send('one');
    await vi.advanceTimersByTimeAsync(10 * 180_000);
    expect(calls).toHaveLength(3);
    expect([queues.count('Queue'), queues.count('Letters')]).toEqual([0, 1]);
    await queues.stop();
  });

  it('fills a batch for its window, and retries only the messages that the function names', async () => {
    const failed = ({ Records }: Event, call: number) => ({
      batchItemFailures: call === 1 ? [{ itemIdentifier: Records[1]?.messageId }] : [],
    });
    const { queues, calls, send } = connectedQueue(failed, { batchSize: 10, windowSeconds: 1, reportsFailures: true });
    send('one');
    await vi.advanceTimersByTimeAsync(500);
    send('two');
    await vi.advanceTimersByTimeAsync(6_000);
    expect(calls).toEqual([[['one', '1'], ['two', '1']]]); // biome-ignore format: a batch in one line
    await vi.advanceTimersByTimeAsync(182_000);
    expect(calls.slice(1)).toEqual([[['two', '2']]]);
    expect(queues.count('Queue')).toBe(0);
    await queues.stop();
  });

  it('passes on nothing once it is stopped', async () => {
    const { queues, calls, send } = connectedQueue();
    send('one');
    await queues.stop();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(calls).toEqual([]);
  });
});

describe('the local stream', () => {
  const numberOf = ({ dynamodb }: DynamoDBRecord) => dynamodb?.SequenceNumber ?? '';
  const failed = (...numbers: string[]) => ({
    batchItemFailures: numbers.map((itemIdentifier) => ({ itemIdentifier })),
  });

  it.each([
    ['in batches', [failed(), failed()], ['012', '34']],
    ['again from the first failed record on', [failed('2', '1'), failed('1'), failed()], ['012', '123', '123', '4']],
    ['again when the function failed', [new Error('failed')], ['012', '012', '34']],
  ])('passes records on %s', async (_how, results: (object | Error)[], batches) => {
    const records = Array.from({ length: 5 }, (_, index) => ({ dynamodb: { SequenceNumber: String(index) } }));
    const passed: string[] = [];
    const invoke = async (event: unknown) => {
      passed.push((event as { Records: DynamoDBRecord[] }).Records.map(numberOf).join(''));
      const result = results.shift();
      if (result instanceof Error) throw result;
      return result;
    };
    const delivering = deliver(records, 3, { invoke }, new AbortController().signal);
    await vi.advanceTimersByTimeAsync(60_000);
    await delivering;
    expect(passed).toEqual(batches);
  });

  it('filters by values, and by whether a value exists', () => {
    const pattern = { a: { S: ['x', 'y'] }, b: { N: [{ exists: true }] } };
    expect([
      matches(pattern, { a: { S: 'y' }, b: { N: '1' } }),
      matches(pattern, { a: { S: 'z' }, b: { N: '1' } }),
      matches(pattern, { a: { S: 'x' }, b: { S: '1' } }),
      matches(pattern, undefined),
    ]).toEqual([true, false, false, false]);
  });
});
