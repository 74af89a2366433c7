/** Writes the rows of a host: its inventory, its status, and the mark of its retirement. */
import { STATUS_SCHEMA } from '../operations/browse-fleet/host.ts';
import type { Table } from '../table/client.ts';
import { all, EXISTS, IS_NEW, is, isBelow, set } from '../table/expression.ts';
import { keys } from '../table/keys.ts';
import { transactNamed } from '../table/named-actions.ts';
import { conditionCheck, deleteRow, putAction, putRow, RETURN_STORED, updateRow } from '../table/write.ts';
import { type Found, fieldsOf, type Row, rowOf } from './entity-rows.ts';
import type { IngestRecord } from './kinds.ts';
import { isBefore, latestOf, type Order, ttlOf } from './order.ts';
import { latestParts, type Part, writeParts } from './parts.ts';

/** For this time after a retirement, records from before it do not bring the host back. */
const RETIREMENT_DAYS = 30;
/** A status row is kept for this time after the last report that changed it. */
const STATUS_DAYS = 400;

const keysOf = ({ account_id, host_id }: IngestRecord['entity']) => ({
  host: keys.host(account_id, String(host_id)),
  status: keys.hostStatus(account_id, String(host_id)),
  retirement: keys.retirement(account_id, String(host_id)),
});

const isEarlier = (order: Order) => all(EXISTS, isBelow('row_order', order));

export async function writeHost(
  table: Table,
  records: readonly IngestRecord[],
  _latest: IngestRecord,
  found?: Found,
): Promise<boolean> {
  const retirement = latestOf(records.filter(({ retired }) => retired));
  const inventory = latestOf(records.filter(({ retired }) => !retired));
  const isRetired = retirement !== undefined && (await retire(table, retirement));
  if (!inventory) return isRetired;
  return (await writeInventory(table, inventory, retirement ? undefined : found)) || isRetired;
}

async function writeInventory(table: Table, record: IngestRecord, found?: Found): Promise<boolean> {
  const row = rowOf(record);
  if (!isBefore(found?.row?.row_order, record.order)) return false;
  for (let isKnownToBeNew = found !== undefined && !found.row; ; isKnownToBeNew = false) {
    if (!isKnownToBeNew) {
      const { done, row: stored } = await putRow(table, row, isEarlier(record.order), RETURN_STORED);
      if (done || stored) return done;
    }
    // A retirement writes its mark before it deletes rows, so it deletes what is written before the mark.
    const isNotRetired = conditionCheck(keysOf(record.entity).retirement, isBelow('row_order', record.order));
    const failed = await transactNamed(table, { retirement: isNotRetired, host: putAction(row, IS_NEW) });
    if (!failed) return true;
    if (failed === 'retirement') return false;
  }
}

async function retire(table: Table, record: IngestRecord): Promise<boolean> {
  const { order } = record;
  const { host, status, retirement } = keysOf(record.entity);
  const mark = { ...retirement, row_order: order, ttl: ttlOf(order, RETIREMENT_DAYS) };
  await putRow(table, mark, isBelow('row_order', order));
  const { done: isDeleted } = await deleteRow(table, host, isEarlier(order));
  for (;;) {
    const { done, row } = await deleteRow(table, status, isEarlier(order), RETURN_STORED);
    const removal = done ? undefined : removalOf(row ?? {}, order);
    if (!removal) return isDeleted || done;
    if ((await updateRow(table, status, removal.update, removal.isAsStored)).done) return true;
  }
}

/** Removes the parts of a status row that are older than a retirement. Those of later reports stay. */
export function removalOf(stored: Row, retired: Order) {
  const removed = [SNAPSHOT, HEALTH].filter(
    ({ orderAttribute: name }) => stored[name] && isBefore(stored[name], retired),
  );
  if (removed.length === 0) return undefined;
  const fields = removed.map((part) => ({ ...part.fields, [part.orderAttribute]: undefined }));
  return {
    update: set(Object.assign({}, ...fields)),
    isAsStored: all(...removed.map(({ orderAttribute: name }) => is(name, stored[name]))),
  };
}

const { host_id: _key, health_at_ms: _health, reason_codes: _reasons, ...SNAPSHOT_SCHEMA } = STATUS_SCHEMA.properties;
export const SNAPSHOT_FIELDS = Object.keys(SNAPSHOT_SCHEMA) as (keyof typeof SNAPSHOT_SCHEMA)[];
/** Values of required fields that a report lacks. */
const DEFAULTS: Row = Object.fromEntries(
  STATUS_SCHEMA.required.flatMap((name) =>
    name === 'host_id' ? [] : [[name, SNAPSHOT_SCHEMA[name].type === 'boolean' ? false : 0]],
  ),
);
/** The parts of a status row without values, besides the reason codes, whose order is that of the latest report. */
const SNAPSHOT = {
  orderAttribute: 'snapshot_order',
  fields: { ...Object.fromEntries(SNAPSHOT_FIELDS.map((name) => [name, undefined])), ...DEFAULTS },
};
const HEALTH = { orderAttribute: 'health_order', fields: { health_at_ms: undefined } };

function partsOf({ entity, atMs, order, orders }: IngestRecord): Part[] {
  const { health_at_ms, reason_codes, ...fields } = fieldsOf(entity);
  const ttl = ttlOf(order, STATUS_DAYS);
  const parts: Part[] = [{ orderAttribute: 'row_order', order, fields: { reason_codes, ttl } }];
  if (health_at_ms !== undefined)
    parts.push({ ...HEALTH, order: orders?.health_order ?? order, fields: { health_at_ms, ttl } });
  if (SNAPSHOT_FIELDS.every((name) => fields[name] === undefined)) return parts;
  const hasSnapshot = ['observed_at_ms', 'node_count', 'edge_count'].some((name) => fields[name] !== undefined);
  // An export has the counts of 0 of a report without a snapshot, too.
  const received_at_ms = hasSnapshot ? (fields.received_at_ms ?? (orders ? undefined : atMs)) : undefined;
  const snapshot = { ...SNAPSHOT.fields, ...fields, received_at_ms, ttl };
  return [...parts, { ...SNAPSHOT, order: orders?.snapshot_order ?? order, fields: snapshot }];
}

export function writeStatus(
  table: Table,
  records: readonly IngestRecord[],
  _latest: IngestRecord,
  found?: Found,
): Promise<boolean> {
  const { status, retirement } = keysOf((records[0] as IngestRecord).entity);
  return writeParts(table, status, latestParts(records.flatMap(partsOf)), {
    creation: { mark: retirement, defaults: DEFAULTS },
    found,
  });
}
