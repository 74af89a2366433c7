/**
 * Writes alerts: the row of an alert and, of one that has a key, the row of that key, which decides whether the key has an open alert.
 * Opening and ending write both in one transaction. A record that changes an open alert writes only the row of the alert.
 */
import { hash } from 'node:crypto';
import type { Table } from '../table/client.ts';
import { all, EXISTS, expression, IS_NEW, is, set } from '../table/expression.ts';
import { keys } from '../table/keys.ts';
import { transactNamed } from '../table/named-actions.ts';
import { openAlerts } from '../table/open-alerts.ts';
import { getRow } from '../table/read.ts';
import type { AlertKeyRow, AlertRow } from '../table/rows.ts';
import { type Action, transact, updateAction, updateRow } from '../table/write.ts';
import { type Found, fieldsOf, keyOf } from './entity-rows.ts';
import type { IngestRecord } from './kinds.ts';
import { isBefore, type Order, orderAt, sentOf, ttlOf } from './order.ts';
import { areAsRead, laterParts, latestParts, type Part, updateOf, writeParts } from './parts.ts';

/** The row of a key is kept for this time after its alert has ended, or its end was told again. */
export const KEY_DAYS = 400;
/** How many records of a key in a batch are written: the latest. Each waits for the one before, and may take a transaction. */
const MAX_RECORDS = 100;

/** @returns whether a row was changed */
export async function writeAlert(
  table: Table,
  records: readonly IngestRecord[],
  latest: IngestRecord,
  found?: Found,
): Promise<boolean> {
  const { alert_id, alert_key } = latest.entity;
  if (alert_key === undefined)
    return writeParts(table, keyOf(latest.entity), latestParts(records.flatMap(partsOf)), { found });
  if (alert_id !== undefined) return restoreAlert(table, latest);
  let isChanged = false;
  const inOrder = records.toSorted((a, b) => Buffer.compare(a.order, b.order));
  for (const record of inOrder.slice(-MAX_RECORDS))
    isChanged = (await writeOfKey(table, record, records.length === 1 ? found : undefined)) || isChanged;
  return isChanged;
}

/** What a record replaces: the content and, until a merge has taken the alert (`moved_sequence`), its incident. */
function partsOf({ entity, atMs, order, orders }: IngestRecord): Part[] {
  const { title, description, labels, source_url, alert_id, incident_id, incident_at_ms = atMs } = fieldsOf(entity);
  const content = {
    title,
    description,
    labels,
    source_url,
    event: undefined,
    ...(alert_id !== undefined && { alert_id }),
  };
  const parts: Part[] = [{ orderAttribute: 'row_order', order, fields: content }];
  // A merge, or its undo, may have left the alert in none, which an export says by its order.
  if (incident_id === undefined && !orders?.incident_order) return parts;
  const incidentOrder = orders?.incident_order ?? orderAt(Number(incident_at_ms), order);
  const incident = { orderAttribute: 'incident_order', order: incidentOrder, endedBy: 'moved_sequence' };
  // The line of an export tells where an alert is, not what the feed said.
  const kept = { orderAttribute: 'incident_order', fields: { feed_incident: incident_id, event: undefined } };
  return [...parts, { ...incident, fields: { incident_id, event: undefined }, ...(!orders && { kept }) }];
}

/** What only the records of a key write. One that is not later than the last one of the alert changes nothing of the alert. */
type KeyFields = { readonly [Name in keyof AlertRow]?: unknown };
const keyPart = (order: Order, fields: KeyFields): Part => ({ orderAttribute: 'key_order', order, fields });

const isEnd = ({ entity }: IngestRecord) => entity.alert_status === 'Ok';
const alertKeyOf = ({ entity }: IngestRecord) => keys.alertKey(entity.account_id, String(entity.alert_key));

async function writeOfKey(table: Table, record: IngestRecord, found?: Found): Promise<boolean> {
  const read = () => getRow(table, alertKeyOf(record));
  for (
    let key = found ? (found.row as AlertKeyRow | undefined) : await read();
    isBefore(key?.row_order, record.order);
  ) {
    if (await writerOf(key, isEnd(record))(table, record, key as AlertKeyRow)) return true;
    const now = await read();
    // Otherwise another record has opened or ended an alert meanwhile.
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
  const { account_id, alert_key } = record.entity;
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
      updateOf([...partsOf(record), keyPart(record.order, fields)]),
      IS_NEW,
    ),
  ]);
  return failed === undefined;
};

function stateOf(record: IngestRecord, id: string, isOpen: boolean): KeyFields {
  const { account_id, alert_key, alert_severity, started_at_ms, ended_at_ms = record.atMs } = record.entity;
  const start = Number(started_at_ms ?? (isEnd(record) ? ended_at_ms : record.atMs));
  const common = { alert_key, started_at_ms: start, created_at_ms: sentOf(record.order) };
  const severity = isEnd(record) ? alert_severity : severityOf(record);
  if (!isOpen) return { ...common, ...ENDED, alert_severity: severity, ended_at_ms };
  const open_partition = openAlerts.partition(account_id, severityOf(record), id);
  const open_at = openAlerts.sortKey(start, id);
  return { ...common, alert_severity: severity, ended_at_ms: undefined, open_partition, open_at };
}
const ENDED = { open_partition: undefined, open_at: undefined };
const severityOf = ({ entity }: IngestRecord) => String(entity.alert_status ?? 'Warning');

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
  const { account_id } = record.entity;
  const alert_severity = severityOf(record);
  const open_partition = openAlerts.partition(account_id, alert_severity, alert_id);
  const parts = [...partsOf(record), keyPart(record.order, { alert_severity, open_partition })];
  return writeParts(table, keys.alert(account_id, alert_id), parts, {
    required: {
      condition: expression`attribute_exists(open_partition)`,
      holds: ({ open_partition, key_order }) => open_partition !== undefined && isBefore(key_order, record.order),
    },
  });
};

const endAlert: Writer = async (table, record, key) => {
  const { alert_id } = key;
  const alert = keys.alert(record.entity.account_id, alert_id);
  for (;;) {
    const row = await getRow(table, alert, ORDERS);
    // A record that is later than the end has changed the alert already.
    if (!row || !isBefore(row.key_order, record.order)) return false;
    const ended_at_ms = record.entity.ended_at_ms ?? record.atMs;
    const end = keyPart(record.order, { ...ENDED, ended_at_ms, event: 'AlertResolved' });
    const parts = [...laterParts(row, partsOf(record)), end];
    const failed = await transactNamed(table, {
      key: keyAction(record, { alert_id, is_open: false }, key),
      alert: updateAction(alert, updateOf(parts), all(EXISTS, areAsRead(row, parts))),
    });
    if (!failed) return true;
    // Another record has opened or ended an alert meanwhile. If only the alert has changed, it is read again.
    if (failed === 'key') return false;
  }
};
const ORDERS = ['row_order', 'key_order', 'incident_order', 'moved_sequence', 'alert_key'] as const;

/** The row of the key keeps the order, so that no earlier record opens an alert. It is written last: until then the record is applied again. */
const changeEndedAlert: Writer = async (table, record, { alert_id, row_order }) => {
  const { entity, order } = record;
  const required = { condition: EXISTS, holds: ({ pk }: { pk?: unknown }) => pk !== undefined };
  const parts = [...partsOf(record), keyPart(order, {})];
  await writeParts(table, keys.alert(entity.account_id, alert_id), parts, { required });
  const update = set({ row_order: order, ttl: ttlOf(order, KEY_DAYS) });
  return (await updateRow(table, alertKeyOf(record), update, is('row_order', row_order))).done;
};

/** Writes an alert that was exported, under its id. It is the last one of its key unless the key has a later one, or one that is open. */
async function restoreAlert(table: Table, record: IngestRecord): Promise<boolean> {
  const { account_id, alert_key, alert_id } = record.entity;
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
    const parts = laterParts(row, [...partsOf(record), keyPart(order, stateOf(record, id, is_open))]);
    if (parts.length === 0) return false;
    const failed = await transact(table, [
      ...(isLast ? [keyAction({ ...record, order }, { alert_id: id, is_open }, key)] : []),
      updateAction(keys.alert(account_id, id), updateOf(parts), areAsRead(row, parts)),
    ]);
    if (failed === undefined) return true;
  }
}
