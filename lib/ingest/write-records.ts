/** Writes feed records to the table. docs/feed.md says what a record does to a stored row. */

import { readFeed } from '../operations/merge-alerts/entry.ts';
import type { Int64 } from '../shared/json.ts';
import type { Table } from '../table/client.ts';
import { all, EXISTS, expression, IS_NEW, is, isAsRead, isBelow, set } from '../table/expression.ts';
import { type KeyOf, keys } from '../table/keys.ts';
import type { IncidentRow, WorkItemRow } from '../table/rows.ts';
import { putRow, updateRow } from '../table/write.ts';
import { rowOf } from './entity-rows.ts';
import { cancelRemoval, cellsOf, removalTime, writeReports } from './host-reports.ts';
import { type Entity, identityOf } from './kinds.ts';
import type { FeedRecord } from './records.ts';

/** The records of a batch for one row. */
interface RowRecords {
  records: readonly FeedRecord[];
  /** @returns whether the row was changed; false if no record is later than what is stored */
  write(table: Table): Promise<boolean>;
}

/** Groups records by their rows. */
export function rowsOf(records: Iterable<FeedRecord>): RowRecords[] {
  const byRow = Map.groupBy(records, ({ entity }) => identityOf(entity));
  return [...byRow.values()].map((group) => {
    const { kind } = (group[0] as FeedRecord).entity;
    return { records: group, write: (table) => WRITERS[kind](table, group) };
  });
}

/** Writes the records of one row. @returns whether the row was changed */
type Writer = (table: Table, records: readonly FeedRecord[]) => Promise<boolean>;

const latestOf = (records: readonly FeedRecord[]): FeedRecord =>
  records.reduce((latest, record) => (record.order > latest.order ? record : latest));

/** Condition: no record wrote the row, or the last that did is earlier. */
const storedIsEarlier = (order: bigint) => isBelow('feed_order', order);
const RETURN_STORED = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;

interface Ordered {
  /** The order of the latest record that was written to the row. */
  feed_order?: number | bigint;
}
/** Whether a record is not newer than the stored row. */
const isOutdated = ({ feed_order }: Ordered, { order }: FeedRecord) => feed_order !== undefined && feed_order >= order;

/** Replaces the whole row by the latest record. */
async function replaceRow(table: Table, records: readonly FeedRecord[]): Promise<boolean> {
  const latest = latestOf(records);
  const { entity, order } = latest;
  return (await putRow(table, { ...rowOf(entity), feed_order: order }, storedIsEarlier(order))).done;
}

/**
 * Replaces the inventory row by the latest record. A retirement first empties the status row and gives it a time to live, so that a later
 * record that brings the host back finds the time to live and cancels it. If the latest record is not a retirement, the first attempt
 * requires that the host is active. Each further attempt requires that the row is still as the failed attempt returned it.
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
  const isActive = all(EXISTS, storedIsEarlier(order), is('retired', undefined));
  let condition = retired ? storedIsEarlier(order) : isActive;
  for (;;) {
    const { done, row: found } = await putRow(table, row, condition, RETURN_STORED);
    const stored = (done ? row : found) as (Ordered & { retired?: true }) | undefined;
    if (done || (stored && isOutdated(stored, latest))) {
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

interface StoredItem extends WorkItemRow, Ordered {
  /** The order of the latest record that deleted the item. */
  deletion_order?: number | bigint;
}

const isDeletion = ({ entity }: FeedRecord) => entity.deleted_at_ms !== undefined;

/**
 * A record that deletes the item prevails over all that do not, whichever arrives first; a deletion by a caller of the API prevails over
 * all records. After an operator has restored an item, its version stays above the deleted one, so that a caller's retry of the deletion
 * does nothing.
 */
async function writeWorkItem(table: Table, records: readonly FeedRecord[]): Promise<boolean> {
  const deletions = records.filter(isDeletion);
  if (deletions.length > 0) {
    const { entity, order } = latestOf(deletions);
    const isNeverDeleted = expression`attribute_not_exists(deleted_at_ms) AND attribute_not_exists(deletion_order)`;
    // Only a deletion by a caller of the API has `deleted_request_id`.
    const isLaterDeletion = expression`deletion_order < ${order} AND attribute_not_exists(deleted_request_id)`;
    const condition = expression`(${isNeverDeleted}) OR (${isLaterDeletion})`;
    // Has `feed_order`, since an operator may restore the item: then records from before the deletion must not change it.
    const deletion = { ...rowOf(entity), feed_order: order, deletion_order: order };
    const { done } = await putRow(table, deletion, condition);
    // If a stored deletion is as late, it may have been undone since, and then the other records count.
    if (done || deletions.length === records.length) return done;
  }
  const latest = latestOf(records.filter((record) => !isDeletion(record)));
  const { entity, order } = latest;
  const row = { ...rowOf(entity), feed_order: order };
  const version = BigInt(entity.version as Int64);
  const isAlive = expression`attribute_not_exists(deleted_at_ms)`;
  const isNeverRestored = all(isAlive, storedIsEarlier(order), expression`attribute_not_exists(undone_deletion)`);
  for (let stored: StoredItem | undefined; ; ) {
    const undone = stored?.undone_deletion;
    const kept = undone && {
      undone_deletion: undone,
      // Kept, so that a repetition of the record that deleted the item does not delete it again.
      deletion_order: stored?.deletion_order,
      version: version > BigInt(undone.version) ? version : BigInt(undone.version) + 1n,
    };
    const isAsStored = stored && all(isAsRead(stored, ['feed_order', 'deletion_order', 'undone_deletion']), isAlive);
    const { done, row: found } = await putRow(table, { ...row, ...kept }, isAsStored ?? isNeverRestored, RETURN_STORED);
    if (done) return true;
    stored = found as StoredItem | undefined;
    if (!stored || stored.deleted_at_ms !== undefined || isOutdated(stored, latest)) return false;
  }
}

/** Changes title and owner, except one that a merge has changed after the record. The sequence of a merge is comparable to `atMs`. */
async function writeIncident(table: Table, records: readonly FeedRecord[]): Promise<boolean> {
  const latest = latestOf(records);
  const { entity, order, atMs } = latest;
  const { incident_id, title, owner_id } = rowOf(entity) as unknown as IncidentRow;
  const key = keys.incident(entity.account_id, incident_id);
  const hasNoLaterChange = expression`(attribute_not_exists(last_change) OR last_change.#sequence <= ${atMs})`;
  let update = set({ incident_id, title, owner_id, feed_order: order });
  let condition = all(storedIsEarlier(order), hasNoLaterChange);
  for (;;) {
    const { done, row } = await updateRow(table, key, update, condition, RETURN_STORED);
    if (done) return true;
    const stored = row as IncidentRow & Ordered;
    if (isOutdated(stored, latest)) return false;
    const changed = await changedByMerges(table, entity, stored, atMs);
    const applied = { ...(!changed.title && { title }), ...(!changed.owner && { owner_id }) };
    update = set({ incident_id, ...applied, feed_order: order });
    condition = isAsRead(stored, ['feed_order', 'last_change']);
  }
}

/** Whether merges after `atMs` have changed the title of an incident, and whether its owner. */
async function changedByMerges(table: Table, { account_id, incident_id }: Entity, row: IncidentRow, atMs: number) {
  const { last_change: last } = row;
  if (!last || last.sequence <= atMs) return { title: false, owner: false };
  const items = await readFeed(table, account_id, String(incident_id));
  const laterEntries = items.map(({ entry }) => entry).filter(({ sequence }) => sequence > atMs);
  return {
    title: last.old_title !== undefined || laterEntries.some(({ new_title }) => new_title !== undefined),
    owner: last.old_owner_id !== undefined || laterEntries.some(({ new_owner_id }) => new_owner_id !== undefined),
  };
}

/** Creates an alert in the incident of its earliest record. Later records do not move it: only merges do. */
async function writeAlert(table: Table, records: readonly FeedRecord[]): Promise<boolean> {
  const latest = latestOf(records);
  const first = records.reduce((earliest, record) => (record.order < earliest.order ? record : earliest));
  const { entity, order } = latest;
  const { incident_id, ...fields } = {
    ...rowOf(entity),
    incident_id: rowOf(first.entity).incident_id,
    feed_order: order,
  };
  const created = await putRow(table, { ...fields, ...(incident_id !== undefined && { incident_id }) }, IS_NEW);
  if (created.done) return true;
  const { pk, sk, ...changed } = fields;
  return (await updateRow(table, { pk, sk } as KeyOf<'alert'>, set(changed), all(EXISTS, storedIsEarlier(order)))).done;
}

const WRITERS: Readonly<Record<FeedRecord['entity']['kind'], Writer>> = {
  member: replaceRow,
  host: writeHost,
  host_status: writeStatus,
  rum_resource: replaceRow,
  rum_usage: replaceRow,
  work_item: writeWorkItem,
  incident: writeIncident,
  alert: writeAlert,
};
