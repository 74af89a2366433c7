import { type IngestKind, modelOf, type SentRecord } from '../model/kinds.ts';
import { type Int64, objectId } from '../shared/json.ts';
import { type KeyOf, keys, type RowKind } from '../table/keys.ts';
import type { IngestRecord } from './records.ts';

export type Row = Readonly<Record<string, unknown>>;

/** What a read has found of a row before it is written, so that the first attempt fits it. The row may have changed since. */
export interface Found {
  readonly row: Row | undefined;
}

export interface WriteOptions {
  readonly found?: Found | undefined;
  /** The setting of the deployment; absent: its default. */
  readonly endedAlertDays?: number | undefined;
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

export const keyOf = (sent: SentRecord<IngestKind>) => KEYS[sent.kind](sent.account_id, sent);

/** What a record gives the attributes of its row, besides the key and what orders records. Ids are in lower case. */
export function fieldsOf({ kind, account_id: _account, at_ms: _time, ...fields }: SentRecord<IngestKind>): Row {
  const given = kind === 'work_item' ? workItemFieldsOf(fields) : fields;
  const declared = modelOf(kind).fields;
  const stored = Object.entries(given).flatMap(([name, value]) => {
    const field = Object.hasOwn(declared, name) ? declared[name] : undefined;
    if (field?.stored === 'key' || field?.stored === false) return [];
    return [[name, field?.schema === objectId ? String(value).toLowerCase() : storable(value)]];
  });
  return Object.fromEntries(stored);
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
export const rowOf = ({ sent, order }: IngestRecord) => ({
  ...keyOf(sent),
  ...fieldsOf(sent),
  row_order: order,
});

/**
 * Converts a JSON value so that the document client stores all of it. The client recognizes objects by their `constructor`, which a member
 * of that name hides; maps do not have this problem.
 */
function storable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([name, member]) => [name, storable(member)]));
}
