/** Merges at the limits of DynamoDB, which DynamoDB Local does not have: see `test/limits-proxy`. */
import { afterAll, expect, it } from 'vitest';
import { finishMerge } from '../../lib/operations/merge-alerts/finish.ts';
import { readMergeOrder } from '../../lib/operations/merge-alerts/merge-order.ts';
import { mergeAlerts } from '../../lib/operations/merge-alerts/schema.ts';
import { type TableOptions, withSignal } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { startLimitsProxy } from '../limits-proxy/limits-proxy.ts';
import { expectEnvelope } from '../support/answers.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { type Account, expectMerged, newAccount } from '../support/incidents.ts';
import { callAlone, connectThrough, handlersOver, newTable, PATIENCE, putAll, testDeps } from '../support/service.ts';

/** Alerts of a throttled merge. */
const ALERTS = 1_000;
const MAX_ATTEMPTS = 11;

const table = await newTable();
const closers: (() => unknown)[] = [];
afterAll(() => Promise.all(closers.map((close) => close())));

/** A client of the table that meets these limits, and merges through it. @param timeouts by default production's */
async function limited(limits: Parameters<typeof startLimitsProxy>[1], timeouts?: TableOptions['timeouts']) {
  const proxy = await startLimitsProxy(dynamodbEndpoint(), limits);
  const ownTable = connectThrough(table, proxy, timeouts);
  closers.push(proxy.close, () => ownTable.client.destroy());
  const handlers = handlersOver(testDeps(ownTable));
  const merge = ({ appKey }: Account, alert_ids: string[], incident_id: string, headers = {}) =>
    callAlone(handlers, mergeAlerts, { appKey, body: { alert_ids, incident_id }, headers });
  return { ownTable, proxy, merge };
}

/** Gives stored alerts titles of `size` characters. */
const enlarge = ({ account }: Account, alerts: string[], size: number) =>
  putAll(
    table,
    alerts.map((id) => ({ ...keys.alert(account, id), alert_id: id, title: 'x'.repeat(size) })),
  );

it('a merge of 95 alerts that together are more than 4 MB is moved', async () => {
  const { ownTable, merge } = await limited({}, PATIENCE);
  const tenant = await newAccount(table);
  const to = await tenant.incident();
  const alerts = await tenant.alerts(95);
  await enlarge(tenant, alerts, 44 * 1_024);
  expectEnvelope(await merge(tenant, alerts, to), 200);
  const [{ sequence }] = await tenant.feed(to);
  await finishMerge(withSignal(ownTable, AbortSignal.timeout(120_000)), tenant.account, { incidentId: to, sequence });
  await expectMerged(tenant, to, alerts);
}, 180_000);

it('throttling delays the moves of a merge and does not end them: each attempt continues the last one', async () => {
  // A twentieth of AWS's limits, so that these, and not the machine, determine how fast the merge proceeds.
  const { ownTable, proxy, merge } = await limited({ writeUnits: 1_000 / 20, readUnits: 3_000 / 20 });
  const tenant = await newAccount(table);
  const to = await tenant.incident();
  const alerts = await tenant.alerts(ALERTS);
  await enlarge(tenant, alerts, 1_850);
  const moved = async () => (await tenant.placements(alerts)).filter((incident) => incident === to).length;
  const once = { 'Idempotency-Key': 'once' };
  let calls = 1;
  while ((await merge(tenant, alerts, to, once)).status !== 200 && calls < MAX_ATTEMPTS) calls += 1;
  const progress: number[] = [];
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    progress.push(await moved());
    const { pending = [] } = await readMergeOrder(table, tenant.account);
    if (pending.length === 0) break;
    for (const entryId of pending) await finishMerge(ownTable, tenant.account, entryId).catch(() => undefined);
  }
  const usages = [...proxy.usages().values()];
  expect(usages.reduce((sum, { throttled }) => sum + throttled, 0)).toBeGreaterThan(0);
  expect(progress.at(-1), `${calls} calls; moved after each attempt: ${progress}`).toBe(alerts.length);
  await expectMerged(tenant, to, alerts);
}, 300_000);
