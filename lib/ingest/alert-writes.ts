/** What records write to the row of an alert and, of one that has a key, to the row of that key. */
import { type AlertKeyRow, type AlertRow, alert as model, type Severity } from '../model/alert.ts';
import { type NamesOf, namesOf, pick } from '../model/fields.ts';
import { type Order, orderAt, sentOf, ttlAfter } from '../model/order.ts';
import type { Int64 } from '../shared/json.ts';
import { SETTINGS } from '../shared/settings.ts';
import { alertIndex } from '../table/alert-index.ts';
import { type Expression, expression, is, set } from '../table/expression.ts';
import { keys } from '../table/keys.ts';
import { type Action, updateAction } from '../table/write.ts';
import type { GroupWrite } from './group-writes.ts';
import { fieldsOf, type Row, type WriteOptions } from './record-rows.ts';
import type { IngestRecord } from './records.ts';

const CONTENT = namesOf(model.fields, { stored: 'content' });
const INCIDENT = namesOf(model.fields, { stored: 'incident' });

export const isEnd = ({ sent }: IngestRecord) => sent.alert_status === 'Ok';
export const severityOf = ({ sent }: IngestRecord) => String(sent.alert_status ?? 'Warning') as Severity;

/** What a record replaces: the content and, until a merge has taken the alert (`moved_sequence`), its incident. */
export function writesOf(record: IngestRecord): GroupWrite[] {
  const { sent, atMs, order, orders } = record;
  const { incident_id, incident_at_ms = atMs } = sent;
  const { alert_id, ...fields } = fieldsOf(sent);
  const replaced = contentOf(record, fields);
  const content = { ...replaced, event: undefined, ...(alert_id !== undefined && { alert_id }) };
  const writes = replaced ? [{ orderName: model.groups.content.order, order, fields: content }] : [];
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

/** An `Ok` keeps the title unless it has one, and all else unless it has any of that. @returns undefined if it keeps everything */
function contentOf(record: IngestRecord, fields: Row): Row | undefined {
  const { title, ...rest } = pick(fields, CONTENT);
  if (!isEnd(record) || record.orders) return { title, ...rest };
  const isTold = Object.values(rest).some((value) => value !== undefined);
  if (title === undefined && !isTold) return undefined;
  return { ...(title !== undefined && { title }), ...(isTold && rest) };
}

/** All that the records of a key write besides what {@link writesOf} gives, if they are later than the last one of the alert. */
type StateField = NamesOf<typeof model.fields, { stored: 'state' }> | keyof ReturnType<typeof alertIndex.entry> | 'ttl';
type State = { readonly [Name in StateField]: AlertRow[Name] | undefined };
type StateChange = { readonly [Name in keyof AlertRow]?: AlertRow[Name] | undefined };

export const stateWrite = (order: Order, fields: StateChange): GroupWrite => ({
  orderName: model.groups.state.order,
  order,
  fields: { event: undefined, ...fields },
});

/** The state of an alert that a record makes. @param ttl undefined: it is open; @param previous id of the key's last alert, if it has one */
export function stateOf(
  record: IngestRecord,
  alert_id: string,
  ttl: number | undefined,
  previous: string | undefined,
): State {
  const { account_id, alert_key, alert_severity, silent_after_s } = record.sent;
  const { started_at_ms, ended_at_ms = record.atMs } = record.sent;
  const started = Number(started_at_ms ?? (isEnd(record) ? ended_at_ms : record.atMs));
  const isGiven = record.orders ? record.sent.start_given === true : started_at_ms !== undefined;
  const state = {
    alert_severity: isEnd(record) ? (alert_severity as Severity | undefined) : severityOf(record),
    started_at_ms: started,
    ended_at_ms: ttl === undefined ? undefined : Math.max(started, Number(ended_at_ms)),
  };
  return {
    alert_key: String(alert_key),
    ...state,
    start_given: isGiven || undefined,
    previous_alert_id: previous,
    silent_after_s: silent_after_s as number | undefined,
    created_at_ms: sentOf(record.order),
    ttl,
    ...alertIndex.entry(account_id, { alert_id, ...state }),
  };
}

/** When the rows of an alert and of its key expire. @param order of the record that told its end last */
export const ttlOfEnd = (order: Order, options?: WriteOptions) => ttlAfterEnd(sentOf(order), options);
export const ttlAfterEnd = (atMs: number, { endedAlertDays = SETTINGS.endedAlertDays.default }: WriteOptions = {}) =>
  ttlAfter(atMs, endedAlertDays);

/** The state that an open alert has when it ends: not before its start. */
export function endOf(account: Int64, row: Started, endedAtMs: number, ttl: number): StateChange {
  const ended_at_ms = Math.max(endedAtMs, row.started_at_ms ?? 0);
  return { ended_at_ms, ttl, ...alertIndex.entry(account, { ...row, ended_at_ms }) };
}

type Started = Pick<AlertRow, 'alert_id' | 'alert_severity' | 'started_at_ms'>;

export interface KeyState extends Pick<AlertKeyRow, 'alert_id' | 'is_open'> {
  readonly ttl: number | undefined;
}

/** Writes the row of a key. @param condition on the stored row */
export const keyAction = (
  account: Int64,
  alertKey: string,
  row: KeyState & Pick<AlertKeyRow, 'row_order'>,
  condition: Expression,
): Action => updateAction(keys.alertKey(account, alertKey), set(row), condition);

/** Condition: the row of the key is as it was read. One that was read as gone may have expired. */
export const isKeyAsRead = (row: AlertKeyRow | undefined, nowMs: number): Expression =>
  row
    ? is('row_order', row.row_order)
    : expression`(${is('row_order', undefined)} OR #ttl <= ${Math.floor(nowMs / 1_000)})`;
