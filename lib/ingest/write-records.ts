/** Writes feed records to the table. docs/feed.md says what a record does to a stored row. */
import { rowName } from '../dynamodb/batch-get.ts';
import type { Table } from '../dynamodb/client.ts';
import { all, expression, isAsRead, isBelow } from '../dynamodb/expression.ts';
import { putRow, RETURN_STORED } from '../dynamodb/row.ts';
import type { WorkItemRow } from '../dynamodb/rows.ts';
import type { Int64 } from '../shared/json.ts';
import { fieldsOf, keyOf } from './entity-rows.ts';
import { writeHost, writeStatus } from './host-rows.ts';
import { orderAt, timeOf } from './order.ts';
import { latestParts, type Part, writeParts } from './parts.ts';
import { type FeedRecord, latestOf } from './records.ts';

/** Groups records by their rows. */
export const byRow = (records: readonly FeedRecord[]): FeedRecord[][] => [
  ...Map.groupBy(records, ({ entity }) => rowName(keyOf(entity))).values(),
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
  return (
    await putRow(table, { ...keyOf(entity), ...fieldsOf(entity), feed_order: order }, isBelow('feed_order', order))
  ).done;
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
  const row = { ...keyOf(entity), ...fieldsOf(entity), feed_order: order, deletion_order: order };
  // Only a deletion by a caller of the API has `deleted_request_id`: it stays as it is.
  const isNotByCaller = expression`attribute_not_exists(deleted_request_id)`;
  const isNotUndone = all(expression`attribute_not_exists(undone_deletion)`, isBelow('deletion_order', order));
  const isAfterUndone = all(expression`undone_deletion.at_ms < ${atMs}`, isBelow('deletion_order', orderAt(atMs, '')));
  const condition = expression`${isNotByCaller} AND ((${isNotUndone}) OR (${isAfterUndone}))`;
  return (await putRow(table, row, condition)).done;
}

/** After an operator has restored an item, its version stays above the deleted one, so that a caller's retry of the deletion does nothing. */
async function changeWorkItem(table: Table, { entity, order, atMs }: FeedRecord): Promise<boolean> {
  const row = { ...keyOf(entity), ...fieldsOf(entity), feed_order: order };
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

/** Replaces title and owner. A merge that changes one stores its sequence as the order, which records before it are below. */
function writeIncident(table: Table, records: readonly FeedRecord[]): Promise<boolean> {
  const parts = records.flatMap(({ entity, order }) => {
    const { owner_id, ...fields } = fieldsOf(entity);
    return [
      { name: 'title_order', order, fields },
      { name: 'owner_order', order, fields: { owner_id } },
    ];
  });
  return writeParts(table, keyOf(lastOf(records).entity), latestParts(parts));
}

/** Replaces the fields, and the incident until a merge has written the row. */
function writeAlert(table: Table, records: readonly FeedRecord[]): Promise<boolean> {
  const parts = records.flatMap(({ entity, atMs, order }): Part[] => {
    const { incident_id, incident_at_ms = atMs, ...fields } = fieldsOf(entity);
    const content = { name: 'feed_order', order, fields };
    if (incident_id === undefined) return [content];
    const incidentOrder = orderAt(Number(incident_at_ms), order);
    return [
      content,
      { name: 'incident_order', order: incidentOrder, fields: { incident_id }, unless: 'moved_sequence' },
    ];
  });
  return writeParts(table, keyOf(lastOf(records).entity), latestParts(parts));
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
