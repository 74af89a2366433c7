/** Converts entities to rows. */
import type { Int64 } from '../shared/json.ts';
import { type KeyOf, keys, type RowKind } from '../table/keys.ts';
import type { Entity, IngestKind, IngestRecord } from './kinds.ts';

export type Row = Readonly<Record<string, unknown>>;

/** What a read has found of a row before it is written, so that the first attempt fits it. The row may have changed since. */
export interface Found {
  readonly row: Row | undefined;
}

const KEYS: Readonly<Record<IngestKind, (account: Int64, fields: Row) => KeyOf<RowKind>>> = {
  member: (account, { member_id }) => keys.member(account, member_id as Int64),
  host: (account, { host_id }) => keys.host(account, String(host_id)),
  host_status: (account, { host_id }) => keys.hostStatus(account, String(host_id)),
  rum_resource: keys.rumResource,
  rum_usage: keys.rumUsage,
  work_item: (account, { work_item_id }) => keys.workItem(account, String(work_item_id)),
  incident: (account, { incident_id }) => keys.incident(account, String(incident_id)),
  // Of an alert with a key, the row that decides.
  alert: (account, { alert_id, alert_key }) =>
    alert_key === undefined ? keys.alert(account, String(alert_id)) : keys.alertKey(account, String(alert_key)),
};

export const keyOf = (entity: Entity<IngestKind>) => KEYS[entity.kind](entity.account_id, entity);

/** The attributes that an entity gives its row, besides its key and what orders records. Ids of incidents and alerts are in lower case. */
export function fieldsOf({ kind, account_id: _account, at_ms: _time, ...fields }: Entity<IngestKind>): Row {
  if (kind === 'host' || kind === 'host_status') {
    const { host_id: _key, ...others } = fields;
    return others;
  }
  if (kind === 'work_item') return storableFields(workItemFieldsOf(fields));
  if (kind !== 'incident' && kind !== 'alert') return fields;
  const isId = (name: string) => name === 'incident_id' || name === 'alert_id';
  // The names of labels are the sender's.
  const rowValue = (name: string, value: unknown) =>
    isId(name) ? String(value).toLowerCase() : name === 'labels' ? storable(value) : value;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, rowValue(name, value)]));
}

/** Begins the stored text for an actor whom a record names, so that it is never read as an operator's name or the id of an app key. */
const FROM_RECORD = 'record: ';

/** The text that a record gave for an actor, from what is stored. */
export const actorAsGiven = (stored: string) =>
  stored.startsWith(FROM_RECORD) ? stored.slice(FROM_RECORD.length) : stored;

function workItemFieldsOf({ deleted_by, undone_deletion, ...fields }: Row): Row {
  const storedActor = (given: unknown) => (given === undefined ? undefined : `${FROM_RECORD}${given}`);
  const undone = undone_deletion as { by?: unknown } | undefined;
  return {
    ...fields,
    deleted_by: storedActor(deleted_by),
    undone_deletion: undone && { ...undone, by: storedActor(undone.by) },
    // With this, the event would say that an API call of this deployment deleted the item.
    deleted_request_id: undefined,
  };
}

/** The row of a record that replaces all of it. */
export const rowOf = ({ entity, order }: IngestRecord) => ({
  ...keyOf(entity),
  ...fieldsOf(entity),
  row_order: order,
});

/** Converts the fields of an entity that may have further fields, with any JSON values. Undefined is not stored. */
const storableFields = (fields: Row) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, storable(value)]));

/**
 * Converts a JSON value so that the document client stores all of it. The client recognizes objects by their `constructor`, which a member
 * of that name hides; maps do not have this problem.
 */
function storable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([name, member]) => [name, storable(member)]));
}
