/** Converts entities to rows. */

import type { Int64 } from '../shared/json.ts';
import { type KeyOf, keys, type RowKind } from '../table/keys.ts';
import type { Entity } from './kinds.ts';

export type StoredRow = KeyOf<RowKind> & Record<string, unknown>;

/** Those of the named fields that are present, in lower case: ids are stored that way. */
const inLowerCase = (fields: Readonly<Record<string, unknown>>, ...names: string[]) =>
  Object.fromEntries(names.filter((name) => name in fields).map((name) => [name, String(fields[name]).toLowerCase()]));

/** The row of an entity, without `feed_order`. Throws for accounts and app keys, whose rows `packages/admin` writes. */
export function rowOf({ kind, account_id: account, at_ms: _time, ...fields }: Entity): StoredRow {
  const { host_id, ...host } = fields as { host_id?: unknown };
  switch (kind) {
    case 'member':
      return { ...keys.member(account, fields.member_id as Int64), ...fields };
    case 'host':
      return { ...keys.host(account, String(host_id)), ...host };
    case 'host_status':
      return { ...keys.hostStatus(account, String(host_id)), ...host };
    case 'rum_resource':
      return { ...keys.rumResource(account), ...fields };
    case 'rum_usage':
      return { ...keys.rumUsage(account), ...fields };
    case 'work_item':
      // With `deleted_request_id`, relay would publish the deletion, which the exporting deployment has published already.
      return {
        ...storableFields({ ...fields, deleted_request_id: undefined }),
        ...keys.workItem(account, String(fields.work_item_id)),
      };
    case 'incident':
      return {
        ...fields,
        ...keys.incident(account, String(fields.incident_id)),
        ...inLowerCase(fields, 'incident_id'),
      };
    case 'alert':
      return {
        ...fields,
        ...keys.alert(account, String(fields.alert_id)),
        ...inLowerCase(fields, 'alert_id', 'incident_id'),
      };
    case 'account':
    case 'app_key':
      throw new Error(`${kind} has no row of its own`);
  }
}

/** Converts the fields of an entity that may have further fields, with any JSON values. */
const storableFields = (fields: Readonly<Record<string, unknown>>) =>
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
