/** A work item. It may have further fields, which are its senders' own. */
import { type Int64, text } from '../shared/json.ts';
import { AT_MS, type Field, type OrdersOf, type RowOf } from './fields.ts';

/** Maximum length of a text that says who did something, in code points. */
export const MAX_ACTOR_LENGTH = 256;
/** The highest version at which a work item can be deleted: deletion adds 1, and a version is an int64. */
export const MAX_DELETABLE_VERSION = 2n ** 63n - 2n;

const groups = {
  row: { order: 'row_order' },
  /** Its order is that of the latest record that deleted the item. */
  deletion: { order: 'deletion_order' },
} as const;

const fields = {
  work_item_id: { stored: 'id', required: true, schema: { type: 'string', minLength: 1, maxLength: 128 } },
  version: { stored: 'row', required: true, schema: { type: 'integer', format: 'int64', minimum: 1 } },
  title: { stored: 'row', required: true, schema: text },
  /** Absent: not deleted. */
  deleted_at_ms: { stored: 'deletion', schema: AT_MS },
  /** In the row, the id of an app key, or `record: ` and what the record says. */
  deleted_by: { stored: 'deletion', schema: { type: 'string', maxLength: MAX_ACTOR_LENGTH } },
} as const satisfies Record<string, Field<keyof typeof groups>>;

export const workItem = { groups, fields, open: true } as const;

/**
 * Attributes of the service that a record can never set. Exports have `deleted_request_id` and `undone_deletion`, so those are allowed in a line
 * and dropped or checked later.
 */
export const RESERVED_WORK_ITEM_FIELDS = ['pk', 'sk', 'ttl', 'row_order', 'deletion_order'];

export interface WorkItemRow extends RowOf<typeof fields>, OrdersOf<typeof groups> {
  /** Id of the API call that deleted it. Absent if a record did. */
  deleted_request_id?: string;
  /** The latest deletion that was undone; `version` is the item's version after that deletion. */
  undone_deletion?: { version: Int64; at_ms: number; by?: string };
}
