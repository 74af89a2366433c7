/** The RUM plan and quotas of an account, and what the current window has used of them: two rows, which one answer shows. */
import { flag, flagField, int64Field, textField } from '../shared/json.ts';
import { type Field, UNIX_SECONDS } from './fields.ts';

const groups = { row: { order: 'row_order' } } as const;

/** A field that every record of the kind has, and that the answer shows as it is stored. */
const shown = <const Schema extends object>(schema: Schema) =>
  ({ stored: 'row', required: true, schema, answer: schema }) as const;
const time = (description = 'Unix time in seconds') =>
  ({ stored: 'row', required: true, schema: UNIX_SECONDS, answer: int64Field(description) }) as const;

const resourceFields = {
  product: shown(textField('Currently always rum')),
  version: shown(textField('Plan version, such as free or professional')),
  status: shown(textField('Whether the plan is in force, such as enabled or disabled')),
  offering_id: shown(int64Field('The offering that was ordered')),
  order_id: shown(textField('The order')),
  resource_id: shown(textField('Identifier of the record')),
  resource_name: shown(textField('Name of the record, for people')),
  created_at: time(),
  updated_at: time(),
  window_start_time: time('Start of the plan window: Unix time in seconds'),
  window_end_time: time('End of the plan window: Unix time in seconds'),
  'action.days': shown(int64Field('Days that actions are kept')),
  'error.days': shown(int64Field('Days that errors are kept')),
  'long_task.days': shown(int64Field('Days that long tasks are kept')),
  'resource.days': shown(int64Field('Days that resources are kept')),
  'session.days': shown(int64Field('Days that sessions are kept')),
  'view.days': shown(int64Field('Days that views are kept')),
  'session_investigate.free_cnt': shown(int64Field('Free quota of investigated sessions in the window')),
  'session_measure.free_cnt': shown(int64Field('Free quota of measured sessions in the window')),
  'session_replay.free_cnt': shown(int64Field('Free quota of replayed sessions in the window')),
  /** The account has no plan. */
  deleted: { stored: 'row', schema: flag },
} as const satisfies Record<string, Field<keyof typeof groups>>;

const usageFields = {
  session_limit_reached: shown(flagField('A session quota of the window is used up; false if nothing was used yet')),
  'session_investigate.used_cnt': shown(int64Field('Investigated sessions used in the window so far; 0 when none')),
  'session_measure.used_cnt': shown(int64Field('Measured sessions used in the window so far; 0 when none')),
  'session_replay.used_cnt': shown(int64Field('Replayed sessions used in the window so far; 0 when none')),
} as const satisfies Record<string, Field<keyof typeof groups>>;

export const rumResource = { groups, fields: resourceFields } as const;
export const rumUsage = { groups, fields: usageFields } as const;
