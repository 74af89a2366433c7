/**
 * The read units of a page of each list, by AWS's rules, since DynamoDB Local counts an index otherwise: an eventually consistent query takes
 * half a unit for each started 4 KB of all that it returns, a batch half a unit for each started 4 KB of each row (Developer Guide, "DynamoDB read
 * and write operations").
 */
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it } from 'vitest';
import type { Operation } from '../../../lib/http/operation.ts';
import { SEVERITIES, type Severity } from '../../../lib/model/alert.ts';
import { orderOfTime } from '../../../lib/model/order.ts';
import { listAlerts } from '../../../lib/operations/list-alerts/schema.ts';
import { listIncidents } from '../../../lib/operations/list-incidents/schema.ts';
import { listMembers } from '../../../lib/operations/list-members/schema.ts';
import { alertIndex } from '../../../lib/table/alert-index.ts';
import { type Key, keys } from '../../../lib/table/keys.ts';
import { rowName } from '../../../lib/table/read.ts';
import { itemBytes } from '../../limits-proxy/item-size.ts';
import { intercepted } from '../../support/faults.ts';
import { newAccount } from '../../support/incidents.ts';
import { callAlone, createHandlers, newDouble, testDeps } from '../../support/service.ts';
import type { KeysAndAttributes } from '../../table-double/client.ts';
import { TableDouble } from '../../table-double/table-double.ts';
import type { Item } from '../../table-double/values.ts';

const ROWS = process.env.FAULTS ? 100_000 : 5_000;
const NOW = 1_795_000_000_000;
const idOf = (index: number) => index.toString(16).padStart(24, '0');

const unitsOf = (items: readonly Item[]) =>
  Math.max(1, Math.ceil(items.reduce((bytes, item) => bytes + itemBytes(marshall(item)), 0) / 4_096)) / 2;

/** Bytes of the labels of the largest row that records make of an alert, beside what {@link newAccountOf} puts into each. */
const LARGEST_LABELS = 7_800;

/**
 * An account with as many alerts, of which every second has ended, each in another incident with another owner. @param titleOf the title of an incident, once by a record, once by a merge
 */
async function newAccountOf(count: number, titleOf: (index: number) => string, name: string, label = '') {
  const empty = new TableDouble();
  const { account, appKey } = await newAccount(newDouble(empty));
  const rows = new Map(empty.rows);
  const put = (key: Key, row: Item) => rows.set(rowName(key), { ...row, pk: key.pk, sk: key.sk });
  for (let index = 0; index < count; index += 1) {
    const [alert_id, incident_id, started_at_ms] = [idOf(index), idOf(index), NOW - index];
    const alert_severity = SEVERITIES[index % 3] as Severity;
    const ended_at_ms = index % 2 === 1 ? NOW : undefined;
    const row = { alert_id, incident_id, title: 't'.repeat(512), description: 'd'.repeat(256), alert_key: `k${index}` };
    put(keys.alert(account, alert_id), {
      ...row,
      alert_severity,
      started_at_ms,
      ...(ended_at_ms && { ended_at_ms }),
      ...(label && { labels: { label } }),
      key_order: new Uint8Array(24),
      ...alertIndex.entry(account, { alert_id, alert_severity, started_at_ms, ended_at_ms }),
    });
    put(keys.alertKey(account, `k${index}`), { alert_id });
    const order = orderOfTime(NOW);
    const title = titleOf(index);
    put(keys.incident(account, incident_id), {
      ...{ incident_id, title, feed_title: title, title_order: order, owner_id: index, owner_order: order },
      created_at_ms: NOW,
    });
    put(keys.member(account, index), { member_id: index, name, row_order: order });
  }
  let units = 0;
  const table = intercepted(newDouble(new TableDouble(rows)), async (read, { name, input }) => {
    const reply = (await read()) as { Items?: Item[] };
    const before = units;
    if (name === 'QueryCommand') units += unitsOf(reply.Items ?? []);
    for (const { Keys, ConsistentRead } of Object.values<KeysAndAttributes>(input.RequestItems ?? {})) {
      expect(ConsistentRead).toBe(false);
      for (const { pk, sk } of Keys) units += unitsOf([rows.get(rowName({ pk, sk })) ?? {}]);
    }
    const used = { CapacityUnits: units - before };
    return { ...reply, ConsumedCapacity: reply.Items ? used : [used] };
  });
  const handlers = createHandlers(testDeps(table));
  /** The items, units, and whether more follow, of a page. */
  return async (operation: Pick<Operation, 'path'>, body: object) => {
    units = 0;
    const { data } = (await callAlone(handlers, operation as typeof listAlerts, { appKey, body })).body;
    return [data.items.length, units, data.has_next_page];
  };
}

const LIMITS = [20, 50, 100];
const TIMES = { start_time: NOW / 1_000 - 86_400, end_time: NOW / 1_000 + 1 };
const alert_keys = Array.from({ length: 100 }, (_, index) => `k${index}`);
const BY_KEYS = { alert_keys: Array.from({ length: 100 }, (_, index) => `k${100 + index}`) };
const incident_ids = Array.from({ length: 100 }, (_, index) => idOf(index));

it(`pages of ${ROWS} rows of up to 1 KB`, { timeout: 240_000 }, async () => {
  const measure = await newAccountOf(ROWS, () => 'i'.repeat(128), 'n'.repeat(32));
  for (const [operation, body, units] of [
    [listAlerts, {}, [26, 56, 106]],
    [listAlerts, { alert_severity: 'Critical,Critical' }, [22, 53, 104]],
    [listAlerts, TIMES, [34, 64, 114]],
    [listAlerts, { ...TIMES, is_active: false }, [28, 58, 108]],
    [listIncidents, {}, [11.5, 28, 56]],
    [listIncidents, { query: 'I' }, [15, 30, 59.5]],
    [listMembers, {}, [0.5, 1, 2]],
  ] as const)
    for (const [index, limit] of LIMITS.entries())
      expect(await measure(operation, { ...body, limit }), operation.path).toEqual([limit, units[index], true]);
  expect(await measure(listAlerts, { ...TIMES, start_time: NOW / 1_000, limit: 100 })).toEqual([1, 15, false]);
  expect(await measure(listAlerts, { alert_keys, limit: 100 })).toEqual([100, 150, false]);
  expect(await measure(listIncidents, { incident_ids, limit: 100 })).toEqual([100, 100, false]);
});

const LARGEST = '🔥'.repeat(512);
it.each<[what: string, Pick<Operation, 'path'>, body: object, page: [items: number, units: number]]>([
  ['incidents', listIncidents, {}, [95, 97.5]],
  ['incidents that fit', listIncidents, { query: '🔥' }, [95, 97.5]],
  ['incidents by their ids', listIncidents, { incident_ids }, [50, 75]],
  ['incidents by their ids, of which half are small', listIncidents, { incident_ids, asc: true }, [50, 100]],
  ['members', listMembers, {}, [100, 26.5]],
  ['alerts', listAlerts, { ...TIMES, asc: true }, [100, 264]],
  ['alerts by their keys', listAlerts, BY_KEYS, [100, 300]],
])('a page of the largest %s takes at most 100, of alerts 300', async (_what, operation, body, page) => {
  const measure = await newAccountOf(300, (index) => (index < 50 ? 'i' : LARGEST), LARGEST, 'l'.repeat(LARGEST_LABELS));
  expect(await measure(operation, { limit: 100, ...body })).toEqual([...page, body !== BY_KEYS]);
});
