/** Records of rows that the service writes, too: they neither change its own attributes nor undo what it writes while one is ingested. */
import { describe, expect, it } from 'vitest';
import { keys } from '../../lib/dynamodb/keys.ts';
import { deleteWorkItem } from '../../lib/http/operations.ts';
import { restoreWorkItem } from '../../packages/admin/incidents/restore-work-item.ts';
import { undoMerge } from '../../packages/admin/incidents/undo-merge.ts';
import { recordsOfAccount, relayed } from '../support/events.ts';
import { aroundCalls } from '../support/faults.ts';
import { feedOver } from '../support/feed.ts';
import { newAccount } from '../support/incidents.ts';
import { RUM_RECORD } from '../support/rum.ts';
import { callOperation, connectAgain, handlersOver, newTable, stored, testDeps } from '../support/service.ts';

const NOW = 1_795_000_000_000;
const table = await newTable({ stream: true });

async function newTenant() {
  const tenant = await newAccount(table);
  const { account, appKey } = tenant;
  const handlers = handlersOver(testDeps(table, { now: () => NOW }));
  const own = connectAgain(table);
  const feed = feedOver(own, () => NOW);
  await feed.send({ kind: 'member', account_id: account, member_id: 9, name: 'Ada' }); // now the account is known
  return {
    ...tenant,
    feed,
    itemRow: () => stored(table, keys.workItem(account, 'w')),
    alertRow: (id: string) => stored(table, keys.alert(account, id)),
    async mergeInto(incident_id: string, alert: string, more: object = {}): Promise<number> {
      const merged = await tenant.merge(handlers.mergeAlerts, { alert_ids: [alert], incident_id, ...more });
      expect(merged.status).toBe(200);
      return (await tenant.feed(incident_id)).at(-1).sequence;
    },
    undo: (incidentId: string, sequence: number) =>
      undoMerge(testDeps(table, { now: () => NOW }), { account, incidentId, sequence, by: 'o', requestId: 'r' }),
    async remove(version: number) {
      const { status } = await callOperation(handlers, deleteWorkItem, {
        appKey,
        body: { work_item_id: 'w', version },
      });
      expect(status).toBe(200);
    },
    async restore() {
      const row = await stored(table, keys.workItem(account, 'w'));
      expect(await restoreWorkItem(table, account, row, [])).toBe(true);
    },
    newRecord: (kind: string, fields: object, at_ms = NOW) => ({ kind, account_id: account, at_ms, ...fields }),
    /** Sends a record whose first write is refused, and acts before the second one, which expects the row as it was found. */
    async interleave(record: object, act: () => Promise<unknown>): Promise<void> {
      let writes = 0;
      const end = aroundCalls(own, async ({ command }, send) => {
        if (command.startsWith('Put') || command.startsWith('Update')) writes += 1;
        if (writes === 2 && command !== 'QueryCommand') await act().finally(end);
        await send();
      });
      await feed.send(record);
      expect(writes).toBeGreaterThan(1);
      expect(feed.refused).toEqual([]);
    },
  };
}

describe('between the read of a record and its write', () => {
  it('a merge keeps the title that it gives an incident', async () => {
    const { incident, alerts, member, mergeInto, interleave, newRecord, incidentRow } = await newTenant();
    const to = await incident();
    await member(1);
    const [first, second] = (await alerts(2)) as [string, string];
    await mergeInto(to, first, { owner_id: 1 });
    const record = newRecord('incident', { incident_id: to, title: 'record', owner_id: 2 }, NOW - 10);
    await interleave(record, () => mergeInto(to, second, { title: 'merged' }));
    expect(await incidentRow(to)).toMatchObject({ title: 'merged', owner_id: 1 });
  });

  it('a merge or an undo decides the incident of the alert, the record its title', async () => {
    const { incident, alerts, mergeInto, interleave, newRecord, alertRow, undo } = await newTenant();
    const [one, two, three] = [await incident(), await incident(), await incident()];
    const [alert] = (await alerts(1, one)) as [string];
    const record = (title: string, at: number) =>
      newRecord('alert', { alert_id: alert, title, incident_id: three }, at);
    let sequence = 0;
    await interleave(record('b', NOW - 2), async () => {
      sequence = await mergeInto(two, alert);
    });
    expect(await alertRow(alert)).toMatchObject({ title: 'b', incident_id: two, moved_sequence: sequence });
    await interleave(record('c', NOW - 1), () => undo(two, sequence));
    expect(await alertRow(alert)).toMatchObject({ title: 'c', incident_id: one });
  });

  it('a deletion, or its restoration, stays', async () => {
    const { feed, interleave, newRecord, itemRow, remove, restore } = await newTenant();
    const item = (title: string, at: number) => newRecord('work_item', { work_item_id: 'w', version: 1, title }, at);
    await feed.send(item('a', NOW - 9));
    await remove(1);
    await restore();
    await interleave(item('b', NOW - 8), () => remove(3));
    expect(await itemRow()).toMatchObject({ title: 'a', version: 4, deleted_at_ms: expect.any(Number) });
    await restore();
    await interleave(item('c', NOW - 7), async () => {
      await remove(5);
      await restore();
    });
    expect(await itemRow()).toMatchObject({ title: 'c', version: 7, undone_deletion: { version: 6 } });
  });
});

describe('a work item that a record has deleted and an operator has restored', () => {
  async function restoredItem() {
    const { feed, newRecord, itemRow, restore } = await newTenant();
    const record = (title: string, at: number, more: object = {}) =>
      newRecord('work_item', { work_item_id: 'w', version: 1, title, ...more }, at);
    const deletion = record('deleted', NOW - 20, { deleted_at_ms: 5 });
    await feed.send(deletion);
    await restore();
    return { feed, record, deletion, itemRow };
  }

  it('is not changed by records from before its deletion', async () => {
    const { feed, record, itemRow } = await restoredItem();
    await feed.send(record('before', NOW - 30));
    expect(await itemRow()).toMatchObject({ title: 'deleted', version: 2 });
  });

  it('is not deleted again by a repetition of that record, also with or after a later one', async () => {
    const { feed, record, deletion, itemRow } = await restoredItem();
    await feed.send(record('later', NOW - 10), deletion);
    await feed.send(deletion);
    const { deleted_at_ms, ...row } = await itemRow();
    expect(deleted_at_ms).toBeUndefined();
    expect(row).toMatchObject({ title: 'later', version: 2 });
    await feed.send(record('deleted later', NOW - 5, { deleted_at_ms: 6 }));
    expect(await itemRow()).toMatchObject({ title: 'deleted later', deleted_at_ms: 6 });
  });
});

describe('attributes of the service', () => {
  const [alert_id, incident_id] = ['a'.repeat(24), 'b'.repeat(24)];
  const merged = { moved_sequence: 1, moved_from: incident_id, previous_sequence: 1, stayed_sequence: 1 };
  const reserved = { ttl: 1, pk: 'x', sk: 'x', feed_order: 1 };
  const host = { host_id: 'h', agent_version: '1', edge_cluster: 'e', enabled: true, snapshot_ready: true };
  const item = { work_item_id: 'w', version: 1, title: 't' };
  it.each<[kind: string, record: object, refused: object, ignored?: object]>([
    ['host', host, reserved],
    ['host_status', { host_id: 'h', health_at_ms: 1 }, { ...reserved, snapshot_order: 1, health_at_ms_order: 1 }],
    ['member', { member_id: 1, name: 'n' }, reserved],
    ['rum_resource', RUM_RECORD, reserved],
    ['incident', { incident_id, title: 't' }, { ...reserved, last_change: { sequence: 1 }, loaded_after: 1 }],
    ['alert', { alert_id, title: 't' }, { ...reserved, ...merged, loaded_after: 1 }],
    [
      'work_item',
      item,
      { ...reserved, deletion_order: 1, large: true },
      { deleted_request_id: 'r', undone_deletion: { version: 1, at_ms: 1, by: 'k' } },
    ],
  ])(
    'in a record of kind %s are refused, or left out where the kind is open',
    async (kind, record, refused, ignored) => {
      const { feed, newRecord, account } = await newTenant();
      for (const [name, value] of Object.entries(refused)) {
        await feed.send(newRecord(kind, { ...record, [name]: value }));
        expect(feed.refused.map(({ reason }) => reason)).toEqual([expect.stringContaining(name)]);
        feed.refused.length = 0;
      }
      if (!ignored) return;
      await feed.send(newRecord(kind, { ...record, ...ignored }, NOW - 2));
      expect(feed.refused).toEqual([]);
      const row = await stored(table, keys.workItem(account, 'w'));
      expect(row).toEqual({ ...keys.workItem(account, 'w'), ...item, feed_order: row.feed_order });
    },
  );

  it('of a work item stay as they are, and records of it publish no event', async () => {
    const { feed, newRecord, account, itemRow, remove, restore } = await newTenant();
    const record = (more: object, at: number) => newRecord('work_item', { ...item, retired: true, ...more }, at);
    await feed.send(record({}, NOW - 9));
    await remove(1);
    await feed.send(record({ deleted_at_ms: 1, deleted_by: 'x', deleted_request_id: 'other' }, NOW - 8));
    expect((await itemRow()).deleted_request_id).not.toBe('other');
    await restore();
    const { undone_deletion } = await itemRow();
    await feed.send(record({ undone_deletion: { version: 90, at_ms: 1 } }, NOW - 7));
    expect(await itemRow()).toMatchObject({ undone_deletion, version: 3, retired: true });
    await feed.send(record({ deleted_at_ms: 1, deleted_by: 'x', deleted_request_id: 'other' }, NOW - 6));
    expect(await itemRow()).toMatchObject({ deleted_by: 'x' });
    expect(feed.refused).toEqual([]);
    const { events } = await relayed(table, await recordsOfAccount(table, account));
    expect(events.map(({ type, detail }) => [type, detail.work_item_version])).toEqual([['WorkItemDeleted', 2]]);
  });
});
