/** Many merges of one account at the same time, at the times that DynamoDB takes: 5 ms a call, 15 ms a transaction. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LoadResult, type MergeLoad, runMergeLoad } from '../../bench/merge-load.ts';
import { type LimitsProxy, startLimitsProxy } from '../../infra/local/limits/proxy.ts';
import type { Table } from '../../lib/table/client.ts';
import { TIME_LIMITS } from '../../lib/time-limits.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { newAccount } from '../support/incidents.ts';
import { connectThrough, handlersOver, invokeAlone, newTable, testDeps } from '../support/service.ts';
import { tapWire } from '../support/wire.ts';

const SECONDS = process.env.FAULTS === undefined ? 4 : 10;
const LARGE = 400;

let table: Table;
let proxy: LimitsProxy;
beforeAll(async () => {
  table = await newTable();
  proxy = await startLimitsProxy(dynamodbEndpoint(), { callMs: 5, transactionMs: 15, writeUnits: 1e6, readUnits: 1e6 });
});
afterAll(() => proxy.close());

/** Transactions of small merges count all attempts. */
async function run(load: MergeLoad): Promise<LoadResult & { transactions: number }> {
  const { largeCallers = 0 } = load;
  const tenant = await newAccount(table);
  const into = await Promise.all(Array.from({ length: 20 }, () => tenant.incident()));
  const alerts = await tenant.alerts(200);
  const many = await Promise.all(Array.from({ length: largeCallers }, () => tenant.alerts(LARGE)));
  const through = connectThrough(table, proxy);
  const tap = tapWire(through);
  const { mergeAlerts } = handlersOver(testDeps(through, { timeLimits: TIME_LIMITS }));
  const merge = async (alert_ids: string[], index: number) => {
    const incident_id = into[index % into.length] as string;
    return (await invokeAlone(mergeAlerts, tenant.event({ alert_ids, incident_id }))).status;
  };
  await merge(alerts.slice(0, 1), 0); // opens connections
  const before = tap.attempts.length;
  const result = await runMergeLoad(load, {
    small: (_, index) => merge([alerts[index % alerts.length] as string], index),
    large: (caller, index) => merge(many[caller] as string[], index),
  });
  const sent = tap.attempts.slice(before);
  through.client.destroy();
  return { ...result, transactions: sent.filter(({ command }) => command.startsWith('TransactWrite')).length };
}

it('20 small merges a second are all answered', async () => {
  const { small } = await run({ seconds: SECONDS, smallPerSecond: 20 });
  expect(small).toMatchObject({ sent: 20 * SECONDS, refused: 0 });
});

it('40 small merges at once are all answered', async () => {
  const { small } = await run({ seconds: 1, smallPerSecond: 40, atOnce: true });
  expect(small).toMatchObject({ sent: 40, refused: 0 });
});

it('small merges are answered beside large ones without a pause, and each of these commits at its first call or the next', async () => {
  const { small, large } = await run({ seconds: SECONDS, smallPerSecond: 10, largeCallers: 6 });
  expect(small.refused).toBe(0);
  expect(large.committed).toBeGreaterThan(0);
  expect(large.later).toBe(0);
});

it('merges beyond the usage plan take no more than two transactions each', async () => {
  const { small, transactions } = await run({ seconds: SECONDS, smallPerSecond: 50, throttled: true });
  expect(small.throttled).toBeGreaterThan(0);
  expect(small.refused).toBe(0);
  expect(transactions / small.sent).toBeLessThanOrEqual(2);
});
