/**
 * Many merges of one account at the same time, on the table double with the durations that DynamoDB is assumed to have. Timers and clocks are
 * vitest's, so that the processor's time does not matter.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createMergeAlerts } from '../../lib/operations/merge-alerts/handler.ts';
import { TIME_LIMITS } from '../../lib/shared/settings.ts';
import { keys } from '../../lib/table/keys.ts';
import { SEED, seededRandom } from '../support/chance.ts';
import { testDeps } from '../support/service.ts';
import { connectDouble, type Request, type Send, type Transaction } from '../table-double/client.ts';
import { TableDouble } from '../table-double/table-double.ts';
import { type MergeLoad, runMergeLoad } from './merge-load.ts';

// vitest's timers do not reach imports from this module.
vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number, value: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) reject(signal.reason);
      setTimeout(() => resolve(value), ms);
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
}));

const ACCOUNT = 1;
const CALLER = { accountId: ACCOUNT, appKeyId: 'key', permissions: [], cursorSecret: new Uint8Array() };
const SECONDS = 10;
/** Milliseconds that a call takes, and that a transaction takes, which locks its rows meanwhile. */
const CALL_MS = 5;
const TRANSACTION_MS = 15;
/**
 * Milliseconds that a transaction takes that moves alerts: 2,000 alerts take 4,000 write units, and six callers share the 16,000 a second
 * of the 16 partition keys of an account's alerts.
 */
const MOVES_MS = 1_200;
/** Attempts of the SDK for a call that gets no reply, and for a write of one row that conflicts with a transaction. */
const MAX_ATTEMPTS = 3;
/** Milliseconds after which an attempt counts as without reply. */
const ATTEMPT_MS = 800;

/** The n-th ObjectID. */
const id = (n: number) => n.toString(16).padStart(24, '0');

function rowsWrittenBy({ name, input }: Request): string[] {
  const writes: Transaction['TransactItems'] = /^(Put|Update)/.test(name) ? [{ Put: input }] : input.TransactItems;
  return (writes ?? []).map(({ Put, Update }) => {
    const { pk, sk } = Put?.Item ?? Put?.Key ?? Update?.Key ?? {};
    return `${pk} ${sk}`;
  });
}

/** Sends calls to a double, and refuses writes of rows that a transaction has locked, as DynamoDB does. */
function conflicting(double: TableDouble): { send: Send; transactions: () => number } {
  const locked = new Set<string>();
  let transactions = 0;
  const send: Send = async (request, signal) => {
    const rows = rowsWrittenBy(request);
    const isTransaction = request.name === 'TransactWriteCommand';
    if (isTransaction) transactions += 1;
    for (let attempt = 1; rows.some((row) => locked.has(row)); attempt += 1) {
      const CancellationReasons = rows.map((row) => ({ Code: locked.has(row) ? 'TransactionConflict' : 'None' }));
      await sleep(CALL_MS, undefined, { signal });
      if (isTransaction)
        throw new TransactionCanceledException({ message: 'conflict', $metadata: {}, CancellationReasons });
      if (attempt === MAX_ATTEMPTS) throw new TransactionConflictException({ message: 'conflict', $metadata: {} });
    }
    const isMove = isTransaction && !rows.some((row) => row.includes('#LOG_HEAD '));
    for (const row of isTransaction ? rows : []) locked.add(row);
    try {
      const reply = double.apply(request);
      await sleep(isMove ? MOVES_MS : isTransaction ? TRANSACTION_MS : CALL_MS, undefined, { signal });
      return reply;
    } finally {
      for (const row of isTransaction ? rows : []) locked.delete(row);
    }
  };
  return { send, transactions: () => transactions };
}

const NO_REPLY = Symbol('no reply');

/** About the milliseconds that DynamoDB Local takes on two processors. */
const localMsOf = ({ name, input }: Request): number => {
  const [{ Keys: keys = [] } = {}] = Object.values<{ Keys?: unknown[] }>(input.RequestItems ?? {});
  return name === 'TransactWriteCommand' ? 1 + 0.75 * input.TransactItems.length : 1 + 0.1 * keys.length;
};

/** Sends calls to a double that carries them out one after another, as DynamoDB Local does, whether or not the caller still waits. */
function oneByOne(double: TableDouble): ReturnType<typeof conflicting> {
  let last: Promise<unknown> = Promise.resolve();
  let transactions = 0;
  const send: Send = async ({ name, input }, signal) => {
    if (name === 'TransactWriteCommand') transactions += 1;
    // All attempts have one token.
    const request = { name, input: { ...input, ClientRequestToken: String(transactions) } };
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const reply = last.then(() => sleep(localMsOf(request))).then(() => double.apply(request));
      last = reply.catch(() => undefined);
      const result = await Promise.race([reply, sleep(ATTEMPT_MS, NO_REPLY, { signal })]);
      if (result !== NO_REPLY) return result;
    }
    throw Object.assign(new Error('no reply'), { name: 'TimeoutError' });
  };
  return { send, transactions: () => transactions };
}

async function run(load: MergeLoad, { largeSize = 120, connect = conflicting } = {}) {
  const incidents = Array.from({ length: 20 }, (_, index) => id(index + 1));
  const small = Array.from({ length: 200 }, (_, index) => id(1_000 + index));
  const large = Array.from({ length: load.largeCallers ?? 0 }, (_, caller) =>
    Array.from({ length: largeSize }, (_, index) => id((caller + 1) * 100_000 + index)),
  );
  const double = new TableDouble();
  const put = (Item: object) => double.apply({ name: 'PutCommand', input: { TableName: 'double', Item } });
  for (const incident of incidents) put({ ...keys.incident(ACCOUNT, incident), incident_id: incident, title: 'i' });
  for (const alert of [small, large].flat(2)) put({ ...keys.alert(ACCOUNT, alert), alert_id: alert, title: 'a' });
  const { send, transactions } = connect(double);
  const mergeAlerts = createMergeAlerts(testDeps(connectDouble(send), { timeLimits: TIME_LIMITS }));
  const merge = async (alert_ids: string[], index: number) => {
    const body = { alert_ids, incident_id: incidents[index % incidents.length] as string };
    const signal = AbortSignal.timeout(TIME_LIMITS.callMs);
    try {
      await mergeAlerts({
        body,
        caller: CALLER,
        requestId: 'r',
        arrivedMs: Date.now(),
        idempotencyKey: undefined,
        signal,
      });
      return 200;
    } catch (error) {
      if (!(error instanceof Error) || error.name === 'TypeError') throw error;
      return 503;
    }
  };
  let isOver = false;
  const running = runMergeLoad(load, {
    small: (index) => merge([small[index % small.length] as string], index),
    large: (caller, index) => merge(large[caller] as string[], index),
  }).finally(() => {
    isOver = true;
  });
  while (!isOver) await vi.advanceTimersToNextTimerAsync();
  return { ...(await running), transactions: transactions() };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, 'random').mockImplementation(seededRandom(SEED));
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const time = new AbortController();
    setTimeout(() => time.abort(), ms);
    return time.signal;
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it.each([
  { seconds: SECONDS, smallPerSecond: 20 },
  { seconds: 1, smallPerSecond: 40, atOnce: true },
])('small merges are all answered, and take at most ten transactions each: %j', async (load) => {
  const { small, transactions } = await run(load);
  expect(small).toMatchObject({ sent: load.seconds * load.smallPerSecond, refused: 0 });
  expect(transactions / small.sent).toBeLessThanOrEqual(10);
});

it('small merges are all answered beside a continuous load of large ones, which commit at their first or second call', async () => {
  const { small, large } = await run({ seconds: SECONDS, smallPerSecond: 10, largeCallers: 6 });
  expect(small.refused).toBe(0);
  expect(large.upToTwoCalls).toBeGreaterThan(0);
  expect(large.moreCalls).toBe(0);
});

it('small merges are all answered within a second beside a caller of 2,000 whose calls DynamoDB Local carries out one by one', async () => {
  const load = { seconds: SECONDS, smallPerSecond: 5, largeCallers: 1 };
  const { small, large } = await run(load, { largeSize: 2_000, connect: oneByOne });
  expect(small.refused).toBe(0);
  expect(small.ms.filter((ms) => ms > 1_000).length).toBeLessThanOrEqual(small.sent / 100);
  expect(large.moreCalls).toBe(0);
});
