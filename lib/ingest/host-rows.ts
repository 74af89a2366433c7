/** Writes the rows of a host: its inventory, its status, and the mark of its retirement. */
import type { Table } from '../dynamodb/client.ts';
import {
  all,
  attribute,
  EXISTS,
  type Expression,
  expression,
  IS_NEW,
  is,
  isBelow,
  set,
} from '../dynamodb/expression.ts';
import { keys } from '../dynamodb/keys.ts';
import { deleteRow, putRow, RETURN_STORED, updateRow } from '../dynamodb/row.ts';
import { type Action, conditionCheck, putAction, transact, updateAction } from '../dynamodb/transact.ts';
import { STATUS_SCHEMA } from '../operations/browse-fleet/fleet-rows.ts';
import { type Row, rowOf } from './entity-rows.ts';
import { sentOf } from './order.ts';
import { type FeedRecord, latestOf } from './records.ts';

/** For this time after a retirement, records from before it do not bring the host back. */
const RETIREMENT_DAYS = 30;
/** A status row is kept for this time after the last report that changed it. */
const STATUS_DAYS = 400;

/** A `ttl`, in Unix seconds, counted from when a record was sent. */
const ttlOf = (order: string, days: number) => Math.ceil(sentOf(order) / 1_000) + days * 24 * 3_600;

const keysOf = ({ entity: { account_id, host_id } }: FeedRecord) => ({
  host: keys.host(account_id, String(host_id)),
  status: keys.hostStatus(account_id, String(host_id)),
  retirement: keys.retirement(account_id, String(host_id)),
});

const isEarlier = (order: string) => all(EXISTS, isBelow('feed_order', order));

/**
 * Makes a write that may bring back what a retirement has deleted, unless the host was retired later. A retirement writes its mark before it
 * deletes rows, so it deletes what is written before the mark.
 */
async function create(table: Table, record: FeedRecord, action: Action): Promise<'done' | 'retired' | 'changed'> {
  const isNotRetired = conditionCheck(keysOf(record).retirement, isBelow('feed_order', record.order));
  const failed = await transact(table, [isNotRetired, action]);
  return failed === undefined ? 'done' : failed === 0 ? 'retired' : 'changed';
}

/** Replaces the inventory, or retires the host. */
export async function writeHost(table: Table, records: readonly FeedRecord[]): Promise<boolean> {
  const retirement = latestOf(records.filter(({ retired }) => retired));
  const inventory = latestOf(records.filter(({ retired }) => !retired));
  const isRetired = retirement !== undefined && (await retire(table, retirement));
  return (inventory !== undefined && (await writeInventory(table, inventory))) || isRetired;
}

async function writeInventory(table: Table, record: FeedRecord): Promise<boolean> {
  const row = { ...rowOf(record.entity), feed_order: record.order };
  for (;;) {
    const { done, row: stored } = await putRow(table, row, isEarlier(record.order), RETURN_STORED);
    if (done || stored) return done;
    const created = await create(table, record, putAction(row, IS_NEW));
    if (created !== 'changed') return created === 'done';
  }
}

async function retire(table: Table, record: FeedRecord): Promise<boolean> {
  const { order } = record;
  const { host, status, retirement } = keysOf(record);
  const mark = { ...retirement, feed_order: order, ttl: ttlOf(order, RETIREMENT_DAYS) };
  const { done: isMarked } = await putRow(table, mark, isBelow('feed_order', order));
  const { done: isDeleted } = await deleteRow(table, host, isEarlier(order));
  for (;;) {
    const { done, row } = await deleteRow(table, status, isEarlier(order), RETURN_STORED);
    const stored: Row = row ?? {};
    // A part of a later report stays.
    const removed = done ? [] : [snapshotPart({}), healthPart({})].filter(({ name }) => isBefore(stored[name], order));
    if (removed.length === 0) return isMarked || isDeleted || done;
    const update = set(Object.assign({}, ...removed.map(({ name, fields }) => ({ ...fields, [name]: undefined }))));
    if ((await updateRow(table, status, update, isAsStored(stored, removed))).done) return true;
  }
}

/** Fields that a report replaces together. */
interface Part {
  /** The attribute that stores the order of the latest report with this part. */
  name: 'feed_order' | 'snapshot_order' | 'health_order';
  /** A field without a value is removed. */
  fields: Row;
}

const isBefore = (stored: unknown, order: string) => stored !== undefined && String(stored) < order;

const isAsStored = (stored: Row, parts: readonly Part[]): Expression =>
  all(...parts.map(({ name }) => is(name, stored[name])));

const { host_id: _key, health_at_ms: _health, reason_codes: _reasons, ...SNAPSHOT } = STATUS_SCHEMA.properties;
export const SNAPSHOT_FIELDS = Object.keys(SNAPSHOT) as (keyof typeof SNAPSHOT)[];
/** Values of required fields that a report lacks. */
const DEFAULTS: Row = Object.fromEntries(
  STATUS_SCHEMA.required.flatMap((name) =>
    name === 'host_id' ? [] : [[name, SNAPSHOT[name].type === 'boolean' ? false : 0]],
  ),
);

const snapshotPart = (report: Row): Part => ({
  name: 'snapshot_order',
  fields: Object.fromEntries(SNAPSHOT_FIELDS.map((name) => [name, report[name] ?? DEFAULTS[name]])),
});
const healthPart = ({ health_at_ms }: Row): Part => ({ name: 'health_order', fields: { health_at_ms } });

/** What a report replaces. Its order is also that of the whole row while it is the latest. */
function partsOf({ entity, atMs }: FeedRecord): Part[] {
  const { received_at_ms = atMs, reason_codes } = entity;
  const hasSnapshot = ['observed_at_ms', 'node_count', 'edge_count'].some((name) => entity[name] !== undefined);
  const hasReport = SNAPSHOT_FIELDS.some((name) => entity[name] !== undefined);
  const report = { ...entity, received_at_ms: hasSnapshot ? received_at_ms : undefined };
  return [
    { name: 'feed_order', fields: { reason_codes } },
    ...(hasReport ? [snapshotPart(report)] : []),
    ...(entity.health_at_ms === undefined ? [] : [healthPart(entity)]),
  ];
}

/** Writes the latest report, and the latest with each part. */
export async function writeStatus(table: Table, records: readonly FeedRecord[]): Promise<boolean> {
  const byPart = Map.groupBy(
    records.flatMap((record) => partsOf(record).map(({ name }) => ({ name, record }))),
    ({ name }) => name,
  );
  const latest = [...byPart.values()].map((group) => latestOf(group.map(({ record }) => record)) as FeedRecord);
  let isChanged = false;
  for (const record of new Set(latest.sort((a, b) => (a.order < b.order ? -1 : 1))))
    isChanged = (await writeReport(table, record)) || isChanged;
  return isChanged;
}

/** The first attempt is one write without a read: it succeeds if the report is the latest, and the row has all its parts. */
async function writeReport(table: Table, record: FeedRecord): Promise<boolean> {
  const { order } = record;
  const { status } = keysOf(record);
  const parts = partsOf(record);
  const ttl = ttlOf(order, STATUS_DAYS);
  const updateOf = (written: readonly Part[], initial: Row = {}) =>
    set(Object.assign({ ttl }, ...written.map(({ name, fields }) => ({ ...fields, [name]: order }))), initial);
  const hasParts = parts.map(({ name }) => expression`attribute_exists(${attribute(name)})`);
  const inOrder = all(expression`feed_order < ${order}`, ...hasParts);
  for (;;) {
    const { done, row } = await updateRow(table, status, updateOf(parts), inOrder, RETURN_STORED);
    if (done) return true;
    const stored: Row = row ?? {};
    const later = parts.filter(({ name }) => stored[name] === undefined || isBefore(stored[name], order));
    if (later.length === 0) return false;
    const condition = isAsStored(stored, later);
    if (later.every(({ name }) => stored[name] !== undefined)) {
      if ((await updateRow(table, status, updateOf(later), condition)).done) return true;
    } else {
      const initial = later.some(({ name }) => name === 'snapshot_order') ? {} : DEFAULTS;
      const created = await create(table, record, updateAction(status, updateOf(later, initial), condition));
      if (created !== 'changed') return created === 'done';
    }
  }
}
