/**
 * Writes alerts: the row of an alert and, of one that has a key, the row of that key, which decides whether the key has an open alert.
 * Opening and ending write both in one transaction. A record that changes an open alert writes only the row of the alert.
 */
import { hash } from 'node:crypto';
import type { Int64 } from '../shared/json.ts';
import type { Table } from '../table/client.ts';
import { all, EXISTS, expression, IS_NEW, is, set } from '../table/expression.ts';
import { keys, openAlerts } from '../table/keys.ts';
import { getRow } from '../table/read.ts';
import type { AlertKeyRow, AlertRow } from '../table/rows.ts';
import { type Action, transact, updateAction, updateRow } from '../table/write.ts';
import { fieldsOf, keyOf } from './entity-rows.ts';
import type { FeedRecord } from './kinds.ts';
import { isBefore, type Order, orderAt, sentOf, timeOf, ttlOf } from './order.ts';
import { areAsRead, isLater, latestParts, type Part, updateOf, writeParts } from './parts.ts';

/** The row of a key is kept for this time after its alert has ended, or its end was told again. */
const KEY_DAYS = 400;
/**
 * How often the records of a batch open or end an alert of one key at most, since each time takes a transaction after the other. Only
 * episodes that are over are left out.
 */
const MAX_TURNS = 100;

/** @returns whether a row was changed */
export async function writeAlert(table: Table, records: readonly FeedRecord[], latest: FeedRecord): Promise<boolean> {
  const { alert_id, alert_key } = latest.entity;
  if (alert_key === undefined) return writeParts(table, keyOf(latest.entity), latestParts(records.flatMap(partsOf)));
  if (alert_id !== undefined) return restoreAlert(table, latest);
  let isChanged = false;
  for (const turn of turnsOf(records)) isChanged = (await writeTurn(table, turn)) || isChanged;
  return isChanged;
}

/** What a record replaces: the content and, until a merge has taken the alert (`moved_sequence`), its incident. */
function partsOf({ entity, atMs, order }: FeedRecord): Part[] {
  const { title, description, labels, source_url, alert_id, incident_id, incident_at_ms = atMs } = fieldsOf(entity);
  const fields = {
    title,
    description,
    labels,
    source_url,
    event: undefined,
    ...(alert_id !== undefined && { alert_id }),
  };
  const content = { orderAttribute: 'feed_order', order, fields };
  if (incident_id === undefined) return [content];
  const incidentOrder = orderAt(Number(incident_at_ms), order);
  const incident = { orderAttribute: 'incident_order', order: incidentOrder, endedBy: 'moved_sequence' };
  return [content, { ...incident, fields: { incident_id, event: undefined } }];
}

/** What only the records of a key write. One that is not later than the last one of the alert changes nothing of the alert. */
const keyPart = (order: Order, fields: { readonly [Name in keyof AlertRow]?: unknown }): Part => ({
  orderAttribute: 'key_order',
  order,
  fields,
});

const isEnd = ({ entity }: FeedRecord) => entity.alert_status === 'Ok';

/** Records of a key in their order, without one between them that ends the alert if they do not, or the other way round. */
type Turn = readonly [FeedRecord, ...FeedRecord[]];

function turnsOf(records: readonly FeedRecord[]): Turn[] {
  const turns: [FeedRecord, ...FeedRecord[]][] = [];
  for (const record of records.toSorted((a, b) => Buffer.compare(a.order, b.order))) {
    const turn = turns.at(-1);
    if (turn && isEnd(turn[0]) === isEnd(record)) turn.push(record);
    else turns.push([record]);
  }
  return turns.slice(-MAX_TURNS);
}

const readKey = (table: Table, { entity }: FeedRecord): Promise<AlertKeyRow | undefined> =>
  getRow(table, keys.alertKey(entity.account_id, String(entity.alert_key)));

const isSame = (a: AlertKeyRow | undefined, b: AlertKeyRow | undefined) =>
  Buffer.compare(a?.feed_order ?? new Uint8Array(), b?.feed_order ?? new Uint8Array()) === 0;

async function writeTurn(table: Table, turn: Turn): Promise<boolean> {
  for (let key = await readKey(table, turn[0]); ; ) {
    const [first, ...others] = turn.filter(({ order }) => isBefore(key?.feed_order, order));
    if (!first) return false;
    if (await writerOf(key, isEnd(first))(table, [first, ...others], key as AlertKeyRow)) return true;
    const now = await readKey(table, first);
    // Otherwise another record has opened or ended an alert meanwhile.
    if (isSame(now, key)) return false;
    key = now;
  }
}

/** Writes nothing if the row of the key is no longer as read. @returns whether anything was written */
type Writer = (table: Table, turn: Turn, key: AlertKeyRow) => Promise<boolean>;

function writerOf(key: AlertKeyRow | undefined, isOver: boolean): Writer {
  if (key?.is_open) return isOver ? endAlert : changeOpenAlert;
  return key && isOver ? changeEndedAlert : createAlert;
}

const latestOfTurn = (turn: Turn) => turn.at(-1) as FeedRecord;

/** Makes an alert: open, or ended, if its end is all that was told. */
const createAlert: Writer = async (table, turn, key) => {
  const [first] = turn;
  const latest = latestOfTurn(turn);
  const { account_id, alert_key, started_at_ms, ended_at_ms } = first.entity;
  const is_open = !isEnd(first);
  const id = newAlertId(account_id, first);
  const start = Number(started_at_ms ?? (is_open ? undefined : ended_at_ms) ?? first.atMs);
  const state = is_open ? openState(latest, id, start) : { ended_at_ms: ended_at_ms ?? first.atMs };
  const event = is_open ? 'AlertTriggered' : 'AlertResolved';
  const fields = { alert_id: id, alert_key, started_at_ms: start, created_at_ms: sentOf(first.order), ...state, event };
  const parts = [...latestParts(turn.flatMap(partsOf)), keyPart(latest.order, fields)];
  const failed = await transact(table, [
    keyAction(latest, { alert_id: id, is_open }, key),
    updateAction(keys.alert(account_id, id), updateOf(parts), IS_NEW),
  ]);
  return failed === undefined;
};

/** With the order first, no other key or account gives the same text. */
const newAlertId = (account: Int64, { entity, order }: FeedRecord) =>
  hash('sha256', `${Buffer.from(order).toString('hex')} ${account} ${entity.alert_key}`, 'hex').slice(0, 24);

function openState(
  { entity: { account_id, alert_status: severity = 'Warning' } }: FeedRecord,
  id: string,
  start?: number,
) {
  const open_partition = openAlerts.partition(account_id, String(severity), id);
  return {
    alert_severity: severity,
    open_partition,
    ...(start !== undefined && { open_at: openAlerts.sortKey(start, id) }),
  };
}
const NOT_OPEN = { open_partition: undefined, open_at: undefined };

function keyAction(
  { entity, order }: FeedRecord,
  row: Omit<AlertKeyRow, 'feed_order' | 'ttl'>,
  stored?: AlertKeyRow,
): Action {
  const ttl = row.is_open ? undefined : ttlOf(order, KEY_DAYS);
  return updateAction(keyOf(entity), set({ ...row, feed_order: order, ttl }), is('feed_order', stored?.feed_order));
}

const changeOpenAlert: Writer = (table, turn, { alert_id }) => {
  const latest = latestOfTurn(turn);
  const { order, entity } = latest;
  const parts = [...latestParts(turn.flatMap(partsOf)), keyPart(order, openState(latest, alert_id))];
  return writeParts(table, keys.alert(entity.account_id, alert_id), parts, {
    required: {
      condition: expression`attribute_exists(open_partition)`,
      holds: ({ open_partition, key_order }) => open_partition !== undefined && isBefore(key_order, order),
    },
  });
};

const endAlert: Writer = async (table, turn, key) => {
  const [{ entity, atMs }] = turn;
  const latest = latestOfTurn(turn);
  const alert = keys.alert(entity.account_id, key.alert_id);
  for (;;) {
    const row = await getRow(table, alert, ORDERS);
    // A record that is later than the end has changed the alert already.
    if (!row || !isBefore(row.key_order, latest.order)) return false;
    const parts = latestParts(turn.flatMap(partsOf)).filter((part) => isLater(row, part));
    const end = keyPart(latest.order, { ...NOT_OPEN, ended_at_ms: entity.ended_at_ms ?? atMs, event: 'AlertResolved' });
    const failed = await transact(table, [
      keyAction(latest, { alert_id: key.alert_id, is_open: false }, key),
      updateAction(alert, updateOf([...parts, end]), all(EXISTS, areAsRead(row, [...parts, end]))),
    ]);
    if (failed !== 1) return failed === undefined;
  }
};
const ORDERS = ['feed_order', 'key_order', 'incident_order', 'moved_sequence', 'alert_key'] as const;

/** The row of the key keeps the order, so that no earlier record opens an alert. It is written last: until then the record is applied again. */
const changeEndedAlert: Writer = async (table, turn, key) => {
  const latest = latestOfTurn(turn);
  const { entity, order } = latest;
  const parts = [...latestParts(turn.flatMap(partsOf)), keyPart(order, {})];
  const required = { condition: EXISTS, holds: ({ pk }: { pk?: unknown }) => pk !== undefined };
  await writeParts(table, keys.alert(entity.account_id, key.alert_id), parts, { required });
  const update = set({ feed_order: order, ttl: ttlOf(order, KEY_DAYS) });
  return (await updateRow(table, keyOf(entity), update, is('feed_order', key.feed_order))).done;
};

/** Writes an alert that was exported, under its id. It is the last one of its key unless the key has a later one, or one that is open. */
async function restoreAlert(table: Table, record: FeedRecord): Promise<boolean> {
  const { account_id, alert_key, alert_id, alert_status, alert_severity, ...entity } = record.entity;
  const order = Buffer.from(String(entity.alert_order), 'hex');
  const id = String(alert_id).toLowerCase();
  for (;;) {
    const key = await readKey(table, record);
    const row = (await getRow(table, keys.alert(account_id, id), ORDERS)) ?? {};
    // An id names one alert for ever.
    if (row.alert_key !== undefined && row.alert_key !== alert_key) return false;
    const isLast = isBefore(key?.feed_order, order) && (key?.alert_id === id || !key?.is_open);
    const is_open = isLast && !isEnd(record);
    const start = Number(entity.started_at_ms);
    const state = is_open
      ? { ...openState(record, id, start), ended_at_ms: undefined }
      : {
          ...NOT_OPEN,
          alert_severity: isEnd(record) ? alert_severity : alert_status,
          ended_at_ms: entity.ended_at_ms ?? timeOf(order),
        };
    const fields = { alert_key, started_at_ms: start, created_at_ms: sentOf(record.order), ...state };
    const parts = [...partsOf(record), keyPart(order, fields)].filter((part) => isLater(row, part));
    if (parts.length === 0) return false;
    const isNewer = parts.some(({ orderAttribute }) => orderAttribute === 'key_order');
    const failed = await transact(table, [
      ...(isLast && isNewer ? [keyAction({ ...record, order }, { alert_id: id, is_open }, key)] : []),
      updateAction(keys.alert(account_id, id), updateOf(parts), areAsRead(row, parts)),
    ]);
    if (failed === undefined) return true;
  }
}
