/** Records of the feed, in any order and some repeatedly, lead to the same rows. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { type FeedRecord, recordOf } from '../../lib/ingest/records.ts';
import { rowsOf } from '../../lib/ingest/write-records.ts';
import { parseKey } from '../../lib/table/keys.ts';
import type { Item } from '../table-double/values.ts';
import { anyFate, lives, onSchedules } from './schedule.ts';

const SENT = 1_795_000_000_000;
const DAY = 24 * 3_600_000;
const ID = '64f00000000000000000000';
const DEFAULTS: Record<string, unknown> = {
  ...{ node_count: 0, edge_count: 0, authoritative: false },
  ...{ graph_available: false, snapshot_truncated: false, snapshot_degraded: false },
};

// Ids and times are few, so that many records are of one row or moment.
const few = fc.constantFrom(1, 2, 3);
const host_id = fc.constantFrom('a', 'b');
const title = fc.constantFrom('one', 'two', 'three');
const orNull = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { freq: 4 });
const report = fc.record(
  {
    ...{ received_at_ms: orNull(few), observed_at_ms: orNull(few), health_at_ms: orNull(few) },
    ...{ node_count: orNull(few), edge_count: orNull(few) },
    ...{ authoritative: orNull(fc.boolean()), graph_available: orNull(fc.boolean()) },
    ...{ snapshot_truncated: orNull(fc.boolean()), snapshot_degraded: orNull(fc.boolean()) },
    reason_codes: orNull(fc.constantFrom(['a'], ['b', 'c'])),
  },
  { requiredKeys: [] },
);
const kind = <Name extends string>(name: Name) => ({ kind: fc.constant(name) });
const inventory = { edge_cluster: fc.constant('e'), enabled: fc.boolean(), snapshot_ready: fc.constant(true) };
const entity = fc.oneof(
  fc.record({ ...kind('host'), host_id, agent_version: fc.constantFrom('1', '2'), ...inventory }),
  fc.record({ ...kind('host'), host_id, retired: fc.constant(true) }),
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.record({ ...kind('host_status'), host_id }), report)
      .map(([id, fields]) => ({ ...id, ...fields })),
  },
  fc.record({ ...kind('member'), member_id: fc.constant(1), name: title }),
  fc.record({
    ...kind('work_item'),
    work_item_id: fc.constant('w'),
    version: few,
    title,
    more: fc.constantFrom(undefined, [1]),
  }),
  fc.record({
    ...kind('work_item'),
    work_item_id: fc.constant('w'),
    version: few,
    title,
    deleted_at_ms: fc.constantFrom(5, 6),
  }),
  fc.record({
    ...kind('incident'),
    incident_id: fc.constant(`${ID}1`),
    title,
    owner_id: fc.constantFrom(undefined, 1, 2),
  }),
  fc.record({
    ...kind('alert'),
    alert_id: fc.constant(`${ID}a`),
    title,
    incident_id: fc.constantFrom(undefined, `${ID}1`, `${ID}2`),
  }),
);
const record = fc
  .record({ entity, before: fc.constantFrom(undefined, 0, 1, 2, 3, 3, 4) })
  .map(({ entity: fields, before }) => {
    const line = JSON.stringify({
      ...fields,
      account_id: 1,
      ...(before !== undefined && { at_ms: SENT - 1_000 * before }),
    });
    const found = recordOf(line, SENT);
    if (!('record' in found)) throw new Error(`${found.problem}: ${line}`);
    return found.record;
  });
/** Records, and the batches in which they are sent: by their indexes. */
const cases = fc.record({
  records: fc.array(record, { minLength: 2, maxLength: 8 }),
  batches: fc.array(fc.record({ indexes: fc.array(fc.nat(7), { minLength: 1, maxLength: 4 }), fate: anyFate }), {
    maxLength: 4,
  }),
});

/** The rows that the contract demands in the end: each field has the value of the latest record that names it. */
function expectedRows(records: readonly FeedRecord[]): Map<string, Record<string, unknown>> {
  const rows = new Map<string, Record<string, unknown>>();
  const ascending = records.toSorted((a, b) => (a.order < b.order ? -1 : 1));
  for (const { entity, retired, atMs } of ascending) {
    const { kind, account_id: _account, host_id, ...fields } = entity;
    const id = String(host_id ?? fields.member_id ?? fields.work_item_id ?? fields.incident_id ?? '');
    const ttl = Math.ceil(atMs / 1000) + (30 * DAY) / 1000;
    const name = kind === 'alert' ? `alert ${fields.alert_id}` : `${kind} ${id}`;
    if (kind === 'host_status') {
      if (Object.keys(fields).length === 0) continue;
      const before = rows.get(name);
      // The agent of a retired host goes on reporting.
      const row = { ...DEFAULTS, ...before, ...fields, ...(before?.ttl !== undefined && { ttl }) };
      const shown = Object.entries(row).map(([field, value]) => [field, value ?? DEFAULTS[field]]);
      rows.set(name, Object.fromEntries(shown.filter(([, value]) => value !== undefined)));
    } else if (retired) {
      rows.set(name, { retired: true, ttl });
      rows.set(`host_status ${id}`, { ...DEFAULTS, ttl });
    } else if (kind === 'alert') {
      // A record sets the incident only when it creates the row, so it depends on which record comes first.
      const { incident_id: _incident, ...shownFields } = fields;
      rows.set(name, shownFields);
    } else if (kind !== 'work_item' || fields.deleted_at_ms !== undefined || !rows.get(name)?.deleted_at_ms)
      rows.set(name, fields);
    if (kind === 'host' && !retired) delete rows.get(`host_status ${id}`)?.ttl;
  }
  return rows;
}

/** The rows of a table by the names that `expectedRows` gives them, without the attributes that order records. */
function storedRows(items: readonly Item[]): Map<string, Record<string, unknown>> {
  return new Map(
    items.map(({ pk, sk, ...fields }) => {
      const kind = parseKey({ pk: String(pk), sk: String(sk) })?.kind.replace(
        /[A-Z]/,
        (capital) => `_${capital.toLowerCase()}`,
      );
      const isShown = (name: string) => !name.endsWith('_order') && !(kind === 'alert' && name === 'incident_id');
      return [`${kind} ${sk}`, Object.fromEntries(Object.entries(fields).filter(([name]) => isShown(name)))];
    }),
  );
}

onSchedules('records in any order lead to the rows that the latest demand', cases, async (each, schedule) => {
  const { records, batches } = each;
  const send = async ({ indexes, fate }: (typeof batches)[number]) => {
    const batch = indexes.flatMap((index) => records[index] ?? []);
    let isOver = false;
    for (let its = fate; !isOver; its = lives)
      await schedule.start(async (table) => {
        await Promise.all(rowsOf(batch).map(({ write }) => write(table)));
        isOver = true;
      }, its);
  };
  const sent = new Set(batches.flatMap(({ indexes }) => indexes));
  const others = records.flatMap((_record, index) => (sent.has(index) ? [] : [{ indexes: [index], fate: lives }]));
  await schedule.run([...batches, ...others].map(send));
  expect(Object.fromEntries(storedRows(schedule.items()))).toEqual(Object.fromEntries(expectedRows(records)));
});
