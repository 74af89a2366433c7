/** An incident: its title and its owner, which records and merges write. */
import { type Int64, objectId } from '../shared/json.ts';
import type { Field, OrdersOf, RowOf } from './fields.ts';

const groups = {
  /** Its order is that of the record that last set it, or the time of the merge. */
  title: { order: 'title_order', byMerges: true },
  owner: { order: 'owner_order', byMerges: true },
} as const;

const fields = {
  incident_id: { stored: 'id', required: true, schema: objectId },
  title: { stored: 'title', required: true, schema: { type: 'string', maxLength: 512 } },
  owner_id: { stored: 'owner', schema: { type: 'integer', format: 'int64' } },
} as const satisfies Record<string, Field<keyof typeof groups>>;

export const incident = { groups, fields } as const;

export interface IncidentRow extends RowOf<typeof fields>, OrdersOf<typeof groups> {
  /** Sequence of the latest merge that gave it a title, even if a record has replaced that. */
  title_by?: number;
  owner_by?: number;
  /** While the title is a merge's: the one that the feed gave last, and the order of that record. */
  feed_title?: string;
  feed_title_order?: Uint8Array;
  /** null: none. */
  feed_owner_id?: Int64 | null;
  feed_owner_order?: Uint8Array;
}
