/** A person to whom an account's incidents may be assigned. */
import { int64Field, textField } from '../shared/json.ts';
import { NAME } from './account.ts';
import type { Field, OrdersOf, RowOf } from './fields.ts';

const groups = { row: { order: 'row_order' } } as const;

const fields = {
  member_id: {
    stored: 'id',
    required: true,
    schema: { type: 'integer', format: 'int64' },
    answer: int64Field('Identifier, for `owner_id` of merges'),
  },
  name: { stored: 'row', required: true, schema: NAME, as: 'member_name', answer: textField('Name') },
} as const satisfies Record<string, Field<keyof typeof groups>>;

export const member = { groups, fields } as const;

export interface MemberRow extends RowOf<typeof fields>, OrdersOf<typeof groups> {}
