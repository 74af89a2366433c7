import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { browseFleet } from '../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../lib/operations/delete-work-item/schema.ts';
import type { ListedOperation } from '../../lib/operations/index.ts';
import { stringifyJson } from '../../lib/shared/json.ts';
import { collections, keys } from '../../lib/table/keys.ts';
import { itemBytes } from '../limits-proxy/item-size.ts';
import { aroundCalls } from '../support/faults.ts';
import { feedOver } from '../support/feed.ts';
import { newAccount } from '../support/incidents.ts';
import {
  callOperation,
  connectAgain,
  handlersOver,
  newTable,
  stored,
  storedUnder,
  testDeps,
} from '../support/service.ts';
import { tapWire } from '../support/wire.ts';

const NOW = 1_795_000_000_000;
const table = await newTable();

async function newTenant() {
  const tenant = await newAccount(table);
  let clock = NOW;
  const handlers = handlersOver(testDeps(table, { now: () => clock }));
  const call = (operation: ListedOperation, body: object) =>
    callOperation(handlers, operation, { appKey: tenant.appKey, body });
  return {
    ...tenant,
    connection: connectAgain(table),
    feed: feedOver(table, () => NOW),
    call,
    handlers,
    newRecord: (kind: string, fields: object, at_ms?: number) => ({
      kind,
      account_id: tenant.account,
      at_ms,
      ...fields,
    }),
    /** Id, agent version and status of each host that a page shows. */
    async fleet() {
      clock += 1_000; // the rate limit's next second
      const { body } = await call(browseFleet, {});
      const items: { host_id: string; agent_version: string; servicemap: { status: string } }[] = body.data.items;
      return items.map(({ host_id, agent_version, servicemap }) => [host_id, agent_version, servicemap.status]);
    },
  };
}

const inventory = { agent_version: '1', edge_cluster: 'e', enabled: true, snapshot_ready: true };
const snapshot = {
  ...{ node_count: 3, edge_count: 2, authoritative: true, graph_available: true },
  ...{ snapshot_truncated: false, snapshot_degraded: false },
};

describe('a host', () => {
  it('shows in the fleet what its latest records say, until it is retired', async () => {
    const { feed, fleet, newRecord } = await newTenant();
    const host = (fields: object, at: number) => newRecord('host', { host_id: 'h', ...inventory, ...fields }, at);
    const report = (fields: object, at: number) => newRecord('host_status', { host_id: 'h', ...fields }, at);
    const retirement = newRecord('host', { host_id: 'h', retired: true }, NOW - 70);
    for (const { records, shown } of [
      // No snapshot yet.
      { records: [host({}, NOW - 100), report({ health_at_ms: NOW - 90 }, NOW - 90)], shown: [['h', '1', 'degraded']] },
      { records: [report(snapshot, NOW - 80)], shown: [['h', '1', 'active']] },
      // Records that arrive late.
      { records: [host({ agent_version: '0' }, NOW - 101)], shown: [['h', '1', 'active']] },
      { records: [report({ snapshot_truncated: true }, NOW - 81)], shown: [['h', '1', 'active']] },
      { records: [retirement], shown: [] },
      { records: [host({ agent_version: '2' }, NOW - 71), report(snapshot, NOW - 71)], shown: [] },
      { records: [host({ agent_version: '3' }, NOW - 60)], shown: [['h', '3', 'no_data']] },
    ]) {
      await feed.send(...records);
      expect(await fleet()).toEqual(shown);
    }
    expect(feed.refused).toEqual([]);
  });

  it('costs a page of its fleet nothing once it is retired', async () => {
    const { feed, fleet, newRecord, account } = await newTenant();
    const ids = Array.from({ length: 20 }, (_, index) => `h${index}`);
    const statuses = ids.map((host_id) => newRecord('host_status', { host_id, ...snapshot }, NOW - 10));
    await feed.send(...ids.map((host_id) => newRecord('host', { host_id, ...inventory }, NOW - 10)), ...statuses);
    await feed.send(...ids.map((host_id) => newRecord('host', { host_id, retired: true }, NOW - 9)), ...statuses);
    await feed.send(newRecord('host', { host_id: 'z', ...inventory }));
    expect(await storedUnder(table, collections.hosts(account))).toHaveLength(1);
    expect(await storedUnder(table, collections.hostStatuses(account))).toEqual([]);
    expect(await fleet()).toEqual([['z', '1', 'no_data']]);
  });

  it('that was retired between two reports of one message keeps the later one', async () => {
    const { feed, newRecord, account } = await newTenant();
    const report = (fields: object, at: number) => newRecord('host_status', { host_id: 'h', ...fields }, at);
    await feed.send(newRecord('host', { host_id: 'h', retired: true }, NOW - 9));
    await feed.send(report({ health_at_ms: NOW - 10 }, NOW - 10), report(snapshot, NOW - 5));
    const row = await stored(table, keys.hostStatus(account, 'h'));
    expect(row).toMatchObject({ ...snapshot, received_at_ms: NOW - 5 });
    expect(row).not.toHaveProperty('health_at_ms');
  });

  it('does not become fresh by a report that is sent again an hour later', async () => {
    const { feed, fleet, newRecord, account } = await newTenant();
    const report = newRecord('host_status', { host_id: 'h', ...snapshot }, NOW - 3_600_000);
    await feed.send(newRecord('host', { host_id: 'h', ...inventory }), report);
    await feed.send(report);
    expect(await fleet()).toEqual([['h', '1', 'stale']]);
    const { ttl } = await stored(table, keys.hostStatus(account, 'h'));
    expect(ttl).toBe(NOW / 1_000 + 400 * 24 * 3_600);
  });
});

it.each([
  ['Ada', 'Bea'],
  ['Bea', 'Ada'],
])('of two lines of one message for one row the later counts: %s, %s', async (...names) => {
  const { feed, newRecord, account } = await newTenant();
  await feed.send(...names.map((name) => newRecord('member', { member_id: 1, name })));
  expect(await stored(table, keys.member(account, 1))).toMatchObject({ name: names[1] });
});

it('a record that DynamoDB refuses takes no other record of its row with it', async () => {
  const { account, connection } = await newTenant();
  const feed = feedOver(connection, () => NOW);
  aroundCalls(connection, async ({ input }, send) => {
    if (stringifyJson(input).includes('refused')) throw Object.assign(new Error(), { name: 'ValidationException' });
    await send();
  });
  const member = (name: string) => JSON.stringify({ kind: 'member', account_id: account, member_id: 1, name });
  const { batchItemFailures } = await feed.deliver([`${member('Ada')}\n${member('refused')}`]);
  expect(batchItemFailures).toEqual([]);
  expect(feed.refused).toMatchObject([{ line: '2' }]);
  expect(await stored(table, keys.member(account, 1))).toMatchObject({ name: 'Ada' });
});

it('a report that comes in order costs one conditional write of less than 1 KB, and no read', async () => {
  const { account, connection, newRecord } = await newTenant();
  const feed = feedOver(connection, () => NOW);
  const report = (at: number) => {
    const times = { observed_at_ms: at, health_at_ms: at };
    const fields = { host_id: 'fra-1-edge-0001', ...snapshot, ...times, reason_codes: ['a'.repeat(300)] };
    return newRecord('host_status', fields, at);
  };
  await feed.send(report(NOW - 3)); // now the account is known
  const tap = tapWire(connection);
  // Several records of one row are combined into one write.
  await feed.send(report(NOW - 2), report(NOW - 1));
  expect(tap.attempts.map(({ command }) => command)).toEqual(['UpdateItemCommand']);
  const row = await stored(table, keys.hostStatus(account, 'fra-1-edge-0001'));
  expect(itemBytes(marshall(row))).toBeLessThan(1_024);
});

it('a work item that a caller has deleted stays deleted, and its deletion can be retried', async () => {
  const { feed, call, newRecord, account } = await newTenant();
  const item = (fields: object, at: number) =>
    newRecord('work_item', { work_item_id: 'w', version: 1, title: 't', ...fields }, at);
  const remove = async () => (await call(deleteWorkItem, { work_item_id: 'w', version: 1 })).status;
  const more = { nested: [1] };
  await feed.send(item({ more }, NOW - 10));
  expect(await remove()).toBe(200);
  await feed.send(item({ title: 'new' }, NOW), item({ deleted_at_ms: NOW }, NOW));
  expect(await stored(table, keys.workItem(account, 'w'))).toMatchObject({ title: 't', version: 2, more });
  expect(await remove()).toBe(200);
});

it('a work item may have fields of any name', async () => {
  const { feed, newRecord, account } = await newTenant();
  const fields = { constructor: [1], toString: { constructor: 'x', toJSON: null } };
  await feed.send(newRecord('work_item', { work_item_id: 'w', version: 1, title: 't', ...fields }));
  expect(feed.refused).toEqual([]);
  expect(await stored(table, keys.workItem(account, 'w'))).toMatchObject(fields);
});

it('an incident and its alerts keep what merges did: the incident of each alert, and a title or owner set after the time of the record', async () => {
  const { feed, newRecord, account, connection, handlers, merge, member, incidentRow } = await newTenant();
  const [to, from, alert] = ['a', 'b', 'c'].map((digit) => digit.repeat(24)) as [string, string, string];
  for (const id of [1, 2]) await member(id);
  const incident = (fields: object, at: number) =>
    newRecord('incident', { incident_id: to, title: 'first', ...fields }, at);
  const mergeWith = async (changes: object) => {
    const { status } = await merge(handlers.mergeAlerts, { alert_ids: [alert], incident_id: to, ...changes });
    expect(status).toBe(200);
    return (await incidentRow(to)).last_change.sequence as number;
  };
  await feed.send(
    incident({}, NOW - 10),
    newRecord('incident', { incident_id: from, title: 'other' }),
    newRecord('alert', { alert_id: alert, title: 'a', incident_id: from }, NOW - 10),
  );
  const sequence = await mergeWith({ title: 'merged' });
  await feed.send(
    incident({ title: 'late', owner_id: 1 }, NOW - 5),
    newRecord('alert', { alert_id: alert.toUpperCase(), title: 'b', incident_id: from }, NOW),
  );
  expect(await incidentRow(to)).toMatchObject({ title: 'merged', owner_id: 1 });
  const alertRow = await stored(table, keys.alert(account, alert));
  expect(alertRow).toMatchObject({ title: 'b', incident_id: to, moved_sequence: sequence });
  await mergeWith({ owner_id: 2 });
  // The title was changed by the merge before the last one, which the row tells: no feed is read.
  const tap = tapWire(connection);
  await feedOver(connection, () => NOW).send(incident({ title: 'late again', owner_id: 1 }, NOW - 4));
  expect(new Set(tap.attempts.map(({ command }) => command))).toEqual(new Set(['GetItemCommand', 'UpdateItemCommand']));
  expect(await incidentRow(to)).toMatchObject({ title: 'merged', owner_id: 2 });
  await feed.send(incident({ title: 'latest' }, sequence + 1_000));
  expect(await incidentRow(to)).toMatchObject({ title: 'latest' });
});
