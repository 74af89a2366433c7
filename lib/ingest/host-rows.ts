/** Writes the rows of a host: its inventory, its status, and the mark of its retirement. */
import { defined, type Field, namesOf, pick } from '../model/fields.ts';
import { hostStatus } from '../model/host-status.ts';
import { isBefore, latestOf, type Order, ttlOf } from '../model/order.ts';
import type { Table } from '../table/client.ts';
import { all, EXISTS, IS_NEW, is, isBelow, set } from '../table/expression.ts';
import { keys } from '../table/keys.ts';
import {
  conditionCheck,
  deleteRow,
  putAction,
  putRow,
  RETURN_STORED,
  transactNamed,
  updateRow,
} from '../table/write.ts';
import { type GroupWrite, latestWrites, writeGroups } from './group-writes.ts';
import { type Found, fieldsOf, type Row, rowOf, type WriteOptions } from './record-rows.ts';
import type { IngestRecord } from './records.ts';

/** For this time after a retirement, records from before it do not bring the host back. */
const RETIREMENT_DAYS = 30;
/** A status row is kept for this time after the last report that changed it. */
const STATUS_DAYS = 400;

const keysOf = ({ account_id, host_id }: IngestRecord['sent']) => ({
  host: keys.host(account_id, String(host_id)),
  status: keys.hostStatus(account_id, String(host_id)),
  retirement: keys.retirement(account_id, String(host_id)),
});

const isEarlier = (order: Order) => all(EXISTS, isBelow('row_order', order));

export async function writeHost(
  table: Table,
  records: readonly IngestRecord[],
  _latest: IngestRecord,
  { found }: Pick<WriteOptions, 'found'>,
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
    const isNotRetired = conditionCheck(keysOf(record.sent).retirement, isBelow('row_order', record.order));
    const failed = await transactNamed(table, { retirement: isNotRetired, host: putAction(row, IS_NEW) });
    if (!failed) return true;
    if (failed === 'retirement') return false;
  }
}

async function retire(table: Table, record: IngestRecord): Promise<boolean> {
  const { order } = record;
  const { host, status, retirement } = keysOf(record.sent);
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

/** Removes the groups of a status row that are older than a retirement. Those of later reports stay. */
export function removalOf(stored: Row, retired: Order) {
  const removed = [SNAPSHOT, HEALTH].filter(({ orderName: name }) => stored[name] && isBefore(stored[name], retired));
  if (removed.length === 0) return undefined;
  const fields = removed.map((group) => ({ ...group.fields, [group.orderName]: undefined }));
  return {
    update: set(Object.assign({}, ...fields)),
    isAsStored: all(...removed.map(({ orderName: name }) => is(name, stored[name]))),
  };
}

const { fields: FIELDS, groups: GROUPS } = hostStatus;
const NAMES = {
  report: namesOf(FIELDS, { stored: 'report' }),
  snapshot: namesOf(FIELDS, { stored: 'snapshot' }),
  health: namesOf(FIELDS, { stored: 'health' }),
} as const satisfies Record<keyof typeof GROUPS, readonly string[]>;
const defaultsOf = (names: readonly (keyof typeof FIELDS)[]): Row =>
  Object.fromEntries(
    names.map((name) => {
      const field: Field = FIELDS[name];
      return [name, field.default];
    }),
  );
/** Values of required fields that a report lacks. */
const DEFAULTS = defined(defaultsOf(NAMES.snapshot));
/** The groups of a status row without values, besides the reason codes, whose order is that of the latest report. */
const SNAPSHOT = { orderName: GROUPS.snapshot.order, fields: defaultsOf(NAMES.snapshot) };
const HEALTH = { orderName: GROUPS.health.order, fields: defaultsOf(NAMES.health) };

function writesOf({ sent, atMs, order, orders }: IngestRecord): GroupWrite[] {
  const fields = fieldsOf(sent);
  const ttl = ttlOf(order, STATUS_DAYS);
  const [snapshot, health] = [pick(fields, NAMES.snapshot), pick(fields, NAMES.health)];
  const has = (group: Row) => Object.values(group).some((value) => value !== undefined);
  const writes: GroupWrite[] = [
    { orderName: GROUPS.report.order, order, fields: { ...pick(fields, NAMES.report), ttl } },
  ];
  if (has(health)) writes.push({ ...HEALTH, order: orders?.health_order ?? order, fields: { ...health, ttl } });
  if (!has(snapshot)) return writes;
  const hasSnapshot = ['observed_at_ms', 'node_count', 'edge_count'].some((name) => fields[name] !== undefined);
  // An export has the counts of 0 of a report without a snapshot, too.
  const received_at_ms = hasSnapshot ? (fields.received_at_ms ?? (orders ? undefined : atMs)) : undefined;
  const written = { ...SNAPSHOT.fields, ...defined(snapshot), received_at_ms, ttl };
  return [...writes, { ...SNAPSHOT, order: orders?.snapshot_order ?? order, fields: written }];
}

export function writeStatus(
  table: Table,
  records: readonly IngestRecord[],
  _latest: IngestRecord,
  { found }: Pick<WriteOptions, 'found'>,
): Promise<boolean> {
  const { status, retirement } = keysOf((records[0] as IngestRecord).sent);
  return writeGroups(table, status, latestWrites(records.flatMap(writesOf)), {
    creation: { mark: retirement, defaults: DEFAULTS },
    found,
  });
}
