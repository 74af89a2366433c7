/** Merges at the limits of DynamoDB that DynamoDB Local does not have: see `packages/bench/limits`. */
import { afterAll, describe, expect, it } from 'vitest';
import { connectTable, type Table, withSignal } from '../../lib/dynamodb/client.ts';
import { keys } from '../../lib/dynamodb/keys.ts';
import { finishMerge } from '../../lib/operations/merge-alerts/move.ts';
import { type LimitsProxy, startLimitsProxy } from '../../packages/bench/limits/limits-proxy.ts';
import { expectEnvelope } from '../support/answers.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { expectMerged, newAccount } from '../support/incidents.ts';
import { handlersOver, invokeAlone, newTable, PATIENCE, putAll, testDeps } from '../support/service.ts';

const QUICK = process.env.FAULTS === undefined;

const open: (() => unknown)[] = [];
const table = await newTable();
afterAll(() => Promise.all(open.map((close) => close())));

async function limited(
  limits: Parameters<typeof startLimitsProxy>[1] = {},
): Promise<{ own: Table; proxy: LimitsProxy }> {
  const proxy = await startLimitsProxy(dynamodbEndpoint(), limits);
  const own = connectTable({ name: table.name, endpoint: proxy.endpoint, timeouts: PATIENCE });
  open.push(proxy.close, () => own.client.destroy());
  return { own, proxy };
}

describe('a merge at the limits of DynamoDB', () => {
  it('of 95 alerts that together are more than 4 MB is moved', async () => {
    const { own } = await limited();
    const tenant = await newAccount(table);
    const to = await tenant.incident();
    const alerts = await tenant.alerts(95);
    const title = 'x'.repeat(44 * 1_024);
    await putAll(
      table,
      alerts.map((id) => ({ ...keys.alert(tenant.account, id), alert_id: id, title })),
    );
    expectEnvelope(
      await invokeAlone(handlersOver(testDeps(own)).mergeAlerts, tenant.event({ alert_ids: alerts, incident_id: to })),
      200,
    );
    const [{ sequence }] = await tenant.feed(to);
    await finishMerge(withSignal(own, AbortSignal.timeout(120_000)), tenant.account, { incidentId: to, sequence });
    await expectMerged(tenant, to, alerts);
  }, 180_000);
});

it('a large merge commits at its first call beside a continuous load of small ones, and none of these is refused', async () => {
  const tenant = await newAccount(table);
  const [to, other] = [await tenant.incident(), await tenant.incident()];
  // The short form is small enough for a busy machine.
  const transactionItems = QUICK ? 20 : 100;
  const trials = QUICK ? 3 : 10;
  const alerts = await tenant.alerts(QUICK ? 60 : 2_000);
  const small = await tenant.alerts(50);
  const { own } = await limited({ callMs: 5, transactionMs: 15 });
  const { mergeAlerts } = handlersOver(testDeps(own), { transactionItems });
  const call = async (alert_ids: string[], incident_id: string) =>
    (await invokeAlone(mergeAlerts, tenant.event({ alert_ids, incident_id }))).status;
  let over = false;
  const pressing = [0, 1].map(async (lane) => {
    const statuses: number[] = [];
    for (let sent = lane; !over; sent += 2) statuses.push(await call([small[sent % small.length] as string], other));
    return statuses;
  });
  const statuses: number[] = [];
  for (let trial = 0; trial < trials; trial += 1) statuses.push(await call(alerts, trial % 2 === 0 ? to : other));
  over = true;
  const pressed = (await Promise.all(pressing)).flat();
  expect(statuses).toEqual(statuses.map(() => 200));
  expect(pressed.filter((status) => status !== 200)).toEqual([]);
  expect(pressed.length).toBeGreaterThan(3);
  await tenant.finish(to);
  await tenant.finish(other);
  expect(await tenant.pending()).toEqual([]);
}, 300_000);
