import { afterEach, describe, expect, it } from 'vitest';
import { getRumResource } from '../../../../lib/operations/get-rum-resource/schema.ts';
import { newCaller } from '../../../../test/support/accounts.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { newAccount } from '../../../../test/support/incidents.ts';
import {
  connectThrough,
  createHandlers,
  eventFor,
  invokeAlone,
  newTable,
  PATIENT_LIMITS,
  testDeps,
} from '../../../../test/support/service.ts';
import { type Failure, startFailingTable } from '../../failing-table.ts';

const table = await newTable();
let stop = async () => {};
afterEach(() => stop());

async function failingTable(...failures: Failure[]) {
  const proxy = await startFailingTable(dynamodbEndpoint(), failures);
  stop = proxy.close;
  return proxy;
}

// The contract covers live-status, inventory and table.
describe('npm start -- --fail', () => {
  it('throttle: calls answer 503', async () => {
    const { appKey } = await newCaller(table);
    const handlers = createHandlers(testDeps(connectThrough(table, await failingTable('throttle'))));
    const answer = await invokeAlone(handlers.getRumResource, eventFor(getRumResource, { appKey, body: {} }));
    expect(answer).toMatchObject({ status: 503, body: { error: { code: 'ServiceUnavailable' } } });
  });

  it.runIf(process.platform === 'linux')('is for this machine only', async () => {
    const { port } = new URL((await failingTable()).endpoint);
    await expect(fetch(`http://127.0.0.2:${port}`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });

  it('moves: a large merge is committed and stays pending; a small one is moved', async () => {
    const tenant = await newAccount(table);
    const [largeIncident, smallIncident] = [await tenant.incident(), await tenant.incident()];
    const alerts = await tenant.alerts(12);
    const timeLimits = { ...PATIENT_LIMITS, callMs: 1_500 };
    const deps = testDeps(connectThrough(table, await failingTable('moves')), { timeLimits });
    const { mergeAlerts } = createHandlers(deps, { transactionItems: 8 });
    const small = await tenant.merge(mergeAlerts, { alert_ids: alerts.slice(0, 2), incident_id: smallIncident });
    expect([small.status, await tenant.placements(alerts.slice(0, 2))]).toEqual([200, [smallIncident, smallIncident]]);
    expect((await tenant.merge(mergeAlerts, { alert_ids: alerts, incident_id: largeIncident })).status).toBe(200);
    expect(await tenant.pending()).toHaveLength(1);
    expect(await tenant.placements(alerts)).not.toContain(largeIncident);
  });
});
