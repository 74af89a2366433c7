/** An incident: its title and its owner, which records and merges write. */
import { type Int64, int64Field, objectId, textField } from '../shared/json.ts';
import { AT_MS, type Field, type OrdersOf, type RowOf, secondsField } from './fields.ts';

const groups = {
  /** Its order is that of the record that last set it, or the time of the merge. */
  title: { order: 'title_order', byMerges: true },
  owner: { order: 'owner_order', byMerges: true },
  /** Written with the row, and never changed. */
  creation: {},
} as const;

const fields = {
  incident_id: { stored: 'id', required: true, schema: objectId, answer: textField('Identifier, for merges') },
  title: { stored: 'title', required: true, schema: { type: 'string', maxLength: 512 }, answer: textField('Title') },
  owner_id: {
    stored: 'owner',
    schema: { type: 'integer', format: 'int64' },
    answer: int64Field('Member id of the owner; 0: none'),
  },
  /** The `at_ms` of the first record that was applied. */
  created_at_ms: {
    stored: 'creation',
    by: 'exports',
    schema: AT_MS,
    as: 'created_at',
    answer: secondsField('Time of its first record'),
  },
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
