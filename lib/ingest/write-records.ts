/** Writes records to the table. docs/feed.md says what a record does to a stored row. */
import type { Int64 } from '../shared/json.ts';
import type { Table } from '../table/client.ts';
import { all, expression, isAsRead, isBelow } from '../table/expression.ts';
import { rowName } from '../table/read.ts';
import type { WorkItemRow } from '../table/rows.ts';
import { putRow, RETURN_STORED } from '../table/write.ts';
import { writeAlert } from './alert-rows.ts';
import { type Found, fieldsOf, keyOf, rowOf } from './entity-rows.ts';
import { writeHost, writeStatus } from './host-rows.ts';
import type { IngestRecord } from './kinds.ts';
import { isBefore, latestOf, type Order, orderOfTime } from './order.ts';
import { writeParts } from './parts.ts';

export const byRow = (records: readonly IngestRecord[]): IngestRecord[][] => [
  ...Map.groupBy(records, ({ entity }) => rowName(keyOf(entity))).values(),
];

/** Writes the records of one row. @returns whether the row was changed; false if no record is later than what is stored */
export const writeRow = (table: Table, records: readonly IngestRecord[], found?: Found): Promise<boolean> => {
  const latest = latestOf(records) as IngestRecord;
  return WRITERS[latest.entity.kind](table, records, latest, found);
};

/** Does what {@link writeRow} does; if DynamoDB refuses that, writes the records one by one, so that only the ones it cannot store are left out. */
export async function writeAllButRefused(
  table: Table,
  records: readonly IngestRecord[],
): Promise<{ isChanged: boolean; refused: readonly IngestRecord[] }> {
  try {
    return { isChanged: await writeRow(table, records), refused: [] };
  } catch (error) {
    if ((error as Error).name !== 'ValidationException') throw error;
    if (records.length === 1) return { isChanged: false, refused: records };
    const results = [];
    for (const record of records) results.push(await writeAllButRefused(table, [record]));
    return {
      isChanged: results.some(({ isChanged }) => isChanged),
      refused: results.flatMap(({ refused }) => refused),
    };
  }
}

type Writer = (table: Table, records: readonly IngestRecord[], latest: IngestRecord, found?: Found) => Promise<boolean>;

const replaceRow: Writer = async (table, _records, latest, found) =>
  isBefore(found?.row?.row_order, latest.order) &&
  (await putRow(table, rowOf(latest), isBelow('row_order', latest.order))).done;

interface StoredItem extends WorkItemRow {
  row_order?: Order;
}

/**
 * A record that deletes the item prevails over all that do not. After a deletion was undone, a record does nothing unless it is later
 * than `undone_deletion.at_ms`, the item's former `deleted_at_ms`, and than `deletion_order`, which has the `at_ms` of the record that deleted
 * it. The two may differ.
 */
const writeWorkItem: Writer = async (table, records, _latest, found) => {
  const isDeletion = ({ entity }: IngestRecord) => entity.deleted_at_ms !== undefined;
  const deletion = latestOf(records.filter(isDeletion));
  const change = latestOf(records.filter((record) => !isDeletion(record)));
  const isDeleted = deletion !== undefined && (await deleteWorkItem(table, deletion));
  if (!change) return isDeleted;
  return (await changeWorkItem(table, change, deletion ? undefined : found)) || isDeleted;
};

const NO_UNDONE_DELETION = expression`attribute_not_exists(undone_deletion)`;

async function deleteWorkItem(table: Table, record: IngestRecord): Promise<boolean> {
  const { atMs, orders } = record;
  const order = orders?.deletion_order ?? record.order;
  // Only a deletion by a caller of the API has `deleted_request_id`: it stays as it is.
  const isNotByCaller = expression`attribute_not_exists(deleted_request_id)`;
  const isLatest = all(NO_UNDONE_DELETION, isBelow('deletion_order', order));
  const isAfterUndone = all(expression`undone_deletion.at_ms < ${atMs}`, isBelow('deletion_order', orderOfTime(atMs)));
  const condition = expression`${isNotByCaller} AND ((${isLatest}) OR (${isAfterUndone}))`;
  return (await putRow(table, { ...rowOf(record), deletion_order: order }, condition)).done;
}

/** After an operator has restored an item, its version stays above the deleted one, so that a caller's retry of the deletion does nothing. */
async function changeWorkItem(table: Table, record: IngestRecord, found?: Found): Promise<boolean> {
  const { entity, order, atMs, orders } = record;
  const version = BigInt(entity.version as Int64);
  const isAlive = expression`attribute_not_exists(deleted_at_ms)`;
  for (let stored = found?.row as StoredItem | undefined; ; ) {
    const undone = stored?.undone_deletion;
    if (stored) {
      if (stored.deleted_at_ms !== undefined || !isBefore(stored.row_order, order)) return false;
      if (undone && (undone.at_ms >= atMs || !isBefore(stored.deletion_order, orderOfTime(atMs)))) return false;
    }
    const kept = undone && {
      undone_deletion: undone,
      // Kept, so that a repetition of the record that deleted the item does not delete it again.
      deletion_order: stored?.deletion_order,
      version: version > BigInt(undone.version) ? version : BigInt(undone.version) + 1n,
    };
    const condition = stored
      ? all(isAsRead(stored, ['row_order', 'deletion_order', 'undone_deletion']), isAlive)
      : all(isAlive, NO_UNDONE_DELETION, isBelow('row_order', order));
    const row = { ...rowOf(record), deletion_order: orders?.deletion_order, ...kept };
    const written = await putRow(table, row, condition, RETURN_STORED);
    if (written.done || !written.row) return written.done;
    stored = written.row as StoredItem;
  }
}

/**
 * Replaces title and owner, each unless a merge changed it later: the time of a merge is stored as the order. Then it is kept as what the feed
 * said last; but not that of an export's line, which may be a merge's.
 */
const writeIncident: Writer = (table, _records, { entity, order, orders }, found) => {
  const { owner_id, title, ...fields } = fieldsOf(entity);
  const keptTitle = { orderAttribute: 'feed_title_order', fields: { feed_title: title } };
  const keptOwner = { orderAttribute: 'feed_owner_order', fields: { feed_owner_id: owner_id ?? null } };
  const noTitleKept = { feed_title: undefined, feed_title_order: undefined };
  const noOwnerKept = { feed_owner_id: undefined, feed_owner_order: undefined };
  const parts = [
    {
      ...{ orderAttribute: 'title_order', order: orders?.title_order ?? order },
      ...{ fields: { ...fields, title, ...noTitleKept }, ...(!orders && { kept: keptTitle }) },
    },
    {
      ...{ orderAttribute: 'owner_order', order: orders?.owner_order ?? order },
      ...{ fields: { owner_id, ...noOwnerKept }, ...(!orders && { kept: keptOwner }) },
    },
  ];
  return writeParts(table, keyOf(entity), parts, { found });
};

const WRITERS: Readonly<Record<IngestRecord['entity']['kind'], Writer>> = {
  member: replaceRow,
  host: writeHost,
  host_status: writeStatus,
  rum_resource: replaceRow,
  rum_usage: replaceRow,
  work_item: writeWorkItem,
  incident: writeIncident,
  alert: writeAlert,
};
