/** Writes feed records to the table. docs/feed.md says what a record does to a stored row. */
import type { Table } from '../dynamodb/client.ts';
import { all, expression, is, isAsRead, isBelow, set } from '../dynamodb/expression.ts';
import type { KeyOf } from '../dynamodb/keys.ts';
import { putRow, RETURN_STORED, updateRow } from '../dynamodb/row.ts';
import type { AlertRow, IncidentRow, WorkItemRow } from '../dynamodb/rows.ts';
import type { Int64 } from '../shared/json.ts';
import { rowOf } from './entity-rows.ts';
import { writeHost, writeStatus } from './host-rows.ts';
import { identityOf } from './kinds.ts';
import { orderAt, timeOf } from './order.ts';
import { type FeedRecord, latestOf } from './records.ts';

/** Groups records by their rows. */
export const byRow = (records: readonly FeedRecord[]): FeedRecord[][] => [
  ...Map.groupBy(records, ({ entity }) => identityOf(entity)).values(),
];

/** Writes the records of one row. @returns whether the row was changed; false if no record is later than what is stored */
export const writeRow = (table: Table, records: readonly [FeedRecord, ...FeedRecord[]]): Promise<boolean> =>
  WRITERS[records[0].entity.kind](table, records);

/**
 * Writes the records of one row. If DynamoDB refuses one, the others are still written.
 * @returns whether the row was changed, and the records that were refused
 */
export async function writeAccepted(
  table: Table,
  records: readonly FeedRecord[],
): Promise<{ isChanged: boolean; refused: FeedRecord[] }> {
  const [first, ...others] = records;
  if (!first) return { isChanged: false, refused: [] };
  try {
    return { isChanged: await writeRow(table, [first, ...others]), refused: [] };
  } catch (error) {
    if ((error as Error).name !== 'ValidationException') throw error;
    if (others.length === 0) return { isChanged: false, refused: [first] };
    const one = await writeAccepted(table, [first]);
    const rest = await writeAccepted(table, others);
    return { isChanged: one.isChanged || rest.isChanged, refused: [...one.refused, ...rest.refused] };
  }
}

type Writer = (table: Table, records: readonly FeedRecord[]) => Promise<boolean>;

/** The latest of records that are not none. */
const lastOf = (records: readonly FeedRecord[]) => latestOf(records) as FeedRecord;

interface Ordered {
  /** The order of the latest record that was written to the row. */
  feed_order?: string;
}
const isOutdated = ({ feed_order = '' }: Ordered, order: string) => feed_order >= order;

/** Replaces the whole row by the latest record. */
async function replaceRow(table: Table, records: readonly FeedRecord[]): Promise<boolean> {
  const { entity, order } = lastOf(records);
  return (await putRow(table, { ...rowOf(entity), feed_order: order }, isBelow('feed_order', order))).done;
}

interface StoredItem extends WorkItemRow, Ordered {
  /** The order of the latest record that deleted the item. */
  deletion_order?: string;
}

/** A record that deletes the item prevails over all that do not. One whose time is not later than an undone deletion does nothing. */
async function writeWorkItem(table: Table, records: readonly FeedRecord[]): Promise<boolean> {
  const isDeletion = ({ entity }: FeedRecord) => entity.deleted_at_ms !== undefined;
  const deletion = latestOf(records.filter(isDeletion));
  const change = latestOf(records.filter((record) => !isDeletion(record)));
  const isDeleted = deletion !== undefined && (await deleteWorkItem(table, deletion));
  return (change !== undefined && (await changeWorkItem(table, change))) || isDeleted;
}

async function deleteWorkItem(table: Table, { entity, order, atMs }: FeedRecord): Promise<boolean> {
  const row = { ...rowOf(entity), feed_order: order, deletion_order: order };
  // Only a deletion by a caller of the API has `deleted_request_id`: it stays as it is.
  const isNotByCaller = expression`attribute_not_exists(deleted_request_id)`;
  const isNotUndone = all(expression`attribute_not_exists(undone_deletion)`, isBelow('deletion_order', order));
  const isAfterUndone = all(expression`undone_deletion.at_ms < ${atMs}`, isBelow('deletion_order', orderAt(atMs, '')));
  const condition = expression`${isNotByCaller} AND ((${isNotUndone}) OR (${isAfterUndone}))`;
  return (await putRow(table, row, condition)).done;
}

/** After an operator has restored an item, its version stays above the deleted one, so that a caller's retry of the deletion does nothing. */
async function changeWorkItem(table: Table, { entity, order, atMs }: FeedRecord): Promise<boolean> {
  const row = { ...rowOf(entity), feed_order: order };
  const version = BigInt(entity.version as Int64);
  const isAlive = expression`attribute_not_exists(deleted_at_ms)`;
  const isNeverRestored = expression`attribute_not_exists(undone_deletion)`;
  for (let stored: StoredItem | undefined; ; ) {
    const undone = stored?.undone_deletion;
    const kept = undone && {
      undone_deletion: undone,
      // Kept, so that a repetition of the record that deleted the item does not delete it again.
      deletion_order: stored?.deletion_order,
      version: version > BigInt(undone.version) ? version : BigInt(undone.version) + 1n,
    };
    const condition = stored
      ? all(isAsRead(stored, ['feed_order', 'deletion_order', 'undone_deletion']), isAlive)
      : all(isAlive, isNeverRestored, isBelow('feed_order', order));
    const { done, row: found } = await putRow(table, { ...row, ...kept }, condition, RETURN_STORED);
    if (done) return true;
    stored = found as StoredItem | undefined;
    if (!stored || stored.deleted_at_ms !== undefined || isOutdated(stored, order)) return false;
    const { undone_deletion, deletion_order = '' } = stored;
    if (undone_deletion && Math.max(undone_deletion.at_ms, timeOf(deletion_order)) >= atMs) return false;
  }
}

/** Replaces title and owner, each unless a merge changed it later: sequences of merges are comparable to `atMs`. */
async function writeIncident(table: Table, records: readonly FeedRecord[]): Promise<boolean> {
  const { entity, order, atMs } = lastOf(records);
  const { pk, sk, incident_id, title, owner_id } = rowOf(entity);
  const [titleIsOlder, ownerIsOlder] = [isBelow('title_sequence', atMs + 1), isBelow('owner_sequence', atMs + 1)];
  let update = set({ incident_id, title, owner_id, feed_order: order });
  let condition = all(isBelow('feed_order', order), titleIsOlder, ownerIsOlder);
  for (;;) {
    const { done, row } = await updateRow(table, { pk, sk } as KeyOf<'incident'>, update, condition, RETURN_STORED);
    if (done) return true;
    const stored = row as IncidentRow & Ordered;
    if (isOutdated(stored, order)) return false;
    const { title_sequence = 0, owner_sequence = 0 } = stored;
    const later = { ...(title_sequence <= atMs && { title }), ...(owner_sequence <= atMs && { owner_id }) };
    update = set({ incident_id, ...later, feed_order: order });
    condition = isAsRead(stored, ['feed_order', 'title_sequence', 'owner_sequence']);
  }
}

/** When the record says that the alert is in its incident. */
const incidentOrderOf = ({ entity, order }: FeedRecord) =>
  entity.incident_at_ms === undefined ? order : orderAt(Number(entity.incident_at_ms), order);

/** Replaces the fields, and the incident until a merge has written the row. The incident has an order of its own. */
async function writeAlert(table: Table, records: readonly FeedRecord[]): Promise<boolean> {
  const latest = lastOf(records);
  const { pk, sk, incident_id: _incident, incident_at_ms: _time, ...fields } = rowOf(latest.entity);
  const content = { ...fields, feed_order: latest.order };
  const [assignment] = records
    .filter(({ entity }) => entity.incident_id !== undefined)
    .map((record) => ({ incident_id: rowOf(record.entity).incident_id, incident_order: incidentOrderOf(record) }))
    .sort((a, b) => (a.incident_order < b.incident_order ? 1 : -1));
  let update = set({ ...content, ...assignment });
  let condition = isBelow('feed_order', latest.order);
  if (assignment)
    condition = all(condition, is('moved_sequence', undefined), isBelow('incident_order', assignment.incident_order));
  for (;;) {
    const { done, row } = await updateRow(table, { pk, sk } as KeyOf<'alert'>, update, condition, RETURN_STORED);
    if (done) return true;
    const stored = row as AlertRow & Ordered;
    const { moved_sequence, incident_order = '' } = stored;
    const isAssigned = assignment && moved_sequence === undefined && incident_order < assignment.incident_order;
    const later = { ...(!isOutdated(stored, latest.order) && content), ...(isAssigned && assignment) };
    if (Object.keys(later).length === 0) return false;
    update = set(later);
    condition = isAsRead(stored, ['feed_order', 'moved_sequence', 'incident_order']);
  }
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
