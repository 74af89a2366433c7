/** What records do to rows, besides what `test/schedules/ingest-records` says: attributes of the service, callers, operators and merges. */
import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import { stringifyJson } from '../../../lib/shared/json.ts';
import { keys } from '../../../lib/table/keys.ts';
import { restoreWorkItem } from '../../../packages/admin/incidents/restore-work-item.ts';
import { itemBytes } from '../../limits-proxy/item-size.ts';
import { RUM_RECORD } from '../../support/accounts.ts';
import { intercepted } from '../../support/faults.ts';
import { newAccount } from '../../support/incidents.ts';
import { ingestOver } from '../../support/ingest.ts';
import { callAlone, createHandlers, newTable, stored, testDeps } from '../../support/service.ts';

const NOW = 1_795_000_000_000;
const table = await newTable();

async function newTenant() {
  const tenant = await newAccount(table);
  const { account, appKey } = tenant;
  const handlers = createHandlers(testDeps(table, { now: () => NOW }));
  const ingest = ingestOver(table, () => NOW);
  const record = (kind: string, fields: object, at_ms?: number) => ({ kind, account_id: account, at_ms, ...fields });
  const itemRow = () => stored(table, keys.workItem(account, 'w'));
  return {
    ...tenant,
    ingest,
    record,
    send: (kind: string, fields: object, at_ms = NOW) => ingest.send(record(kind, fields, at_ms)),
    /** The record of the work item. */
    item: (fields: object, at: number) =>
      record('work_item', { work_item_id: 'w', version: 1, title: 't', ...fields }, at),
    itemRow,
    async remove(version: number) {
      const body = { work_item_id: 'w', version };
      expect((await callAlone(handlers, deleteWorkItem, { appKey, body })).status).toBe(200);
    },
    restore: async () => expect(await restoreWorkItem(table, account, await itemRow(), [])).toBe(true),
    mergeAlerts: async (body: object) => expect((await tenant.merge(handlers.mergeAlerts, body)).status).toBe(200),
  };
}

describe('a work item', () => {
  it('that a caller has deleted stays as it is, and the deletion can be retried', async () => {
    const { ingest, item, itemRow, remove } = await newTenant();
    // Fields of any name.
    const more = { constructor: [1], toString: { constructor: 'x', toJSON: null } };
    await ingest.send(item({ ...more, undone_deletion: { version: 1, at_ms: 1 } }, NOW - 10));
    await remove(1);
    const deleted = await itemRow();
    expect(deleted).toMatchObject({ title: 't', version: 2, ...more });
    expect(deleted).not.toHaveProperty('undone_deletion');
    await ingest.send(item({ title: 'new' }, NOW), item({ deleted_at_ms: NOW }, NOW));
    expect(await itemRow()).toEqual(deleted);
    await remove(1);
    expect(ingest.refused).toEqual([]);
  });

  it('that a record has deleted and an operator has restored is deleted again only by a later deletion', async () => {
    const { ingest, item, itemRow, restore } = await newTenant();
    const deletion = item({ title: 'deleted', deleted_at_ms: NOW - 21 }, NOW - 20);
    await ingest.send(deletion);
    await restore();
    await ingest.send(item({ title: 'before' }, NOW - 30));
    expect(await itemRow()).toMatchObject({ title: 'deleted', version: 2 });
    await ingest.send(item({ title: 'later' }, NOW - 10), deletion);
    await ingest.send(deletion);
    expect(await itemRow()).toMatchObject({ title: 'later', version: 2 });
    expect(await itemRow()).not.toHaveProperty('deleted_at_ms');
    await ingest.send(item({ undone_deletion: { version: 90, at_ms: 1 } }, NOW - 9));
    expect(await itemRow()).toMatchObject({ version: 2, undone_deletion: { at_ms: NOW - 21 } });
    await ingest.send(item({ deleted_at_ms: NOW + 9, deleted_by: 'x', deleted_request_id: 'other' }, NOW + 9));
    expect(await itemRow()).toMatchObject({ deleted_at_ms: NOW + 9, deleted_by: 'record: x' });
    expect(await itemRow()).not.toHaveProperty('deleted_request_id');
    expect(ingest.refused).toEqual([]);
  });

  it('that an operator has restored is not deleted by a record from before the deletion that was undone', async () => {
    const { ingest, item, itemRow, restore } = await newTenant();
    await ingest.send(item({ deleted_at_ms: NOW - 5 }, NOW - 20));
    await restore();
    await ingest.send(item({ deleted_at_ms: NOW - 12 }, NOW - 10));
    expect(await itemRow()).not.toHaveProperty('deleted_at_ms');
    await ingest.send(item({ deleted_at_ms: NOW - 12 }, NOW - 4));
    expect(await itemRow()).toMatchObject({ deleted_at_ms: NOW - 12 });
  });

  it.each([
    [3, 'deleted'],
    [5, 'deleted'],
    [6, 'changed'],
  ])('whose deletion as of 5 ms later was undone has, by a record %d ms later, the title %s', async (later, title) => {
    const { ingest, item, itemRow, restore } = await newTenant();
    await ingest.send(item({ title: 'deleted', deleted_at_ms: NOW - 15 }, NOW - 20));
    await restore();
    await ingest.send(item({ title: 'changed' }, NOW - 20 + later));
    expect(await itemRow()).toMatchObject({ title });
  });

  it('says in at most 256 characters by whom it was deleted', async () => {
    const { ingest, item, itemRow } = await newTenant();
    const deletedBy = (length: number) => item({ deleted_at_ms: NOW, deleted_by: '😀'.repeat(length) }, NOW);
    await ingest.send(deletedBy(257));
    expect(ingest.refused).toMatchObject([{ reason: 'deleted_by must be a string of at most 256 characters' }]);
    await ingest.send(deletedBy(256));
    expect(await itemRow()).toMatchObject({ deleted_by: `record: ${'😀'.repeat(256)}` });
  });
});

const [alert_id, incident_id] = ['a'.repeat(24), 'b'.repeat(24)];
const RESERVED = ['ttl', 'pk', 'sk', 'row_order'];
it.each<[kind: string, record: object, reserved: string[]]>([
  ['host', { host_id: 'h', agent_version: '1', edge_cluster: 'e', enabled: true, snapshot_ready: true }, []],
  ['host_status', { host_id: 'h', health_at_ms: NOW }, ['snapshot_order', 'health_order']],
  ['member', { member_id: 1, name: 'n' }, []],
  ['rum_resource', RUM_RECORD, []],
  ['incident', { incident_id, title: 't' }, ['title_by', 'feed_title', 'title_order', 'created_at_ms']],
  ['alert', { alert_id, title: 't' }, ['moved_sequence', 'moved_from', 'feed_incident', 'incident_order']],
  ['work_item', { work_item_id: 'w', version: 1, title: 't' }, ['deletion_order']],
])('attributes of the service in a record of kind %s are refused', async (kind, fields, reserved) => {
  const { ingest, send } = await newTenant();
  for (const name of [...RESERVED, ...reserved]) await send(kind, { ...fields, [name]: 1 });
  expect(ingest.refused.map(({ reason = '' }) => reason.split(' ')[0])).toEqual([...RESERVED, ...reserved]);
  await send(kind, fields);
  expect(ingest.counts()).toMatchObject({ records: 1, refused: RESERVED.length + reserved.length });
});

it('a report that comes in order costs one conditional write of less than 1 KB, and no read', async () => {
  const { account, record } = await newTenant();
  const calls: string[] = [];
  const connection = intercepted(table, (send, { name }) => {
    calls.push(name);
    return send();
  });
  const ingest = ingestOver(connection, () => NOW);
  const report = (at: number) => {
    const counts = { node_count: 3, edge_count: 2, observed_at_ms: at, health_at_ms: at };
    return record('host_status', { host_id: 'fra-1-edge-0001', ...counts, reason_codes: ['a'.repeat(300)] }, at);
  };
  await ingest.send(report(NOW - 3)); // now the account is known
  calls.length = 0;
  // Several records of one row are combined into one write.
  await ingest.send(report(NOW - 2), report(NOW - 1));
  expect(calls).toEqual(['UpdateCommand']);
  expect(itemBytes(marshall(await stored(table, keys.hostStatus(account, 'fra-1-edge-0001'))))).toBeLessThan(1_024);
});

it('an incident keeps the title and the owner that a merge gave it, until a later record', async () => {
  const { ingest, record, mergeAlerts, member, incidentRow } = await newTenant();
  await member(2);
  const incident = (fields: object, at: number) => record('incident', { incident_id, title: 'first', ...fields }, at);
  await ingest.send(incident({}, NOW - 10), record('alert', { alert_id, title: 'a' }, NOW - 10));
  await mergeAlerts({ alert_ids: [alert_id], incident_id, title: 'merged', owner_id: 2 });
  await ingest.send(incident({ title: 'late', owner_id: 1 }, NOW - 5));
  expect(await incidentRow(incident_id)).toMatchObject({ title: 'merged', owner_id: 2 });
  // A late record is to be written beside what the merge gave when the latest one replaces that.
  const through = intercepted(table, async (send, { input }) => {
    if (stringifyJson(input).includes('feed_title =')) await ingest.send(incident({ title: 'latest' }, NOW + 1_000));
    return send();
  });
  await ingestOver(through, () => NOW).send(incident({ title: 'late', owner_id: 1 }, NOW - 4));
  const latest = await incidentRow(incident_id);
  expect(latest.title).toBe('latest');
  for (const name of ['owner_id', 'feed_title', 'feed_owner_id']) expect(latest).not.toHaveProperty(name);
});

it('a merge by a clock that is ahead makes only the titles late that it gives itself, and until that time', async () => {
  const { ingest, record, merge, incidentRow } = await newTenant();
  const [own, other] = [incident_id, 'c'.repeat(24)];
  const title = (id: string, text: string, at: number) => record('incident', { incident_id: id, title: text }, at);
  await ingest.send(title(own, 'first', NOW - 10), title(other, 'first', NOW - 10));
  await ingest.send(record('alert', { alert_id, title: 'a' }, NOW - 10));
  const mergeAt = async (now: number, id: string, given: string) => {
    const { mergeAlerts } = createHandlers(testDeps(table, { now: () => now }));
    expect((await merge(mergeAlerts, { alert_ids: [alert_id], incident_id: id, title: given })).status).toBe(200);
  };
  await mergeAt(NOW + 3_600_000, own, 'ahead');
  await mergeAt(NOW, other, 'merged');
  await ingest.send(title(own, 'true', NOW + 1_000), title(other, 'true', NOW + 1_000));
  expect([(await incidentRow(own)).title, (await incidentRow(other)).title]).toEqual(['ahead', 'true']);
  await mergeAt(NOW + 2_000, own, 'merged');
  const later = ingestOver(table, () => NOW + 3_600_000);
  await later.send(title(own, 'later', NOW + 3_600_001));
  expect((await incidentRow(own)).title).toBe('later');
});
