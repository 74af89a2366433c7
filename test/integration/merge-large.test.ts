/** Merges of any size: how many rows their transactions have, and lost replies, changed rows and rows that cannot be updated. */
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { AlertsTooLargeError } from '../../lib/operations/merge-alerts/alerts.ts';
import { finishMerge } from '../../lib/operations/merge-alerts/finish.ts';
import { keys } from '../../lib/table/keys.ts';
import { adminOf } from '../../packages/admin/test/support/run-admin.ts';
import { itemBytes, MAX_ITEM_BYTES } from '../limits-proxy/item-size.ts';
import { expectEnvelope } from '../support/answers.ts';
import { connectionLost, losing, onceBefore } from '../support/faults.ts';
import { expectMerged, finishFeed, objectId } from '../support/incidents.ts';
import { newTable, put, putAll, stored, testDeps } from '../support/service.ts';
import { tapWire } from '../support/wire.ts';
import { newMergeInstance, newPendingScene, newScene, TRANSACTION_ITEMS } from './merging.ts';

const table = await newTable();

describe('the largest merge that fits into one transaction', () => {
  it.each([
    // The limit of DynamoDB.
    { rows: 100, maxAlerts: 97, fields: {}, key: false },
    ...[
      { maxAlerts: 9, fields: {}, key: false },
      { maxAlerts: 8, fields: { title: 'New' }, key: false },
      { maxAlerts: 7, fields: { owner_id: 1 }, key: false },
      { maxAlerts: 8, fields: {}, key: true },
      { maxAlerts: 7, fields: { title: 'New', owner_id: 1 }, key: false },
      { maxAlerts: 7, fields: { title: 'New' }, key: true },
      { maxAlerts: 6, fields: { owner_id: 1 }, key: true },
      { maxAlerts: 6, fields: { title: 'New', owner_id: 1 }, key: true },
    ].map((merge) => ({ rows: TRANSACTION_ITEMS, ...merge })),
  ])(
    'of $rows rows has $maxAlerts alerts when it sets $fields (Idempotency-Key: $key); one alert more takes several transactions',
    async ({ rows, maxAlerts, fields, key }) => {
      for (const count of [maxAlerts, maxAlerts + 1]) {
        const { tenant, to, alerts } = await newScene(table, { alerts: count });
        await tenant.member(1);
        const { table: own, mergeAlerts } = newMergeInstance(table, { transactionItems: rows });
        const tap = tapWire(own);
        const options = key ? { headers: { 'Idempotency-Key': 'k' } } : {};
        expectEnvelope(
          await tenant.merge(mergeAlerts, { alert_ids: alerts, incident_id: to, ...fields }, options),
          200,
        );
        await tenant.finish(to, rows);
        await expectMerged(tenant, to, alerts);
        expect(await tenant.incidentRow(to)).toMatchObject(fields);
        const sizes = tap.attempts
          .filter(({ command }) => command.startsWith('TransactWrite'))
          .map(({ body }) => (JSON.parse(body) as { TransactItems: unknown[] }).TransactItems.length);
        const incidentRows = 'title' in fields || 'owner_id' in fields ? 1 : 0;
        const largeCommit = 3 + incidentRows + Number('owner_id' in fields) + Number(key);
        if (count === maxAlerts) expect(sizes).toEqual([rows]);
        else expect(sizes[0]).toBe(largeCommit);
      }
    },
  );
});

it.each([
  [8, 'with'],
  [9, 'after'],
])(
  'a merge of %i alerts of 60 KB moves them %s its commit: the rows of a transaction have at most 500 KB',
  async (count, when) => {
    const { tenant, to, merge, finish } = await newScene(table, { alerts: 0 });
    const alerts = Array.from({ length: count }, objectId);
    const row = (id: string) => ({ ...keys.alert(tenant.account, id), alert_id: id, notes: 'x'.repeat(60_000) });
    await putAll(table, alerts.map(row));
    await merge(alerts, to);
    await finish(to);
    await expectMerged(tenant, to, alerts);
    expect((await tenant.feed(to))[0].large).toBe(when === 'after' ? true : undefined);
  },
);

it('a merge of 1,001 alerts moves them all, and is shown whole', async () => {
  const { tenant, from, to, alerts, merge } = await newScene(table, { alerts: 990 });
  alerts.push(...(await tenant.alerts(11)));
  await merge(alerts, to, { transactionItems: undefined });
  await tenant.finish(to);
  await expectMerged(tenant, to, alerts);
  const [entry] = await tenant.feed(to);
  expect(Object.keys(entry.moved).sort()).toEqual([from, 'none'].sort());
  const { out } = await adminOf(table)(`show incident ${to} --account ${tenant.account} --json`);
  expect(JSON.parse(out).feed).toMatchObject([{ moves: { length: 1_001 } }]);
});

describe('a lost reply', () => {
  it.each([5, 20])('to the commit of %i alerts is no failure and no second merge', async (count) => {
    const { tenant, to, alerts, merge } = await newScene(table, { alerts: count });
    let lost = 0;
    await merge(alerts, to, {
      async around({ command }, send) {
        await send();
        if (!command.startsWith('TransactWrite') || lost > 0) return;
        lost += 1;
        throw connectionLost();
      },
    });
    expect(lost).toBe(1);
    await expectMerged(tenant, to, alerts);
  });

  it('to a commit that was never applied is ServiceUnavailable, and nothing has changed', async () => {
    const { tenant, to, alerts, send } = await newScene(table, { alerts: 3 });
    const answer = await send({ alert_ids: alerts, incident_id: to }, { around: losing('TransactWrite') });
    expectEnvelope(answer, 503, 'ServiceUnavailable');
    expect(answer.headers['Retry-After']).toMatch(/^[1-9]\d*$/);
    expect(await tenant.feed(to)).toEqual([]);
  });
});

it('a merge reads an alert again that changes between its reads and its commit, so that its feed is correct', async () => {
  const { tenant, to, elsewhere, merge } = await newScene(table, { alerts: 0 });
  const [alert = ''] = await tenant.alerts(1);
  const key = keys.alert(tenant.account, alert);
  const change = () => put(table, key, { alert_id: alert, title: 'x', incident_id: elsewhere });
  await merge([alert], to, { around: onceBefore('TransactWrite', change) });
  expect((await tenant.feed(to))[0].moved).toEqual({ [elsewhere]: [alert] });
  expect(await stored(table, key)).toMatchObject({ incident_id: to });
});

it.each([
  { row: 'member', count: 3 },
  { row: 'member', count: 20 },
  { row: 'incident', count: 3 },
  { row: 'incident', count: 20 },
] as const)(
  'a merge of $count alerts whose $row is deleted before its commit is ResourceNotFound, and changes nothing',
  async ({ row, count }) => {
    const { tenant, from, to, alerts, send } = await newScene(table, { alerts: count });
    await tenant.member(12);
    const key = row === 'member' ? keys.member(tenant.account, 12) : keys.incident(tenant.account, to);
    const deletion = new DeleteCommand({ TableName: table.name, Key: key });
    const around = onceBefore('TransactWrite', () => table.client.send(deletion));
    const before = await tenant.incidentRow(to);
    const answer = await send({ alert_ids: alerts, incident_id: to, title: 'New', owner_id: 12 }, { around });
    expectEnvelope(answer, 400, 'ResourceNotFound');
    expect(answer.body.error.message).toContain(row === 'member' ? 'member 12' : `incident ${to}`);
    expect(await tenant.feed(to)).toEqual([]);
    expect(new Set(await tenant.placements(alerts))).toEqual(new Set([from]));
    expect(await tenant.incidentRow(to)).toEqual(row === 'member' ? before : undefined);
  },
);

describe('an alert whose row cannot be updated', () => {
  const SEQUENCE = 999_999_999_999_999;

  /** Fills an alert's row so that only `room` still fits below DynamoDB's limit, which counts keys, names and values. */
  async function fill(account: number, alert_id: string, room: Record<string, unknown> = {}): Promise<void> {
    const key = keys.alert(account, alert_id);
    const empty = itemBytes(marshall({ ...key, alert_id, title: '' }));
    const length = MAX_ITEM_BYTES - empty - itemBytes(marshall(room));
    await put(table, key, { alert_id, title: 'x'.repeat(length) });
  }

  it('fails a small merge, and the answer names it', async () => {
    const { tenant, to, alerts, send, merge } = await newScene(table, { alerts: 5 });
    const [fullAlert = ''] = alerts;
    await fill(tenant.account, fullAlert);
    const answer = await send({ alert_ids: alerts, incident_id: to, title: 'New' });
    expectEnvelope(answer, 400, 'BadRequest');
    expect(answer.body.error.message).toContain(fullAlert);
    expect(await tenant.feed(to)).toEqual([]);

    // As large as it can be and still be moved.
    await fill(tenant.account, fullAlert, { incident_id: to, moved_sequence: SEQUENCE });
    await merge(alerts, to);
    await expectMerged(tenant, to, alerts);
  });

  it('leaves a large merge pending: the log names it, and the other alerts of the merge are moved', async () => {
    const { tenant, to, elsewhere, alerts, merge } = await newPendingScene(table);
    const [fullAlerts, others] = [alerts.slice(0, 2), alerts.slice(2)];
    for (const id of fullAlerts) await fill(tenant.account, id);
    const feed = await tenant.feed(to);
    const { sequence } = feed[0];
    const deps = testDeps(table);
    const error = await finishFeed(table, feed, { deps }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AlertsTooLargeError);
    const { alertIds } = error as AlertsTooLargeError;
    expect(alertIds.toSorted()).toEqual(fullAlerts.toSorted());
    // The log line that docs/operate.md tells the operator to look for.
    const entry = { account_id: tenant.account, incident_id: to, sequence };
    const fields = { ...entry, error_name: 'AlertsTooLargeError', alert_ids: alertIds };
    expect(deps.log.lines).toEqual([{ level: 'error', message: 'merge not finished', fields }]);
    expect(new Set(await tenant.placements(others))).toEqual(new Set([to]));
    expect(await tenant.pending()).toEqual([String(sequence)]);

    // Later merges do not wait for them.
    await merge(others.slice(0, 1), elsewhere);
    expect(await tenant.placements(others.slice(0, 1))).toEqual([elsewhere]);

    // What the operator can do: make the rows smaller.
    for (const id of fullAlerts) await put(table, keys.alert(tenant.account, id), { alert_id: id, title: '' });
    expect(await finishMerge(table, tenant.account, { incidentId: to, sequence })).toBe('finished');
    expect(new Set(await tenant.placements(fullAlerts))).toEqual(new Set([to]));
    expect(await tenant.pending()).toEqual([]);
  });
});
