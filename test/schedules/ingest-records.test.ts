/** Records in any order, some repeatedly, with merges, undos, deletions and imports beside, lead to the rows of a short model. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { keyOf } from '../../lib/ingest/record-rows.ts';
import type { IngestRecord } from '../../lib/ingest/records.ts';
import { byRow, writeAllButRefused } from '../../lib/ingest/write-records.ts';
import { deleteWorkItem } from '../../lib/operations/delete-work-item/schema.ts';
import type { EntryWithMoves } from '../../lib/operations/merge-alerts/entry.ts';
import type { Table } from '../../lib/table/client.ts';
import { type Key, keys, parseKey } from '../../lib/table/keys.ts';
import { getRow } from '../../lib/table/read.ts';
import { writeRecord } from '../../packages/admin/data/load.ts';
import { sharingCalls } from '../../packages/admin/data/shared-calls.ts';
import { mergesOf } from '../integration/merge-alerts/merging.ts';
import { newAccount } from '../support/incidents.ts';
import { recordFrom } from '../support/ingest.ts';
import { callAlone, createHandlers, put, testDeps } from '../support/service.ts';
import { anyFate, lives, onSchedules } from './schedule.ts';

const NOW = 1_800_000_000_000;
const ID = '64f00000000000000000000';
const incidents = [`${ID}1`, `${ID}2`];
const alerts = [`${ID}a`, `${ID}b`, `${ID}c`];

// Ids and times are few, so that many records are of one row or moment.
const few = fc.constantFrom(1, 2, 3);
const host_id = fc.constantFrom('a', 'b');
const title = fc.constantFrom('one', 'two', 'three');
const time = fc.constantFrom(...[-4, -3, -3, -2, -1, 0].map((seconds) => NOW + 1_000 * seconds));
const of = <Fields>(
  kind: string,
  fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> },
  optional: object = {},
) =>
  fc
    .tuple(fc.record(fields), fc.record(optional, { requiredKeys: [] }))
    .map(([some, more]) => ({ kind, ...some, ...more }));
const inventory = { agent_version: title, edge_cluster: title, enabled: fc.boolean(), snapshot_ready: fc.boolean() };
const counts = { received_at_ms: time, observed_at_ms: time, node_count: few, edge_count: few };
const flags = Object.fromEntries(
  ['authoritative', 'graph_available', 'snapshot_truncated', 'snapshot_degraded'].map((name) => [name, fc.boolean()]),
);
const health = { health_at_ms: time, reason_codes: fc.constantFrom(['a'], ['b', 'c']) };
const item = { work_item_id: fc.constant('w'), version: few, title };
const sent: fc.Arbitrary<object> = fc.oneof(
  { weight: 2, arbitrary: of('host', { host_id, ...inventory }) },
  { weight: 2, arbitrary: of('host', { host_id, retired: fc.constant(true) }) },
  { weight: 3, arbitrary: of('host_status', { host_id }, { ...counts, ...flags, ...health }) },
  { weight: 2, arbitrary: of('host_status', { host_id }, health) },
  of('member', { member_id: fc.constant(1), name: title }),
  of('work_item', item, { more: few }),
  of('work_item', { ...item, deleted_at_ms: time }),
  { weight: 2, arbitrary: of('incident', { incident_id: fc.constantFrom(...incidents), title }, { owner_id: few }) },
  {
    weight: 2,
    arbitrary: of(
      'alert',
      { alert_id: fc.constantFrom(...alerts), title },
      { incident_id: fc.constantFrom(...incidents), incident_at_ms: time },
    ),
  },
);
const line = fc.record({
  sent,
  at_ms: fc.option(fc.oneof({ weight: 6, arbitrary: time }, fc.constant(NOW + 60_000)), { nil: undefined }),
  sentMs: fc.constantFrom(NOW - 1, NOW),
  messageId: fc.constantFrom('m', 'n'),
});
const others = fc.oneof(
  fc.record({
    kind: fc.constant('merge' as const),
    alerts: fc.subarray(alerts, { minLength: 1 }),
    into: fc.constantFrom(...incidents),
    title: fc.option(title, { nil: undefined }),
    fate: anyFate,
  }),
  fc.record({ kind: fc.constant('undo' as const), fate: anyFate }),
  fc.record({ kind: fc.constant('delete' as const), version: few, fate: anyFate }),
);
const cases = fc.record({
  lines: fc.array(line, { minLength: 2, maxLength: 8 }),
  /** Records that are sent together, by their indexes. */
  batches: fc.array(
    fc.record({
      indexes: fc.array(fc.nat(7), { minLength: 1, maxLength: 4 }),
      isImport: fc.boolean(),
      fate: anyFate,
    }),
    { maxLength: 4 },
  ),
  isMerged: fc.boolean(),
  others: fc.array(others, { maxLength: 2 }),
});

type Fields = Record<string, unknown>;
const FLAGS = ['authoritative', 'graph_available', 'snapshot_truncated', 'snapshot_degraded'];
const SNAPSHOT = ['received_at_ms', 'observed_at_ms', 'node_count', 'edge_count', ...FLAGS];
const EMPTY = { node_count: 0, edge_count: 0, ...Object.fromEntries(FLAGS.map((name) => [name, false])) };
const without = (row: Fields, names: string[]) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));

/** The rows that records of an account demand, by their kinds and ids, whatever the order in which they come. */
function modelOf(records: readonly IngestRecord[]): Map<string, Fields> {
  const rows = new Map<string, Fields>();
  const ascending = records.toSorted((a, b) => Buffer.compare(a.order, b.order));
  for (const { sent, retired, atMs, order } of ascending) {
    const { kind, account_id: _account, host_id, ...fields } = sent;
    const { member_id, work_item_id, alert_id, incident_id } = fields;
    const name = `${kind} ${host_id ?? member_id ?? work_item_id ?? alert_id ?? incident_id}`;
    const row = rows.get(name) ?? {};
    if (retired) {
      for (const removed of [name, `host_status ${host_id}`]) rows.delete(removed);
      rows.set(`retirement ${host_id}`, { row_order: Uint8Array.from(order) });
    } else if (kind === 'host_status') {
      const has = (names: string[]) => names.some((field) => fields[field] !== undefined);
      const received = has(['observed_at_ms', 'node_count', 'edge_count']) && (fields.received_at_ms ?? atMs);
      const report = {
        ...EMPTY,
        ...without(fields, ['received_at_ms']),
        ...(received && { received_at_ms: received }),
      };
      const kept = without(row, ['reason_codes', ...(has(SNAPSHOT) ? SNAPSHOT : [])]);
      rows.set(name, has(SNAPSHOT) ? { ...kept, ...report } : { ...EMPTY, ...kept, ...fields });
    } else if (kind === 'alert') rows.set(name, without(fields, ['incident_id', 'incident_at_ms']));
    else if (kind !== 'work_item' || fields.deleted_at_ms !== undefined || !row.deleted_at_ms) rows.set(name, fields);
  }
  const byIncidentTime = ascending
    .map(
      ({ sent, atMs, order }) =>
        ({
          ...sent,
          key: `${sent.incident_at_ms ?? atMs}${Buffer.from(order.subarray(6)).toString('hex')}`,
        }) as Fields,
    )
    .sort((a, b) => (String(a.key) < String(b.key) ? -1 : 1));
  for (const { kind, alert_id, incident_id } of byIncidentTime)
    if (kind === 'alert' && incident_id) Object.assign(rows.get(`alert ${alert_id}`) ?? {}, { incident_id });
  return rows;
}

/** As an import writes the lines of a file. */
async function importRecords(table: Table, records: readonly IngestRecord[]): Promise<void> {
  const shared = sharingCalls(table);
  await Promise.all(
    records.map(async (record) => {
      const row = await getRow(shared, keyOf(record.sent));
      await writeRecord(shared, record, { found: { row: row && { ...row } } });
    }),
  );
}

/** Adds to the model what merges, undos and a caller's deletion did. */
function withOthers(
  model: Map<string, Fields>,
  stored: ReadonlyMap<string, Fields>,
  entries: readonly EntryWithMoves[],
  records: readonly IngestRecord[],
) {
  for (const { entry, moves } of entries) {
    for (const { alertId, to } of moves) Object.assign(model.get(`alert ${alertId}`) ?? {}, { incident_id: to });
    const name = `incident ${entry.incident_id}`;
    const latest = Math.max(
      ...records
        .filter(({ sent }) => sent.incident_id === entry.incident_id && sent.kind === 'incident')
        .map(({ atMs }) => atMs),
    );
    // A record of a later time may have come before the merge or after it.
    const isMerges = latest < entry.at_ms || stored.get(name)?.title === entry.new_title;
    if (entry.new_title !== undefined && isMerges) Object.assign(model.get(name) ?? {}, { title: entry.new_title });
  }
  const item = stored.get('work_item w');
  if (item?.deleted_request_id) model.set('work_item w', item);
}

/** The rows of a table by the names of the model, without what orders them. */
const shownRows = (items: readonly Fields[]) =>
  new Map(
    items.flatMap(({ pk, sk, ...fields }) => {
      const { kind = '', account } = parseKey({ pk: String(pk), sk: String(sk) }) ?? {};
      const name = kind.replace('hostS', 'host_s').replace('workI', 'work_i');
      if (account === undefined || !SHOWN.includes(name)) return [];
      const days = { host_status: 400, retirement: 30 }[name];
      expect(fields.ttl).toBe(days && NOW / 1_000 + days * 24 * 3_600);
      // Those of merges, and the time of the record that came first.
      const notOfModel = /^(feed_.*|title_by|owner_by|.*_(order|sequence)|created_at_ms)$/;
      const omitted = Object.keys(fields).filter((field) => notOfModel.test(field) && name !== 'retirement');
      return [[`${name} ${sk}`, without(fields, [...omitted, 'ttl', 'moved_from'])] as const];
    }),
  );
const SHOWN = ['host', 'host_status', 'retirement', 'member', 'work_item', 'incident', 'alert'];

onSchedules(
  'records in any order, with merges beside, lead to the rows of the model',
  cases,
  async (each, schedule) => {
    const tenant = await newAccount(schedule.table);
    const { account, appKey } = tenant;
    const merges = mergesOf(schedule.table, tenant, incidents);
    const now = () => NOW;
    const records = each.lines.map(({ sent, at_ms, sentMs, messageId }, index) =>
      recordFrom({ account_id: account, at_ms, ...sent }, sentMs, { messageId, line: index + 1 }),
    );
    const model = modelOf(records);
    const seed = async (name: string, key: Key, row: Fields) => {
      await put(schedule.table, key, { ...row, title: 'seed' });
      if (!model.has(name)) model.set(name, { ...row, title: 'seed' });
    };
    if (each.isMerged) {
      for (const id of incidents) await seed(`incident ${id}`, keys.incident(account, id), { incident_id: id });
      for (const id of alerts) await seed(`alert ${id}`, keys.alert(account, id), { alert_id: id });
      await merges.merge({ alert_ids: alerts.slice(0, 2), incident_id: `${ID}1`, title: 'merged' }, { now });
    }
    const [first] = await merges.entries();

    const send = ({ indexes, isImport, fate }: (typeof each.batches)[number]) => {
      const batch = indexes.flatMap((index) => records[index] ?? []);
      const write = (table: Table) => Promise.all(byRow(batch).map((group) => writeAllButRefused(table, group)));
      return schedule.repeat(isImport ? (table) => importRecords(table, batch) : write, fate);
    };
    const other = (it: (typeof each.others)[number]) =>
      schedule.start(async (through) => {
        if (it.kind === 'merge')
          expect(
            await merges.send({ alert_ids: it.alerts, incident_id: it.into, title: it.title }, { through, now }),
          ).not.toMatchObject({ status: 500 });
        else if (it.kind === 'delete') {
          const body = { work_item_id: 'w', version: it.version };
          const { status } = await callAlone(createHandlers(testDeps(through)), deleteWorkItem, { appKey, body });
          return status === 200;
        } else if (first) {
          await merges.undo({ incidentId: `${ID}1`, sequence: first.entry.sequence }, { through, now });
        }
        return false;
      }, it.fate);
    const sent = new Set(each.batches.flatMap(({ indexes }) => indexes));
    const rest = records.flatMap((_record, index) =>
      sent.has(index) ? [] : [{ indexes: [index], isImport: false, fate: lives }],
    );
    const outcomes = await schedule.run<unknown>([...[...each.batches, ...rest].map(send), ...each.others.map(other)]);
    await merges.finish();
    const stored = shownRows(schedule.items());
    withOthers(model, stored, await merges.entries(), records);
    const defined = [...model].map(([name, row]) => [
      name,
      Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)),
    ]);
    expect(Object.fromEntries(stored)).toEqual(Object.fromEntries(defined));
    if (outcomes.some((outcome) => (outcome as { result?: boolean } | undefined)?.result))
      expect(stored.get('work_item w')).toHaveProperty('deleted_at_ms');
  },
);
