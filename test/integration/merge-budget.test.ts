import { afterAll, describe, expect, it } from 'vitest';
import { connectTable } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { startLimitsProxy } from '../limits-proxy/limits-proxy.ts';
import { expectEnvelope } from '../support/answers.ts';
import { dynamodbEndpoint } from '../support/dynamodb-local.ts';
import { aroundCalls, connectionLost } from '../support/faults.ts';
import { type Account, newAccount, objectId } from '../support/incidents.ts';
import { handlersOver, NOW, newTable, PATIENCE, stored, testDeps } from '../support/service.ts';

const clock = { now: NOW };
const table = await newTable();
// The proxy counts a read of a missing row as DynamoDB does; DynamoDB Local does not.
const proxy = await startLimitsProxy(dynamodbEndpoint(), { writeUnits: 1e9, readUnits: 1e9 });
const through = connectTable({ name: table.name, endpoint: proxy.endpoint, timeouts: PATIENCE });
afterAll(async () => {
  through.client.destroy();
  await proxy.close();
});

const newHandler = () => handlersOver(testDeps(through, { now: () => clock.now })).mergeAlerts;

/** The read units that calls take. */
async function readUnitsOf(calls: () => Promise<unknown>): Promise<number> {
  const sum = () => [...proxy.usages().values()].reduce((units, { read }) => units + read, 0);
  const before = sum();
  await calls();
  return sum() - before;
}

describe('a merge that fails, or was done before, reads little', () => {
  const expectMissing = async (tenant: Account, body: object, ...texts: string[]) => {
    const answer = await tenant.merge(newHandler(), body);
    expectEnvelope(answer, 400, 'ResourceNotFound');
    for (const text of texts) expect(answer.body.error.message).toContain(text);
  };

  it('of 9,600 unknown alerts, and says that it did not look for all of them', async () => {
    const tenant = await newAccount(table);
    const body = { alert_ids: Array.from({ length: 9_600 }, objectId), incident_id: await tenant.incident() };
    const missing = [`alert ${body.alert_ids[9]} and 90 more`, '9500 alerts'];
    // Three of the 103 units read the app key's row, the merge order and the incident.
    expect(await readUnitsOf(() => expectMissing(tenant, body, ...missing))).toBeLessThanOrEqual(103);
  });

  it('of an unknown incident, and of alerts of which the 151st is unknown', async () => {
    const tenant = await newAccount(table);
    const [incident_id, alert_ids, unknown] = [await tenant.incident(), await tenant.alerts(3_000), objectId()];
    const withUnknownIncident = () => expectMissing(tenant, { alert_ids, incident_id: unknown }, `incident ${unknown}`);
    expect(await readUnitsOf(withUnknownIncident)).toBeLessThanOrEqual(3);
    const body = { alert_ids: alert_ids.with(150, unknown), incident_id };
    const withUnknownAlert = () => expectMissing(tenant, body, `alert ${unknown}.`, '1300 alerts');
    expect(await readUnitsOf(withUnknownAlert)).toBeLessThanOrEqual(1_703);
  });

  it('when it was done before under its Idempotency-Key', async () => {
    const tenant = await newAccount(table);
    const body = { alert_ids: await tenant.alerts(500), incident_id: await tenant.incident() };
    const merge = () => tenant.merge(newHandler(), body, { headers: { 'Idempotency-Key': 'once' } });
    expectEnvelope(await merge(), 200);
    const again = async () => expect((await merge()).headers['Idempotent-Replayed']).toBe('true');
    expect(await readUnitsOf(again)).toBeLessThanOrEqual(4);
  });
});

describe("the budget of read units for an account's merges", () => {
  it('once used up, refuses large merges of the account, but neither small ones nor those of other accounts', async () => {
    const [tenant, neighbour] = [await newAccount(table), await newAccount(table)];
    const to = await tenant.incident();
    // The last alert is unknown, so that each merge reads them all and changes nothing.
    const alert_ids = [...(await tenant.alerts(3_900)), objectId()];
    const statuses: number[] = [];
    const send = async () => {
      const answer = await tenant.merge(newHandler(), { alert_ids, incident_id: to });
      statuses.push(answer.status);
      return answer;
    };
    const units = await readUnitsOf(async () => {
      for (let call = 0; call < 8; call += 1) await send();
    });
    expect(statuses).toEqual([400, 400, 400, 429, 429, 429, 429, 429]);
    // A refused call reads its app key and a first batch.
    expect(units).toBeLessThanOrEqual(12_000 + 8 * 101);
    clock.now = NOW + 500;
    const refused = await send();
    expectEnvelope(refused, 429, 'RequestTooFrequently');
    expect(refused.headers['Retry-After']).toBe('3');
    expect(refused.body.error.message).toContain('12000');

    const smallMerge = { alert_ids: alert_ids.slice(0, 90), incident_id: to };
    expectEnvelope(await tenant.merge(newHandler(), smallMerge), 200);
    const mergeOfNeighbour = { alert_ids: await neighbour.alerts(500), incident_id: await neighbour.incident() };
    expectEnvelope(await neighbour.merge(newHandler(), mergeOfNeighbour), 200);

    clock.now = NOW + 3_000;
    expect((await send()).status).toBe(400);
    const { total } = await stored(table, keys.rateCount(tenant.account, 'merge-alerts', NOW / 60_000));
    expect(total).toBeGreaterThanOrEqual(4 * 3_901);
  });

  it('is enough for the largest merge', async () => {
    const tenant = await newAccount(table);
    clock.now = NOW + 60_000;
    const body = { alert_ids: await tenant.alerts(9_700), incident_id: await tenant.incident() };
    // The moves are made to fail: the budget is for the reads before the commit.
    let committed = false;
    const stopIntercepting = aroundCalls(through, async ({ command }, send) => {
      if (committed && command.startsWith('TransactWrite')) throw connectionLost();
      committed ||= command.startsWith('TransactWrite');
      await send();
    });
    expectEnvelope(await tenant.merge(newHandler(), body), 200);
    stopIntercepting();
    expect(committed).toBe(true);
  });
});
