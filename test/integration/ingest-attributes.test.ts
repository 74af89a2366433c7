/** Attributes that the service writes itself: records of the feed neither change them nor count as calls. */
import { describe, expect, it } from 'vitest';
import { deleteWorkItem } from '../../lib/operations/delete-work-item/schema.ts';
import { keys } from '../../lib/table/keys.ts';
import { restoreWorkItem } from '../../packages/admin/incidents/restore-work-item.ts';
import { RUM_RECORD } from '../support/accounts.ts';
import { recordsOfAccount, relayed } from '../support/events.ts';
import { feedOver } from '../support/feed.ts';
import { newAccount } from '../support/incidents.ts';
import { callOperation, handlersOver, newTable, stored, testDeps } from '../support/service.ts';

const NOW = 1_795_000_000_000;
const table = await newTable({ stream: true });

async function newTenant() {
  const { account, appKey } = await newAccount(table);
  const handlers = handlersOver(testDeps(table, { now: () => NOW }));
  const itemRow = () => stored(table, keys.workItem(account, 'w'));
  return {
    account,
    feed: feedOver(table, () => NOW),
    newRecord: (kind: string, fields: object, at_ms = NOW) => ({ kind, account_id: account, at_ms, ...fields }),
    itemRow,
    async remove(version: number) {
      const body = { work_item_id: 'w', version };
      expect((await callOperation(handlers, deleteWorkItem, { appKey, body })).status).toBe(200);
    },
    restore: async () => expect(await restoreWorkItem(table, account, await itemRow(), [])).toBe(true),
  };
}

describe('a work item that a record has deleted and an operator has restored', () => {
  async function restoredItem() {
    const { feed, newRecord, itemRow, restore, remove } = await newTenant();
    const record = (title: string, at: number, more: object = {}) =>
      newRecord('work_item', { work_item_id: 'w', version: 1, title, ...more }, at);
    const deletion = record('deleted', NOW - 20, { deleted_at_ms: NOW - 20 });
    await feed.send(deletion);
    await restore();
    return { feed, record, deletion, itemRow, remove };
  }

  it('is not changed by records from before its deletion', async () => {
    const { feed, record, itemRow } = await restoredItem();
    await feed.send(record('before', NOW - 30));
    expect(await itemRow()).toMatchObject({ title: 'deleted', version: 2 });
  });

  it('is not deleted again by a repetition of that record, even together with a later record or after it', async () => {
    const { feed, record, deletion, itemRow } = await restoredItem();
    await feed.send(record('later', NOW - 10), deletion);
    await feed.send(deletion);
    const { deleted_at_ms, ...row } = await itemRow();
    expect(deleted_at_ms).toBeUndefined();
    expect(row).toMatchObject({ title: 'later', version: 2 });
    await feed.send(record('deleted later', NOW - 5, { deleted_at_ms: NOW - 5 }));
    expect(await itemRow()).toMatchObject({ title: 'deleted later', deleted_at_ms: NOW - 5 });
  });

  it('stays as a caller has deleted it, and the deletion can be retried', async () => {
    const { feed, record, itemRow, remove } = await restoredItem();
    await remove(2);
    const deleted = await itemRow();
    await feed.send(record('deleted later', NOW - 5, { deleted_at_ms: NOW - 5 }));
    expect(await itemRow()).toEqual(deleted);
    await remove(2);
  });
});

describe('attributes of the service', () => {
  const [alert_id, incident_id] = ['a'.repeat(24), 'b'.repeat(24)];
  const merged = { moved_sequence: 1, moved_from: incident_id, previous_sequence: 1 };
  const reserved = { ttl: 1, pk: 'x', sk: 'x', feed_order: 1 };
  const host = { host_id: 'h', agent_version: '1', edge_cluster: 'e', enabled: true, snapshot_ready: true };
  const item = { work_item_id: 'w', version: 1, title: 't' };
  it.each<[kind: string, record: object, refused: object, ignored?: object]>([
    ['host', host, reserved],
    ['host_status', { host_id: 'h', health_at_ms: NOW }, { ...reserved, snapshot_order: 1, health_order: 1 }],
    ['member', { member_id: 1, name: 'n' }, reserved],
    ['rum_resource', RUM_RECORD, reserved],
    ['incident', { incident_id, title: 't' }, { ...reserved, last_change: { sequence: 1 }, title_order: 'x' }],
    ['alert', { alert_id, title: 't' }, { ...reserved, ...merged, incident_order: 'x' }],
    [
      'work_item',
      item,
      { ...reserved, deletion_order: 1 },
      { deleted_request_id: 'r', undone_deletion: { version: 1, at_ms: 1, by: 'k' } },
    ],
  ])(
    'in a record of kind %s are refused, or ignored where the kind allows any field',
    async (kind, record, refused, ignored) => {
      const { feed, newRecord, account, itemRow } = await newTenant();
      for (const [name, value] of Object.entries(refused)) {
        await feed.send(newRecord(kind, { ...record, [name]: value }));
        expect(feed.refused.splice(0)).toEqual([expect.objectContaining({ reason: expect.stringContaining(name) })]);
      }
      if (!ignored) return;
      await feed.send(newRecord(kind, { ...record, ...ignored }, NOW - 2));
      expect(feed.refused).toEqual([]);
      expect(await itemRow()).toEqual({ ...keys.workItem(account, 'w'), ...item, feed_order: expect.anything() });
    },
  );

  it('of a work item stay as they are; its deletions are published, also that by a record', async () => {
    const { feed, newRecord, account, itemRow, remove, restore } = await newTenant();
    const record = (more: object, at: number) => newRecord('work_item', { ...item, retired: true, ...more }, at);
    await feed.send(record({}, NOW - 9));
    await remove(1);
    await feed.send(record({ deleted_at_ms: NOW, deleted_by: 'x', deleted_request_id: 'other' }, NOW - 8));
    expect((await itemRow()).deleted_request_id).not.toBe('other');
    await restore();
    const { undone_deletion } = await itemRow();
    await feed.send(record({ undone_deletion: { version: 90, at_ms: 1 } }, NOW + 1));
    expect(await itemRow()).toMatchObject({ undone_deletion, version: 3, retired: true });
    await feed.send(record({ deleted_at_ms: NOW, deleted_by: 'x', deleted_request_id: 'other' }, NOW + 2));
    expect(await itemRow()).toMatchObject({ deleted_by: 'x' });
    expect(feed.refused).toEqual([]);
    const { events } = await relayed(table, await recordsOfAccount(table, account));
    expect(events.map(({ type, detail }) => [type, detail.work_item_version, detail.command])).toEqual([
      ['WorkItemDeleted', 2, undefined],
      ['WorkItemDeleted', 1, 'record'],
    ]);
  });
});
