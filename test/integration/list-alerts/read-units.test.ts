/**
 * The read units of a page of `/alert/list`, by AWS's rules, since DynamoDB Local counts an index otherwise: an eventually consistent query takes
 * half a unit for each started 4 KB of all that it returns, a batch half a unit for each started 4 KB of each row (Developer Guide, "DynamoDB read
 * and write operations").
 */
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it } from 'vitest';
import { SEVERITIES, type Severity } from '../../../lib/model/alert.ts';
import { listAlerts } from '../../../lib/operations/list-alerts/schema.ts';
import { alertIndex } from '../../../lib/table/alert-index.ts';
import { type Key, keys } from '../../../lib/table/keys.ts';
import { rowName } from '../../../lib/table/read.ts';
import { itemBytes } from '../../limits-proxy/item-size.ts';
import { createHandlers } from '../../support/handlers.ts';
import { newAccount, objectId } from '../../support/incidents.ts';
import { callAlone, testDeps } from '../../support/service.ts';
import { connectDouble, type KeysAndAttributes } from '../../table-double/client.ts';
import { TableDouble } from '../../table-double/table-double.ts';
import type { Item } from '../../table-double/values.ts';

const OPEN = process.env.FAULTS ? 100_000 : 5_000;
const NOW = 1_795_000_000_000;

const unitsOf = (items: readonly Item[]) =>
  Math.max(1, Math.ceil(items.reduce((bytes, item) => bytes + itemBytes(marshall(item)), 0) / 4_096)) / 2;

it(`a page of 50 of ${OPEN} open alerts takes at most 80 read units`, { timeout: 120_000 }, async () => {
  const empty = new TableDouble();
  const { account, appKey } = await newAccount(connectDouble(async (request) => empty.apply(request)));
  const rows = new Map(empty.rows);
  const put = (key: Key, row: Item) => rows.set(rowName(key), { ...row, pk: key.pk, sk: key.sk });
  for (let index = 0; index < OPEN; index += 1) {
    const [alert_id, incident_id, started_at_ms] = [objectId(), objectId(), NOW - index];
    const alert_severity = SEVERITIES[index % 3] as Severity;
    const row = { alert_id, incident_id, title: 't'.repeat(512), description: 'd'.repeat(256), alert_key: `k${index}` };
    put(keys.alert(account, alert_id), {
      ...row,
      alert_severity,
      started_at_ms,
      key_order: new Uint8Array(24),
      ...alertIndex.entry(account, { alert_id, alert_severity, started_at_ms }),
    });
    put(keys.incident(account, incident_id), { incident_id, title: 'i'.repeat(512) });
  }
  const double = new TableDouble(rows);
  let units = 0;
  const table = connectDouble(async (request) => {
    const reply = double.apply(request) as { Items?: Item[] };
    if (request.name === 'QueryCommand') units += unitsOf(reply.Items ?? []);
    for (const { Keys, ConsistentRead } of Object.values(
      (request.input.RequestItems ?? {}) as Record<string, KeysAndAttributes>,
    )) {
      expect(ConsistentRead).toBe(false);
      for (const { pk, sk } of Keys) units += unitsOf([rows.get(rowName({ pk, sk })) ?? {}]);
    }
    return reply;
  });
  const handlers = createHandlers(testDeps(table));
  const measure = async (body: object) => {
    units = 0;
    const { body: answer } = await callAlone(handlers, listAlerts, { appKey, body });
    expect([answer.data.items.length, answer.data.has_next_page]).toEqual([50, true]);
    return units;
  };
  expect(await measure({ limit: 50 })).toBe(62);
  expect(await measure({ limit: 50, alert_severity: 'Critical' })).toBe(54);
});
