/** Merges at the limits of DynamoDB, which DynamoDB Local does not have: see `test/limits-proxy`. */
import { expect, it, onTestFinished } from 'vitest';
import { finishMerge } from '../../lib/operations/merge-alerts/finish.ts';
import { readLogHead } from '../../lib/operations/merge-alerts/log-head.ts';
import { mergeAlerts } from '../../lib/operations/merge-alerts/schema.ts';
import { keys } from '../../lib/table/keys.ts';
import { startLimitsProxy } from '../limits-proxy/limits-proxy.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { expectMerged, newAccount } from '../support/incidents.ts';
import { callAlone, connectThrough, createHandlers, newTable, PATIENCE, putAll, testDeps } from '../support/service.ts';

const MAX_ATTEMPTS = 11;

it.each([
  ['that together are more than 4 MB', 95, 44 * 1_024, {}],
  // Parts of AWS's limits, so that these, and not the machine, determine how fast the merge proceeds: less than two transactions take at once.
  ['that are throttled', 300, 1_850, { writeUnits: 1_000 / 60, readUnits: 3_000 / 20 }],
])(
  'a merge of alerts %s is moved in the end: each attempt continues the last one',
  async (_what, count, size, limits) => {
    const table = await newTable();
    const proxy = await startLimitsProxy(dynamodbEndpoint(), limits);
    const through = connectThrough(table, proxy, PATIENCE);
    onTestFinished(() => through.client.destroy());
    onTestFinished(proxy.close);
    const { account, appKey, ...tenant } = await newAccount(table);
    const [to, alerts] = [await tenant.incident(), await tenant.alerts(count)];
    const title = 'x'.repeat(size);
    await putAll(
      table,
      alerts.map((id) => ({ ...keys.alert(account, id), alert_id: id, title })),
    );
    const call = { appKey, body: { alert_ids: alerts, incident_id: to }, headers: { 'Idempotency-Key': 'once' } };
    const merge = async () => (await callAlone(createHandlers(testDeps(through)), mergeAlerts, call)).status;
    for (let calls = 1; (await merge()) !== 200 && calls < MAX_ATTEMPTS; calls += 1);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1)
      for (const entryId of (await readLogHead(table, account)).pending ?? [])
        await finishMerge(through, account, entryId).catch(() => undefined);
    if ('writeUnits' in limits) expect(proxy.totals().throttled).toBeGreaterThan(0);
    await expectMerged({ account, appKey, ...tenant }, to, alerts);
  },
  300_000,
);
