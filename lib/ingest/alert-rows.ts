/**
 * Writes alerts: the row of an alert and, of one that has a key, the row of that key, which decides whether the key has an open alert.
 * Opening and ending write both in one transaction. A record that changes an open alert writes only the row of the alert.
 */
import { hash } from 'node:crypto';
import { type AlertKeyRow, alert as model } from '../model/alert.ts';
import { type NamesOf, namesOf, ordersOf, pick } from '../model/fields.ts';
import { isBefore, type Order, orderAt, sentOf, ttlOf } from '../model/order.ts';
import type { Table } from '../table/client.ts';
import { all, EXISTS, expression, IS_NEW, is, set } from '../table/expression.ts';
import { keys } from '../table/keys.ts';
import { openAlerts } from '../table/open-alerts.ts';
import { getRow } from '../table/read.ts';
import { type Action, transact, transactNamed, updateAction, updateRow } from '../table/write.ts';
import { areAsRead, type GroupWrite, laterWrites, latestWrites, updateOf, writeGroups } from './group-writes.ts';
import { type Found, fieldsOf, keyOf } from './record-rows.ts';
import type { IngestRecord } from './records.ts';

/** The row of a key is kept for this time after its alert has ended, or its end was told again. */
export const KEY_DAYS = 400;
/** How many records of a key in a batch are written: the latest. Each waits for the one before, and may take a transaction. */
const MAX_RECORDS_OF_KEY = 100;

/** @returns whether a row was changed */
export async function writeAlert(
  table: Table,
  records: readonly IngestRecord[],
  latest: IngestRecord,
  found?: Found,
): Promise<boolean> {
  const { alert_id, alert_key } = latest.sent;
  if (alert_key === undefined)
    return writeGroups(table, keyOf(latest.sent), latestWrites(records.flatMap(writesOf)), { found });
  if (alert_id !== undefined) return restoreAlert(table, latest);
  let isChanged = false;
  const inOrder = records.toSorted((a, b) => Buffer.compare(a.order, b.order));
  for (const record of inOrder.slice(-MAX_RECORDS_OF_KEY))
    isChanged = (await writeOfKey(table, record, records.length === 1 ? found : undefined)) || isChanged;
  return isChanged;
}

const CONTENT = namesOf(model.fields, { stored: 'content' });
const INCIDENT = namesOf(model.fields, { stored: 'incident' });

/** What any record replaces: the content and, until a merge has taken the alert (`moved_sequence`), its incident. */
function writesOf({ sent, atMs, order, orders }: IngestRecord): GroupWrite[] {
  const { incident_id, incident_at_ms = atMs } = sent;
  const { alert_id, ...fields } = fieldsOf(sent);
  const content = { ...pick(fields, CONTENT), event: undefined, ...(alert_id !== undefined && { alert_id }) };
  const writes: GroupWrite[] = [{ orderName: model.groups.content.order, order, fields: content }];
  // A merge, or its undo, may have left the alert in none, which an export says by its order.
  if (incident_id === undefined && !orders?.incident_order) return writes;
  const { order: orderName, lockedBy } = model.groups.incident;
  const incident: GroupWrite = {
    orderName,
    order: orders?.incident_order ?? orderAt(Number(incident_at_ms), order),
    fields: { ...pick(fields, INCIDENT), event: undefined },
    lockedBy,
  };
  // The line of an export tells where an alert is, not what the feed said.
  if (orders) return [...writes, incident];
  const feedSaid = { orderName, fields: { feed_incident: fields.incident_id, event: undefined } };
  return [...writes, { ...incident, besideMerge: feedSaid }];
}

/** All that the records of a key write besides what {@link writesOf} gives, if they are later than the last one of the alert. */
type State = { readonly [Name in NamesOf<typeof model.fields, { stored: 'state' }> | keyof typeof ENDED]: unknown };
const ENDED = { open_partition: undefined, open_at: undefined };

const stateWrite = (order: Order, fields: Partial<State> & { alert_id?: string; event?: string }): GroupWrite => ({
  orderName: model.groups.state.order,
  order,
  fields,
});

const isEnd = ({ sent }: IngestRecord) => sent.alert_status === 'Ok';
const alertKeyOf = ({ sent }: IngestRecord) => keys.alertKey(sent.account_id, String(sent.alert_key));

async function writeOfKey(table: Table, record: IngestRecord, found?: Found): Promise<boolean> {
  const read = () => getRow(table, alertKeyOf(record));
  for (
    let key = found ? (found.row as AlertKeyRow | undefined) : await read();
    isBefore(key?.row_order, record.order);
  ) {
    if (await writerOf(key, isEnd(record))(table, record, key as AlertKeyRow)) return true;
    const now = await read();
    // If the row of the key is as before, nothing is left to do. Otherwise another record has opened or ended an alert meanwhile.
    if (now === key || (now && !isBefore(key?.row_order, now.row_order))) return false;
    key = now;
  }
  return false;
}

/** Writes nothing if the row of the key is no longer as read. @returns whether anything was written */
type Writer = (table: Table, record: IngestRecord, key: AlertKeyRow) => Promise<boolean>;

function writerOf(key: AlertKeyRow | undefined, ends: boolean): Writer {
  if (key?.is_open) return ends ? endAlert : changeOpenAlert;
  return key && ends ? changeEndedAlert : createAlert;
}

/** Makes an alert: open, or ended, if its end is all that was told. */
const createAlert: Writer = async (table, record, key) => {
  const { account_id, alert_key } = record.sent;
  // With the order first, no other key or account gives the same text.
  const identity = `${Buffer.from(record.order).toString('hex')} ${account_id} ${alert_key}`;
  const alert_id = hash('sha256', identity, 'hex').slice(0, 24);
  const is_open = !isEnd(record);
  const event = is_open ? 'AlertTriggered' : 'AlertResolved';
  const fields = { alert_id, ...stateOf(record, alert_id, is_open), event };
  const failed = await transact(table, [
    keyAction(record, { alert_id, is_open }, key),
    updateAction(
      keys.alert(account_id, alert_id),
      updateOf([...writesOf(record), stateWrite(record.order, fields)]),
      IS_NEW,
    ),
  ]);
  return failed === undefined;
};

function stateOf(record: IngestRecord, id: string, isOpen: boolean): State {
  const { account_id, alert_key, alert_severity, silent_after_s } = record.sent;
  const { started_at_ms, ended_at_ms = record.atMs } = record.sent;
  const start = Number(started_at_ms ?? (isEnd(record) ? ended_at_ms : record.atMs));
  const common = { alert_key, started_at_ms: start, created_at_ms: sentOf(record.order), silent_after_s };
  const severity = isEnd(record) ? alert_severity : severityOf(record);
  if (!isOpen) return { ...common, ...ENDED, alert_severity: severity, ended_at_ms };
  const open_partition = openAlerts.partition(account_id, severityOf(record), id);
  const open_at = openAlerts.sortKey(start, id);
  return { ...common, alert_severity: severity, ended_at_ms: undefined, open_partition, open_at };
}
const severityOf = ({ sent }: IngestRecord) => String(sent.alert_status ?? 'Warning');

function keyAction(
  record: IngestRecord,
  state: Pick<AlertKeyRow, 'alert_id' | 'is_open'>,
  stored?: AlertKeyRow,
): Action {
  const { order } = record;
  const row = { ...state, row_order: order, ttl: state.is_open ? undefined : ttlOf(order, KEY_DAYS) };
  return updateAction(alertKeyOf(record), set(row), is('row_order', stored?.row_order));
}

const changeOpenAlert: Writer = (table, record, { alert_id }) => {
  const { account_id } = record.sent;
  const alert_severity = severityOf(record);
  const open_partition = openAlerts.partition(account_id, alert_severity, alert_id);
  const writes = [...writesOf(record), stateWrite(record.order, { alert_severity, open_partition })];
  return writeGroups(table, keys.alert(account_id, alert_id), writes, {
    required: {
      condition: expression`attribute_exists(open_partition)`,
      holds: ({ open_partition, key_order }) => open_partition !== undefined && isBefore(key_order, record.order),
    },
  });
};

const endAlert: Writer = async (table, record, key) => {
  const { alert_id } = key;
  const alert = keys.alert(record.sent.account_id, alert_id);
  for (;;) {
    const row = await getRow(table, alert, ORDERS);
    // A record that is later than the end has changed the alert already.
    if (!row || !isBefore(row.key_order, record.order)) return false;
    const ended_at_ms = record.sent.ended_at_ms ?? record.atMs;
    const end = stateWrite(record.order, { ...ENDED, ended_at_ms, event: 'AlertResolved' });
    const writes = [...laterWrites(row, writesOf(record)), end];
    const failed = await transactNamed(table, {
      key: keyAction(record, { alert_id, is_open: false }, key),
      alert: updateAction(alert, updateOf(writes), all(EXISTS, areAsRead(row, writes))),
    });
    if (!failed) return true;
    // Another record has opened or ended an alert meanwhile. If only the alert has changed, it is read again.
    if (failed === 'key') return false;
  }
};
const ORDERS = [...ordersOf(model.groups), 'moved_sequence', 'alert_key'] as const;

/** The row of the key keeps the order, so that no earlier record opens an alert. It is written last: until then the record is applied again. */
const changeEndedAlert: Writer = async (table, record, { alert_id, row_order }) => {
  const { sent, order } = record;
  const required = { condition: EXISTS, holds: ({ pk }: { pk?: unknown }) => pk !== undefined };
  const writes = [...writesOf(record), stateWrite(order, {})];
  await writeGroups(table, keys.alert(sent.account_id, alert_id), writes, { required });
  const update = set({ row_order: order, ttl: ttlOf(order, KEY_DAYS) });
  return (await updateRow(table, alertKeyOf(record), update, is('row_order', row_order))).done;
};

/** Writes an alert that was exported, under its id. It is the last one of its key unless the key has a later one, or one that is open. */
async function restoreAlert(table: Table, record: IngestRecord): Promise<boolean> {
  const { account_id, alert_key, alert_id } = record.sent;
  const id = String(alert_id).toLowerCase();
  const order = record.orders?.key_order as Order;
  for (;;) {
    const key = await getRow(table, alertKeyOf(record));
    const row = (await getRow(table, keys.alert(account_id, id), ORDERS)) ?? {};
    // An id names one alert for ever.
    if (row.alert_key !== undefined && row.alert_key !== alert_key) return false;
    const isNewer = isBefore(row.key_order, order);
    const isLast = isNewer && isBefore(key?.row_order, order) && (key?.alert_id === id || !key?.is_open);
    const is_open = isLast && !isEnd(record);
    const writes = laterWrites(row, [...writesOf(record), stateWrite(order, stateOf(record, id, is_open))]);
    if (writes.length === 0) return false;
    const failed = await transact(table, [
      ...(isLast ? [keyAction({ ...record, order }, { alert_id: id, is_open }, key)] : []),
      updateAction(keys.alert(account_id, id), updateOf(writes), areAsRead(row, writes)),
    ]);
    if (failed === undefined) return true;
  }
}
