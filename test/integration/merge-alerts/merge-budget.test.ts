/** What merges read and may write. The table in memory counts a read of a missing row, as DynamoDB does. */
import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { keys } from '../../../lib/table/keys.ts';
import { itemBytes } from '../../limits-proxy/item-size.ts';
import { expectEnvelope } from '../../support/answers.ts';
import { intercepted } from '../../support/faults.ts';
import { objectId } from '../../support/incidents.ts';
import { NOW, putAll, stored } from '../../support/service.ts';
import { newWorld } from './merging.ts';

interface Capacity {
  ConsumedCapacity?: { CapacityUnits: number }[];
}

/** A world whose merges go through a connection that counts their read units. Each merge is the first of its function. */
async function newCountingWorld(alertCount: number) {
  const world = await newWorld(alertCount);
  let units = 0;
  const clock = { now: NOW };
  const through = intercepted(world.table, async (send, { name }) => {
    const reply = await send();
    const { ConsumedCapacity = [] } = reply as Capacity;
    units += name === 'GetCommand' ? 1 : ConsumedCapacity.reduce((sum, used) => sum + used.CapacityUnits, 0);
    return reply;
  });
  const send = (body: Parameters<typeof world.send>[0], key?: string) =>
    world.send(body, { through, now: () => clock.now, limits: {}, key });
  return {
    ...world,
    ...{ send, clock, units: () => units },
    /** Alerts whose rows have this size when a merge has written them. */
    alertsOf(count: number, bytes: number) {
      const ids = Array.from({ length: count }, objectId);
      const rowOf = (id: string) => ({
        ...keys.alert(world.tenant.account, id),
        alert_id: id,
        incident_id: id,
        title: '',
      });
      const title = 'x'.repeat(bytes - 93 - itemBytes(marshall(rowOf(objectId()))));
      const rows = ids.map((id) => ({ ...rowOf(id), title }));
      return putAll(world.table, rows).then(() => ids);
    },
    /** Write units that the merges of the account have reserved in this minute. */
    reserved: async () => {
      const key = keys.rateCount(world.tenant.account, 'merge-alerts', Math.floor(clock.now / 60_000));
      return (await stored(world.table, key))?.total ?? 0;
    },
  };
}

it('a merge into an unknown incident, or with the Idempotency-Key of another, reads no alert', async () => {
  const { one, alerts, send, units } = await newCountingWorld(500);
  const unknown = objectId();
  const refused = await send({ alert_ids: alerts, incident_id: unknown });
  expect(refused.body.error.message).toMatch(RegExp(`incident ${unknown}.*500 alerts`));
  expect(units()).toBeLessThanOrEqual(3);
  expectEnvelope(await send({ alert_ids: alerts, incident_id: one }, 'once'), 200);
  const before = units();
  expect((await send({ alert_ids: alerts, incident_id: one }, 'once')).headers['Idempotent-Replayed']).toBe('true');
  expect(units() - before).toBeLessThanOrEqual(4);
});

describe("the budget of write units for an account's merges", () => {
  it('once used up, refuses each merge until the window ends, and counts what fails', async () => {
    const { one, alerts, send, clock, units, reserved } = await newCountingWorld(2_999);
    // The last alert is unknown, so that each merge reads them all and changes nothing.
    const body = { alert_ids: [...alerts, objectId()], incident_id: one };
    const statuses: number[] = [];
    for (let call = 0; call < 8; call += 1) statuses.push((await send(body)).status);
    expect(statuses).toEqual([400, 400, 429, 429, 429, 429, 429, 429]);
    // A refused call reads its app key, the log head and the incident.
    expect(units()).toBeLessThanOrEqual(2 * 3_000 + 8 * 3);
    clock.now = NOW + 500;
    const refused = await send({ alert_ids: alerts.slice(0, 1), incident_id: one });
    expectEnvelope(refused, 429, 'RequestTooFrequently');
    expect(refused.headers['Retry-After']).toBe('3');
    expect(refused.body.error.message).toContain('at most 12000 write units per 3 seconds');

    clock.now = NOW + 3_000;
    expectEnvelope(await send({ alert_ids: alerts.slice(0, 1), incident_id: one }), 200);
    expect(await reserved()).toBe(12_002);
  });

  it.each([1, 41])('refuses a merge of %i before it looks for what exists, but not a replay', async (count) => {
    const { one, two, alerts, send } = await newCountingWorld(6_000);
    const some = alerts.slice(0, count);
    expectEnvelope(await send({ alert_ids: some, incident_id: one }, 'once'), 200);
    for (const alert_ids of [alerts.slice(count), some]) await send({ alert_ids, incident_id: objectId() });
    expect((await send({ alert_ids: some, incident_id: one }, 'once')).headers['Idempotent-Replayed']).toBe('true');
    for (const incident_id of [two, objectId()])
      expectEnvelope(await send({ alert_ids: some, incident_id }, 'once'), 429, 'RequestTooFrequently');
  });

  it.each([
    ['1 KB', 1_024, 2],
    ['a byte more', 1_025, 4],
    ['8 KB', 8_192, 16],
  ])('takes two for each KB begun of an alert, of %s in merges of any size', async (_what, bytes, units) => {
    const { one, alertsOf, send, clock, reserved } = await newCountingWorld(0);
    for (const count of [1, 40, 41, 94, 101, 350]) {
      clock.now += 60_000;
      expectEnvelope(await send({ alert_ids: await alertsOf(count, bytes), incident_id: one }), 200);
      expect(await reserved(), `${count} alerts`).toBe(count * units);
    }
  });

  it('cannot be spared by an order of the alerts, since it reads others of them whole each time', async () => {
    const { one, alertsOf, send, clock, reserved } = await newCountingWorld(0);
    const [small, large] = [await alertsOf(100, 1_024), await alertsOf(1_100, 4_096)];
    const alert_ids = small.flatMap((id, index) => [id, ...large.slice(11 * index, 11 * (index + 1))]);
    const counts: number[] = [];
    for (let call = 0; call < 8; call += 1) {
      clock.now += 60_000;
      expectEnvelope(await send({ alert_ids, incident_id: one }), 200);
      counts.push(await reserved());
    }
    // By chance all of them are small once in 12 merges.
    expect(Math.max(...counts)).toBe(1_200 * 8);
  });

  it('lets one above it pass if nothing else has used the window, and nothing is merged if something has', async () => {
    const { tenant, one, alertsOf, send, clock, reserved } = await newCountingWorld(0);
    const alert_ids = await alertsOf(800, 8_192);
    expectEnvelope(await send({ alert_ids, incident_id: one }), 200);
    expect(await reserved()).toBe(12_800);
    clock.now += 3_000;
    expectEnvelope(await send({ alert_ids: alert_ids.slice(0, 1), incident_id: one }), 200);
    expectEnvelope(await send({ alert_ids, incident_id: one }), 429, 'RequestTooFrequently');
    expect(await reserved()).toBe(12_800 + 16 + 1_600);
    expect(await tenant.history(one)).toHaveLength(2);
  });

  it('bounds what 38 merges of 500 alerts read at once', async () => {
    const { one, alertsOf, send, units } = await newCountingWorld(0);
    const alert_ids = await alertsOf(500, 9_000);
    const answers = await Promise.all(Array.from({ length: 38 }, () => send({ alert_ids, incident_id: one })));
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 429)).toEqual([]);
    expect(units()).toBeLessThanOrEqual(12 * 500 * 3 + 38 * 3);
  });

  it('is counted in a row below 1 KB, however many merges take from it', async () => {
    const { table, tenant, one, send, clock } = await newCountingWorld(0);
    const body = { alert_ids: [objectId()], incident_id: one };
    for (let call = 0; call < 200; call += 1) {
      clock.now = NOW + 299 * call;
      expect((await send(body)).status).toBe(400);
    }
    const row = await stored(table, keys.rateCount(tenant.account, 'merge-alerts', NOW / 60_000));
    expect(row.total).toBe(200 * 2);
    expect(itemBytes(marshall(row))).toBeLessThan(1_024);
  });
});
