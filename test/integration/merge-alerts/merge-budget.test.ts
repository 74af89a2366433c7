/** What merges of many alerts read. The table in memory counts a read of a missing row, as DynamoDB does. */
import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { keys } from '../../../lib/table/keys.ts';
import { itemBytes } from '../../limits-proxy/item-size.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { objectId } from '../../support/incidents.ts';
import { NOW, stored } from '../../support/service.ts';
import type { Request } from '../../table-double/client.ts';
import { isTransaction, newWorld, noReply } from './merging.ts';

interface Capacity {
  ConsumedCapacity?: { CapacityUnits: number }[];
}

/** A world whose merges go through a connection that counts their read units. */
async function newCountingWorld(alertCount: number) {
  const world = await newWorld(alertCount);
  let units = 0;
  const clock = { now: NOW };
  const through = world.connect((request: Request) => {
    const reply = world.apply(request);
    const { ConsumedCapacity = [] } = reply as Capacity;
    units += request.name === 'GetCommand' ? 1 : ConsumedCapacity.reduce((sum, used) => sum + used.CapacityUnits, 0);
    return reply;
  });
  const send = (body: Parameters<typeof world.send>[0], key?: string) =>
    world.send(body, { through, now: () => clock.now, limits: {}, key });
  return { ...world, send, clock, units: () => units };
}

describe('a merge that fails, or was done before, reads little', () => {
  it.each([
    ['9,600 unknown alerts', [0, 9_600, 0], 503, [/and 490 more/, /9100 alerts/]],
    ['3,000 alerts, of which the 151st is unknown', [150, 1, 2_849], 503, [/2500 alerts/]],
  ] as const)(
    'of %s, and says that it did not look for all of them',
    async (_what, [before, unknown, after], max, texts) => {
      const { tenant, one, alerts, send, units } = await newCountingWorld(before);
      const alert_ids = [...alerts, ...Array.from({ length: unknown }, objectId), ...(await tenant.alerts(after))];
      const answer = await send({ alert_ids, incident_id: one });
      expectEnvelope(answer, 400, 'ResourceNotFound');
      for (const text of texts) expect(answer.body.error.message).toMatch(text);
      // The app key, the log head and the incident are three of them.
      expect(units()).toBeLessThanOrEqual(max);
    },
  );

  it('of an unknown incident, or with the Idempotency-Key of another', async () => {
    const { one, alerts, send, units } = await newCountingWorld(500);
    const unknown = objectId();
    const refused = await send({ alert_ids: alerts, incident_id: unknown });
    expect(refused.body.error.message).toContain(`incident ${unknown}`);
    expect(units()).toBeLessThanOrEqual(3);
    expectEnvelope(await send({ alert_ids: alerts, incident_id: one }, 'once'), 200);
    const before = units();
    expect((await send({ alert_ids: alerts, incident_id: one }, 'once')).headers['Idempotent-Replayed']).toBe('true');
    expect(units() - before).toBeLessThanOrEqual(4);
  });
});

describe("the budget of read units for an account's merges", () => {
  it('once used up, refuses large merges of the account, but neither small ones nor those of a later time', async () => {
    const { table, tenant, one, alerts, send, clock, units } = await newCountingWorld(3_900);
    // The last alert is unknown, so that each merge reads them all and changes nothing.
    const body = { alert_ids: [...alerts, objectId()], incident_id: one };
    const statuses: number[] = [];
    for (let call = 0; call < 8; call += 1) statuses.push((await send(body)).status);
    expect(statuses).toEqual([400, 400, 400, 429, 429, 429, 429, 429]);
    // A refused call reads its app key, the log head and the incident.
    expect(units()).toBeLessThanOrEqual(12_000 + 8 * 3);
    clock.now = NOW + 500;
    const refused = await send(body);
    expectEnvelope(refused, 429, 'RequestTooFrequently');
    expect(refused.headers['Retry-After']).toBe('3');
    expect(refused.body.error.message).toContain('12000');
    expectEnvelope(await send({ alert_ids: alerts.slice(0, 90), incident_id: one }), 200);

    clock.now = NOW + 3_000;
    expect((await send(body)).status).toBe(400);
    const { total } = await stored(table, keys.rateCount(tenant.account, 'merge-alerts', NOW / 60_000));
    expect(total).toBeGreaterThanOrEqual(4 * 3_901);
    expect(total).toBeLessThan(4 * 3_910);
  });

  it('is counted in a row below 1 KB, however many merges take from it', async () => {
    const { table, tenant, one, send, clock } = await newCountingWorld(0);
    const body = { alert_ids: Array.from({ length: 130 }, objectId), incident_id: one };
    for (let call = 0; call < 200; call += 1) {
      clock.now = NOW + 299 * call;
      expect((await send(body)).status).toBe(400);
    }
    const row = await stored(table, keys.rateCount(tenant.account, 'merge-alerts', NOW / 60_000));
    expect(row.total).toBeGreaterThanOrEqual(200 * 130);
    expect(itemBytes(marshall(row))).toBeLessThan(1_024);
  });

  it('does not refuse a merge that was done before', async () => {
    const { one, alerts, send } = await newCountingWorld(6_001);
    const body = { alert_ids: alerts, incident_id: one };
    expectEnvelope(await send(body, 'once'), 200);
    expectEnvelope(await send(body), 429, 'RequestTooFrequently');
    expect((await send(body, 'once')).headers['Idempotent-Replayed']).toBe('true');
  });

  it('is enough for the largest merge', async () => {
    const { tenant, one, alerts, send, apply, connect } = await newWorld(9_700);
    let committed = false;
    // The moves are made to fail: the budget is for the reads before the commit.
    const through = connect((request) => {
      if (committed && isTransaction(request)) throw noReply();
      committed ||= isTransaction(request);
      return apply(request);
    });
    expectEnvelope(await send({ alert_ids: alerts, incident_id: one }, { through, limits: {} }), 200);
    expect(await tenant.pending()).toHaveLength(1);
  });
});
