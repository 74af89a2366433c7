/** Writes records to the table. docs/feed.md says what a record does to a stored row. */
import type { Table } from '../dynamodb/client.ts';
import { all, EXISTS, expression, IS_NEW, is, isAsRead, isBelow, set } from '../dynamodb/expression.ts';
import { type KeyOf, keys } from '../dynamodb/keys.ts';
import { putRow, updateRow } from '../dynamodb/row.ts';
import type { IncidentRow, WorkItemRow } from '../dynamodb/rows.ts';
import { readFeed } from '../operations/merge-alerts/read-incidents.ts';
import type { Int64 } from '../shared/json.ts';
import { rowOf } from './entity-rows.ts';
import { cancelRemoval, cellsOf, writeReports } from './host-reports.ts';
import { type Entity, identityOf } from './kinds.ts';
import type { FeedRecord } from './records.ts';
import { removalTime } from './retirement.ts';

/** All records of a batch for one row. */
export interface RowRecords {
  /** Identifies the row. */
  name: string;
  records: FeedRecord[];
  /** @returns whether the row was changed; false if nothing is later than what is stored */
  write(table: Table): Promise<boolean>;
}

/** Groups records by their rows. */
export function rowsOf(records: Iterable<FeedRecord>): RowRecords[] {
  const rows = new Map<string, RowRecords>();
  const add = (name: string, record: FeedRecord, write: (table: Table, records: FeedRecord[]) => Promise<boolean>) => {
    let row = rows.get(name);
    if (!row) {
      const own: FeedRecord[] = [];
      row = { name, records: own, write: (table) => write(table, own) };
      rows.set(name, row);
    }
    row.records.push(record);
  };
  for (const record of records) {
    const { entity } = record;
    add(identityOf(entity), record, WRITERS[entity.kind]);
  }
  return [...rows.values()];
}

type Writer = (table: Table, records: readonly FeedRecord[]) => Promise<boolean>;

const latestOf = (records: readonly FeedRecord[]): FeedRecord =>
  records.reduce((latest, record) => (record.order > latest.order ? record : latest));

const isLater = (order: bigint) => isBelow('feed_order', order);
const STORED = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;

/** A stored row; `feed_order` is the order of the latest record that was written to it. */
interface Ordered {
  feed_order?: number | bigint;
}
const isLate = ({ feed_order }: Ordered, { order }: FeedRecord) => feed_order !== undefined && feed_order >= order;

/** The latest record replaces the row. */
async function replace(table: Table, records: readonly FeedRecord[]): Promise<boolean> {
  const latest = latestOf(records);
  const { entity, order } = latest;
  return (await putRow(table, { ...rowOf(entity), feed_order: order }, isLater(order))).done;
}

/**
 * A retirement empties the status row, with a time to live, before it replaces the host's row. So a record that brings the host back finds
 * that time to live, and cancels it.
 */
async function writeHost(table: Table, records: readonly FeedRecord[]): Promise<boolean> {
  const latest = latestOf(records);
  const { entity, order, atMs, retired } = latest;
  const { account_id, host_id } = entity;
  const status = keys.hostStatus(account_id, String(host_id));
  const retirements = records.filter((record) => record.retired);
  const isEmptied = retirements.length > 0 && (await writeReports(table, status, cellsOf(retirements)));
  const row = retired
    ? { ...keys.host(account_id, String(host_id)), retired, ttl: removalTime(atMs), feed_order: order }
    : { ...rowOf(entity), feed_order: order };
  const isUsual = all(EXISTS, isLater(order), is('retired', undefined));
  let condition = retired ? isLater(order) : isUsual;
  for (;;) {
    const { done, row: found } = await putRow(table, row, condition, STORED);
    const stored = (done ? row : found) as (Ordered & { retired?: true }) | undefined;
    if (done || (stored && isLate(stored, latest))) {
      if (retirements.length > 0 && !stored?.retired) await cancelRemoval(table, status, stored?.feed_order ?? order);
      return done || isEmptied;
    }
    if (!retired) await cancelRemoval(table, status, order);
    condition = stored ? isAsRead(stored, ['feed_order', 'retired']) : IS_NEW;
  }
}

async function writeStatus(table: Table, records: readonly FeedRecord[]): Promise<boolean> {
  const { account_id, host_id } = (records[0] as FeedRecord).entity;
  return writeReports(table, keys.hostStatus(account_id, String(host_id)), cellsOf(records));
}

const isDeletion = ({ entity }: FeedRecord) => entity.deleted_at_ms !== undefined;

/**
 * A deletion wins over every other record, whichever arrives first, and a deletion by a caller of the API over every record. After an
 * operator has restored an item, its version stays above the deleted one, so that a caller's retry of the deletion does nothing.
 */
async function writeWorkItem(table: Table, records: readonly FeedRecord[]): Promise<boolean> {
  const deletions = records.filter(isDeletion);
  if (deletions.length > 0) {
    const { entity, order } = latestOf(deletions);
    const isFirst = expression`attribute_not_exists(deleted_at_ms) AND attribute_not_exists(deletion_order)`;
    const condition = expression`(${isFirst}) OR deletion_order < ${order}`;
    return (await putRow(table, { ...rowOf(entity), deletion_order: order }, condition)).done;
  }
  const latest = latestOf(records);
  const { entity, order } = latest;
  const row = { ...rowOf(entity), feed_order: order };
  const version = BigInt(entity.version as Int64);
  const isAlive = expression`attribute_not_exists(deleted_at_ms)`;
  const isUsual = all(isAlive, isLater(order), expression`attribute_not_exists(undone_deletion)`);
  for (let stored: (WorkItemRow & Ordered) | undefined; ; ) {
    const undone = stored?.undone_deletion;
    const kept = undone && {
      undone_deletion: undone,
      version: version > BigInt(undone.version) ? version : BigInt(undone.version) + 1n,
    };
    const isRead = stored && all(isAsRead(stored, ['feed_order', 'undone_deletion']), isAlive);
    const { done, row: found } = await putRow(table, { ...row, ...kept }, isRead ?? isUsual, STORED);
    if (done) return true;
    stored = found as (WorkItemRow & Ordered) | undefined;
    if (!stored || stored.deleted_at_ms !== undefined || isLate(stored, latest)) return false;
  }
}

/** Changes title and owner, unless a merge has changed them later than the record. */
async function writeIncident(table: Table, records: readonly FeedRecord[]): Promise<boolean> {
  const latest = latestOf(records);
  const { entity, order, atMs } = latest;
  const { incident_id, title, owner_id } = rowOf(entity) as unknown as IncidentRow;
  const key = keys.incident(entity.account_id, incident_id);
  const noMergeSince = expression`(attribute_not_exists(last_change) OR last_change.#sequence <= ${atMs})`;
  let update = set({ incident_id, title, owner_id, feed_order: order });
  let condition = all(isLater(order), noMergeSince);
  for (;;) {
    const { done, row } = await updateRow(table, key, update, condition, STORED);
    if (done) return true;
    const stored = row as IncidentRow & Ordered;
    if (isLate(stored, latest)) return false;
    const merged = await mergedSince(table, entity, stored, atMs);
    const kept = { ...(!merged.title && { title }), ...(!merged.owner && { owner_id }) };
    update = set({ incident_id, ...kept, feed_order: order });
    condition = isAsRead(stored, ['feed_order', 'last_change', 'loaded_after']);
  }
}

/** Whether merges after `atMs` have changed title and owner of an incident. */
async function mergedSince(table: Table, { account_id, incident_id }: Entity, row: IncidentRow, atMs: number) {
  const { last_change: last, loaded_after: loadedAfter = 0 } = row;
  if (!last || last.sequence <= atMs) return { title: false, owner: false };
  const items = await readFeed(table, account_id, String(incident_id));
  const since = items.map(({ entry }) => entry).filter(({ sequence }) => sequence > Math.max(atMs, loadedAfter));
  return {
    title: last.old_title !== undefined || since.some(({ new_title }) => new_title !== undefined),
    owner: last.old_owner_id !== undefined || since.some(({ new_owner_id }) => new_owner_id !== undefined),
  };
}

/** Creates an alert in its incident. Later records do not move it: only merges do. */
async function writeAlert(table: Table, records: readonly FeedRecord[]): Promise<boolean> {
  const latest = latestOf(records);
  const first = records.reduce((found, record) => (record.order < found.order ? record : found));
  const { entity, order } = latest;
  const { incident_id, ...fields } = {
    ...rowOf(entity),
    incident_id: rowOf(first.entity).incident_id,
    feed_order: order,
  };
  const created = await putRow(table, { ...fields, ...(incident_id !== undefined && { incident_id }) }, IS_NEW);
  if (created.done) return true;
  const { pk, sk, ...changed } = fields;
  return (await updateRow(table, { pk, sk } as KeyOf<'alert'>, set(changed), all(EXISTS, isLater(order)))).done;
}

const WRITERS: Readonly<Record<FeedRecord['entity']['kind'], Writer>> = {
  member: replace,
  host: writeHost,
  host_status: writeStatus,
  rum_resource: replace,
  rum_usage: replace,
  work_item: writeWorkItem,
  incident: writeIncident,
  alert: writeAlert,
};
