import { describe, expect, it } from 'vitest';
import { browseFleet } from '../../lib/operations/browse-fleet/schema.ts';
import { deleteWorkItem } from '../../lib/operations/delete-work-item/schema.ts';
import type { ListedOperation } from '../../lib/operations/index.ts';
import { stringifyJson } from '../../lib/shared/json.ts';
import { keys } from '../../lib/table/keys.ts';
import { aroundCalls, connectionLost } from '../support/faults.ts';
import { feedOver } from '../support/feed.ts';
import { newAccount } from '../support/incidents.ts';
import { callOperation, connectAgain, handlersOver, newTable, stored, testDeps } from '../support/service.ts';
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
      { records: [host({}, NOW - 100), report({ health_at_ms: NOW }, NOW - 90)], shown: [['h', '1', 'degraded']] },
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

  it('that is not retired is found after any number of retired ones', async () => {
    const { feed, fleet, newRecord } = await newTenant();
    const ids = Array.from({ length: 200 }, (_, index) => `h${String(index).padStart(4, '0')}`);
    await feed.send(...ids.map((host_id) => newRecord('host', { host_id, ...inventory }, NOW - 10)));
    await feed.send(...ids.map((host_id) => newRecord('host', { host_id, retired: true }, NOW - 9)));
    await feed.send(newRecord('host', { host_id: 'z', ...inventory }));
    expect(await fleet()).toEqual([['z', '1', 'no_data']]);
  });
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
  expect(stringifyJson(row).length).toBeLessThan(1_024);
});

it('a work item that a caller has deleted stays deleted, and its deletion can be retried', async () => {
  const { feed, call, newRecord, account } = await newTenant();
  const item = (fields: object, at: number) =>
    newRecord('work_item', { work_item_id: 'w', version: 1, title: 't', ...fields }, at);
  const remove = async () => (await call(deleteWorkItem, { work_item_id: 'w', version: 1 })).status;
  const more = { nested: [1] };
  await feed.send(item({ more }, NOW - 10));
  expect(await remove()).toBe(200);
  await feed.send(item({ title: 'new' }, NOW), item({ deleted_at_ms: 5 }, NOW));
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
  const { feed, newRecord, account, handlers, merge, member, incidentRow } = await newTenant();
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
  // The title was changed by the merge before the last one.
  await feed.send(incident({ title: 'late again', owner_id: 1 }, NOW - 4));
  expect(await incidentRow(to)).toMatchObject({ title: 'merged', owner_id: 2 });
  await feed.send(incident({ title: 'latest' }, sequence + 1_000));
  expect(await incidentRow(to)).toMatchObject({ title: 'latest' });
});

describe('a line', () => {
  const member = { kind: 'member', member_id: 1, name: 'Ada' };
  const host = { kind: 'host', host_id: 'h' };
  it.each<[string, object | string, string]>([
    ['is no JSON', '{"kind":', 'is not valid JSON'],
    ['gives access', { kind: 'account', name: 'n', permissions: [] }, 'kind must be one of member, host, host_status'],
    ['is of no existing account', { ...member, account_id: 999_999_999 }, 'account 999999999 does not exist'],
    ['is of the future', { ...member, at_ms: NOW + 300_001 }, 'at_ms is 300001 ms after the record was sent'],
    [
      'has more than 64 KB',
      { kind: 'work_item', work_item_id: 'w', version: 1, title: 'x'.repeat(65_536) },
      'is longer than 65536 bytes',
    ],
    ['lacks fields', host, 'agent_version is required and must be a string'],
    [
      'has a field whose name is half a surrogate pair',
      { kind: 'work_item', work_item_id: 'w', version: 1, title: 't', '\ud800': 1 },
      'must not contain field names that are empty or not well-formed Unicode',
    ],
    ['has a field that its kind does not have', { ...member, colour: 'red' }, 'colour is not a field of this kind'],
    ['has a value of another type', { ...host, kind: 'host_status', node_count: 'x' }, 'node_count must be an integer'],
    ['retires a host by another value than true', { ...host, retired: 'yes' }, 'retired must be true'],
  ])('that %s is refused with its reason; the others are applied', async (_what, line, reason) => {
    const { feed, account } = await newTenant();
    const text = typeof line === 'string' ? line : JSON.stringify({ account_id: account, ...line });
    const valid = JSON.stringify({ ...member, account_id: account });
    const { batchItemFailures } = await feed.deliver([`${text}\n${valid}\n`]);
    expect(batchItemFailures).toEqual([]);
    const where = { message_id: expect.any(String), sent_at_ms: NOW, line: 1, record: text };
    expect(feed.refused).toEqual([{ reason: expect.stringContaining(reason), ...where }]);
    expect(await stored(table, keys.member(account, 1))).toMatchObject({ name: 'Ada' });
  });

  it('is refused with its whole message when that has more than 1,000 lines', async () => {
    const { feed, account } = await newTenant();
    const line = JSON.stringify({ ...member, account_id: account });
    await feed.deliver([`${line}\n`.repeat(1_000)]);
    expect(feed.refused).toEqual([]);
    await feed.deliver([`${line}\n`.repeat(1_001)]);
    expect(feed.refused).toMatchObject([{ reason: expect.stringContaining('more than 1000 lines') }]);
    expect(feed.refused[0]).not.toHaveProperty('line');
  });
});

it('only the message whose writes fail is delivered again, with growing delays', async () => {
  const { account, connection } = await newTenant();
  const feed = feedOver(connection, () => NOW);
  const member = (id: number) => JSON.stringify({ kind: 'member', account_id: account, member_id: id, name: 'n' });
  aroundCalls(connection, async ({ input }, send) => {
    if (stringifyJson(input).includes('"sk":"2"')) throw connectionLost();
    await send();
  });
  for (const receives of [1, 2, 3, 30]) {
    const { batchItemFailures } = await feed.deliver([member(1), `${member(2)}\nnonsense`], receives);
    expect(batchItemFailures).toHaveLength(1);
  }
  expect(feed.delays.map(({ seconds }) => seconds)).toEqual([10, 20, 40, 900]);
  // The invalid line is not refused while its message fails: otherwise each attempt would refuse it.
  expect(feed.refused).toEqual([]);
  expect(await stored(table, keys.member(account, 1))).toMatchObject({ name: 'n' });
});

it('once its time is over, nothing more is written, and each message with rows left is delivered again', async () => {
  const { account } = await newTenant();
  const connection = connectAgain(table);
  const feed = feedOver(connection, () => NOW);
  const member = (id: number) => JSON.stringify({ kind: 'member', account_id: account, member_id: id, name: 'n' });
  await feed.deliver([member(0)]); // now the account is known
  const tap = tapWire(connection);
  const ids = Array.from({ length: 1_000 }, (_, index) => index + 1);
  const { batchItemFailures } = await feed.deliver([ids.map(member).join('\n'), member(1_001)], 1, 0);
  expect(batchItemFailures).toHaveLength(2);
  expect(tap.attempts.length).toBeLessThan(100);
  expect(feed.deps.log.lines.length).toBeLessThan(10);
});
