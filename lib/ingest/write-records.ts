/** Writes records to the table. docs/feed.md says what a record does to a stored row. */

import { namesOf, pick } from '../model/fields.ts';
import { incident } from '../model/incident.ts';
import { isBefore, latestOf, orderOfTime } from '../model/order.ts';
import type { WorkItemRow } from '../model/work-item.ts';
import type { Int64 } from '../shared/json.ts';
import type { Table } from '../table/client.ts';
import { all, expression, isAsRead, isBelow } from '../table/expression.ts';
import { rowName } from '../table/read.ts';
import { putRow, RETURN_STORED } from '../table/write.ts';
import { writeAlert } from './alert-rows.ts';
import { writeGroups } from './group-writes.ts';
import { writeHost, writeStatus } from './host-rows.ts';
import { type Found, fieldsOf, keyOf, rowOf, type WriteOptions } from './record-rows.ts';
import type { IngestRecord } from './records.ts';

export const byRow = (records: readonly IngestRecord[]): IngestRecord[][] => [
  ...Map.groupBy(records, ({ sent }) => rowName(keyOf(sent))).values(),
];

/** Writes the records of one row. @returns whether the row was changed; false if no record is later than what is stored */
export const writeRow = (
  table: Table,
  records: readonly IngestRecord[],
  options: WriteOptions = {},
): Promise<boolean> => {
  const latest = latestOf(records) as IngestRecord;
  return WRITERS[latest.sent.kind](table, records, latest, options);
};

/** Does what {@link writeRow} does; if DynamoDB refuses that, writes the records one by one, so that only the ones it cannot store are left out. */
export async function writeAllButRefused(
  table: Table,
  records: readonly IngestRecord[],
  options?: WriteOptions,
): Promise<{ isChanged: boolean; refused: readonly IngestRecord[] }> {
  try {
    return { isChanged: await writeRow(table, records, options), refused: [] };
  } catch (error) {
    if ((error as Error).name !== 'ValidationException') throw error;
    if (records.length === 1) return { isChanged: false, refused: records };
    const results = [];
    for (const record of records) results.push(await writeAllButRefused(table, [record], options));
    return {
      isChanged: results.some(({ isChanged }) => isChanged),
      refused: results.flatMap(({ refused }) => refused),
    };
  }
}

type Writer = (
  table: Table,
  records: readonly IngestRecord[],
  latest: IngestRecord,
  options: WriteOptions,
) => Promise<boolean>;

const replaceRow: Writer = async (table, _records, latest, { found }) =>
  isBefore(found?.row?.row_order, latest.order) &&
  (await putRow(table, rowOf(latest), isBelow('row_order', latest.order))).done;

/**
 * A record that deletes the item prevails over all that do not. After a deletion was undone, a record does nothing unless it is later
 * than `undone_deletion.at_ms`, the item's former `deleted_at_ms`, and than `deletion_order`, which has the `at_ms` of the record that deleted
 * it. The two may differ.
 */
const writeWorkItem: Writer = async (table, records, _latest, { found }) => {
  const isDeletion = ({ sent }: IngestRecord) => sent.deleted_at_ms !== undefined;
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
  const { sent, order, atMs, orders } = record;
  const version = BigInt(sent.version as Int64);
  const isAlive = expression`attribute_not_exists(deleted_at_ms)`;
  for (let stored = found?.row as WorkItemRow | undefined; ; ) {
    const undone = stored?.undone_deletion;
    if (stored) {
      if (stored.deleted_at_ms !== undefined || !isBefore(stored.row_order, order)) return false;
      if (undone && (undone.at_ms >= atMs || !isBefore(stored.deletion_order, orderOfTime(atMs)))) return false;
    }
    const restored = undone && {
      undone_deletion: undone,
      // It stays, so that a repetition of the record that deleted the item does not delete it again.
      deletion_order: stored?.deletion_order,
      version: version > BigInt(undone.version) ? version : BigInt(undone.version) + 1n,
    };
    const condition = stored
      ? all(isAsRead(stored, ['row_order', 'deletion_order', 'undone_deletion']), isAlive)
      : all(isAlive, NO_UNDONE_DELETION, isBelow('row_order', order));
    const row = { ...rowOf(record), deletion_order: orders?.deletion_order, ...restored };
    const written = await putRow(table, row, condition, RETURN_STORED);
    if (written.done || !written.row) return written.done;
    stored = written.row as WorkItemRow;
  }
}

/**
 * Replaces title and owner, each unless a merge changed it later: the time of a merge is stored as the order. Then the row has beside it what the
 * feed said last, but not what an export's line says, which may be a merge's.
 */
const writeIncident: Writer = (table, [first], { sent, order, orders }, { found }) => {
  const fields = fieldsOf(sent);
  const initial = { created_at_ms: first?.sent.created_at_ms ?? first?.atMs };
  const { incident_id } = fields;
  const writes = INCIDENT_GROUPS.map(({ orderName, names }) => {
    const feedOrder = `feed_${orderName}`;
    const feedSaid = Object.fromEntries(names.map((name) => [`feed_${name}`, fields[name] ?? null]));
    const nothingBeside = Object.fromEntries([feedOrder, ...Object.keys(feedSaid)].map((name) => [name, undefined]));
    return {
      orderName,
      order: orders?.[orderName] ?? order,
      fields: { incident_id, ...pick(fields, names), ...nothingBeside },
      ...(!orders && { besideMerge: { orderName: feedOrder, fields: feedSaid } }),
    };
  });
  return writeGroups(table, keyOf(sent), writes, { initial, found });
};
const INCIDENT_GROUPS = (['title', 'owner'] as const).map((stored) => ({
  orderName: incident.groups[stored].order,
  names: namesOf(incident.fields, { stored }),
}));

const WRITERS: Readonly<Record<IngestRecord['sent']['kind'], Writer>> = {
  member: replaceRow,
  host: writeHost,
  host_status: writeStatus,
  rum_resource: replaceRow,
  rum_usage: replaceRow,
  work_item: writeWorkItem,
  incident: writeIncident,
  alert: writeAlert,
};
