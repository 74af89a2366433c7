/**
 * Writes alerts: the row of an alert and, of one that has a key, the row of that key, which decides whether the key has an open alert.
 * What a record writes to both is one transaction. A record that changes an open alert writes only the row of the alert.
 */
import { hash } from 'node:crypto';
import { type AlertKeyRow, type AlertRow, isOpenAlert, alert as model } from '../model/alert.ts';
import { ordersOf } from '../model/fields.ts';
import { isBefore, type Order, orderWithoutRecord } from '../model/order.ts';
import type { Int64 } from '../shared/json.ts';
import { alertIndex } from '../table/alert-index.ts';
import type { Table } from '../table/client.ts';
import { all, EXISTS, expression, IS_NEW, is } from '../table/expression.ts';
import { keys } from '../table/keys.ts';
import { getRow, getStoredRow } from '../table/read.ts';
import { transact, transactNamed, updateAction, updateRow } from '../table/write.ts';
import {
  endOf,
  isEnd,
  isKeyAsRead,
  type KeyState,
  keyAction,
  severityOf,
  stateOf,
  stateWrite,
  ttlAfterEnd,
  ttlOfEnd,
  writesOf,
} from './alert-writes.ts';
import { areAsRead, laterWrites, latestWrites, updateOf, writeGroups } from './group-writes.ts';
import type { Found, Row, WriteOptions } from './record-rows.ts';
import type { IngestRecord } from './records.ts';

/** How many records of a key in a batch are written: the latest. Each waits for the one before, and may take a transaction. */
const MAX_RECORDS_OF_KEY = 100;

/** @returns whether a row was changed */
export async function writeAlert(
  table: Table,
  records: readonly IngestRecord[],
  latest: IngestRecord,
  options: WriteOptions,
): Promise<boolean> {
  const { alert_id, alert_key } = latest.sent;
  const { found, ...others } = options;
  if (alert_key === undefined) return writeById(table, records, latest, found);
  if (alert_id !== undefined) return restoreAlert(table, latest, options);
  let isChanged = false;
  const inOrder = records.toSorted((a, b) => Buffer.compare(a.order, b.order));
  for (const record of inOrder.slice(-MAX_RECORDS_OF_KEY))
    isChanged = (await writeOfKey(table, record, records.length === 1 ? options : others)) || isChanged;
  return isChanged;
}

/** What is written to a row that has expired would be removed with it: the records make it anew. */
async function writeById(table: Table, records: readonly IngestRecord[], { sent }: IngestRecord, found?: Found) {
  const alert = keys.alert(sent.account_id, String(sent.alert_id));
  const writes = latestWrites(records.flatMap(writesOf));
  const seconds = Math.floor(table.now() / 1_000);
  let hasExpired = false;
  const required = {
    condition: expression`(${is('ttl', undefined)} OR #ttl > ${seconds})`,
    holds({ ttl }: Row) {
      hasExpired = ttl !== undefined && Number(ttl) <= seconds;
      return !hasExpired;
    },
  };
  if ((await writeGroups(table, alert, writes, { found, required })) || !hasExpired) return !hasExpired;
  const { pk: _pk, sk: _sk, ...row } = { ...(await getStoredRow(table, alert)) } as Row;
  const nothing = Object.fromEntries(Object.keys(row).map((name) => [name, undefined]));
  const update = updateOf(
    writes.map((write, index) => (index > 0 ? write : { ...write, fields: { ...nothing, ...write.fields } })),
  );
  return (await updateRow(table, alert, update, expression`#ttl <= ${seconds}`)).done;
}

const alertKeyOf = ({ sent }: IngestRecord) => keys.alertKey(sent.account_id, String(sent.alert_key));

async function writeOfKey(table: Table, record: IngestRecord, options: WriteOptions): Promise<boolean> {
  const { found } = options;
  const read = () => getRow(table, alertKeyOf(record));
  for (
    let key = found ? (found.row as AlertKeyRow | undefined) : await read();
    isBefore(key?.row_order, record.order);
  ) {
    if (await writerOf(key, isEnd(record))(table, record, key as AlertKeyRow, options)) return true;
    const now = await read();
    // If the row of the key is as before, nothing is left to do. Otherwise another record has opened or ended an alert meanwhile.
    if (now === key || (now && !isBefore(key?.row_order, now.row_order))) return false;
    key = now;
  }
  return false;
}

/** Writes nothing if the row of the key is no longer as read. @returns whether anything was written */
type Writer = (table: Table, record: IngestRecord, key: AlertKeyRow, options: WriteOptions) => Promise<boolean>;

function writerOf(key: AlertKeyRow | undefined, ends: boolean): Writer {
  if (key && ends) return tellEnd;
  return key?.is_open ? changeOpenAlert : createAlert;
}

/** The row of the key once a record has opened or ended an alert, on condition that it is as read. */
const keyWrite = ({ now }: Table, { sent, order }: IngestRecord, state: KeyState, stored: AlertKeyRow | undefined) =>
  keyAction(sent.account_id, String(sent.alert_key), { ...state, row_order: order }, isKeyAsRead(stored, now()));

/** Makes an alert: open, or ended, if its end is all that was told. */
const createAlert: Writer = async (table, record, key, options) => {
  const { account_id, alert_key, title = alert_key } = record.sent;
  // With the order first, no other key or account gives the same text.
  const identity = `${Buffer.from(record.order).toString('hex')} ${account_id} ${alert_key}`;
  const alert_id = hash('sha256', identity, 'hex').slice(0, 24);
  const is_open = !isEnd(record);
  const ttl = is_open ? undefined : ttlOfEnd(record.order, options);
  const event = is_open ? 'AlertTriggered' : 'AlertResolved';
  const titled = { ...record, sent: { ...record.sent, title } };
  const writes = [
    ...writesOf(titled),
    stateWrite(record.order, { alert_id, ...stateOf(record, alert_id, ttl), event }),
  ];
  const failed = await transact(table, [
    keyWrite(table, record, { alert_id, is_open, ttl }, key),
    updateAction(keys.alert(account_id, alert_id), updateOf(writes), IS_NEW),
  ]);
  return failed === undefined;
};

const changeOpenAlert: Writer = (table, record, { alert_id }) => {
  const { account_id, silent_after_s } = record.sent;
  const alert_severity = severityOf(record);
  const { index_partition } = alertIndex.entry(account_id, { alert_id, alert_severity });
  const state = { alert_severity, index_partition, silent_after_s: silent_after_s as number | undefined };
  return writeGroups(table, keys.alert(account_id, alert_id), [...writesOf(record), stateWrite(record.order, state)], {
    required: {
      condition: expression`attribute_exists(alert_key) AND attribute_not_exists(ended_at_ms)`,
      holds: (row) => isOpenAlert(row) && isBefore(row.key_order, record.order),
    },
  });
};

const ORDERS = [...ordersOf(model.groups), 'moved_sequence', 'alert_key'] as const;
const ENDING = [...ORDERS, 'alert_id', 'alert_severity', 'started_at_ms', 'start_given', 'ended_at_ms'] as const;

/** Ends the last alert of the key or, if it has ended, changes it. The row of the key has the order, so that no earlier record opens an alert. */
const tellEnd: Writer = async (table, record, key, options) => {
  const { sent, order } = record;
  const { alert_id } = key;
  const alert = keys.alert(sent.account_id, alert_id);
  const ttl = ttlOfEnd(order, options);
  for (;;) {
    const row = await getStoredRow(table, alert, ENDING);
    if (!row) return createAlert(table, record, key, options);
    // A record that is later than the end has changed the alert already.
    if (!isBefore(row.key_order, order) || isOfEarlierEpisode(record, row)) return false;
    const end = isOpenAlert(row)
      ? {
          ...endOf(sent.account_id, row, Number(sent.ended_at_ms ?? record.atMs), ttl),
          event: 'AlertResolved' as const,
        }
      : { ttl };
    const writes = [...laterWrites(row, writesOf(record)), stateWrite(order, end)];
    const failed = await transactNamed(table, {
      key: keyWrite(table, record, { alert_id, is_open: false, ttl }, key),
      alert: updateAction(alert, updateOf(writes), all(EXISTS, areAsRead(row, writes))),
    });
    if (!failed) return true;
    // Another record has opened or ended an alert meanwhile. If only the alert has changed, it is read again.
    if (failed === 'key') return false;
  }
};

/** Whether an end is from before the start that a record gave: the notice of it is late. */
const isOfEarlierEpisode = (
  { sent: { ended_at_ms } }: IngestRecord,
  { start_given, started_at_ms = 0 }: Pick<AlertRow, 'start_given' | 'started_at_ms'>,
) => start_given === true && ended_at_ms !== undefined && Number(ended_at_ms) < started_at_ms;

/**
 * Ends an open alert of which no record has come, unless one has come since its row was read. A record that is later than the end opens another
 * one; an earlier one does nothing.
 */
export async function endSilentAlert(
  table: Table,
  account: Int64,
  row: Pick<AlertRow, 'alert_id' | 'alert_key' | 'key_order' | 'alert_severity' | 'started_at_ms'>,
  silentAtMs: number,
  options?: WriteOptions,
): Promise<boolean> {
  const { alert_id, alert_key, key_order, started_at_ms = 0 } = row;
  if (alert_key === undefined || key_order === undefined) return false;
  const order = orderWithoutRecord(silentAtMs, key_order);
  const ttl = ttlAfterEnd(Math.max(silentAtMs, started_at_ms), options);
  const end = stateWrite(order, { ...endOf(account, row, silentAtMs, ttl), event: 'AlertSilent' });
  const failed = await transact(table, [
    keyAction(account, alert_key, { alert_id, is_open: false, ttl, row_order: order }, is('alert_id', alert_id)),
    updateAction(keys.alert(account, alert_id), updateOf([end]), all(EXISTS, is('key_order', key_order))),
  ]);
  return failed === undefined;
}

/** Writes an alert that was exported, under its id. It is the last one of its key unless the key has a later one, or one that is open. */
async function restoreAlert(table: Table, record: IngestRecord, options: WriteOptions): Promise<boolean> {
  const { account_id, alert_key, alert_id } = record.sent;
  const id = String(alert_id).toLowerCase();
  const order = record.orders?.key_order as Order;
  for (;;) {
    const key = await getRow(table, alertKeyOf(record));
    const row = (await getStoredRow(table, keys.alert(account_id, id), ORDERS)) ?? {};
    // An id names one alert for ever.
    if (row.alert_key !== undefined && row.alert_key !== alert_key) return false;
    const isNewer = isBefore(row.key_order, order);
    const isLast = isNewer && isBefore(key?.row_order, order) && (key?.alert_id === id || !key?.is_open);
    const is_open = isLast && !isEnd(record);
    const ttl = is_open ? undefined : ttlOfEnd(order, options);
    const writes = laterWrites(row, [...writesOf(record), stateWrite(order, stateOf(record, id, ttl))]);
    if (writes.length === 0) return false;
    const failed = await transact(table, [
      ...(isLast ? [keyWrite(table, { ...record, order }, { alert_id: id, is_open, ttl }, key)] : []),
      updateAction(keys.alert(account_id, id), updateOf(writes), areAsRead(row, writes)),
    ]);
    if (failed === undefined) return true;
  }
}
