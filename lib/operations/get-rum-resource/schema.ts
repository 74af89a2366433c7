import type { Operation } from '../../http/operation.ts';
import { answersOf } from '../../model/fields.ts';
import { rumResource as resource, rumUsage as usage } from '../../model/rum.ts';
import { int64Field } from '../../shared/json.ts';

const rumFields = {
  account_id: int64Field('The account that the record belongs to'),
  ...answersOf(resource.fields),
  ...answersOf(usage.fields),
} as const;

const rumResource = {
  title: 'RumResource',
  type: 'object',
  description:
    "The account's RUM plan and quotas, which may be as old as the header Age says, and the usage of the current window",
  required: Object.keys(rumFields) as (keyof typeof rumFields)[],
  additionalProperties: false,
  properties: rumFields,
} as const;

export const getRumResource = {
  name: 'get-rum-resource',
  method: 'POST',
  path: '/rum/resource/info',
  summary: "Read the account's RUM plan, quotas and usage",
  description:
    'The record may be as old as the header `Age` says, unless `no_cache` is true; usage is read on every call.',
  tag: 'RUM',
  grants: [
    { actions: ['GetItem'], on: ['appKey', 'rumUsage'] },
    { actions: ['Query'], on: ['rumResource', 'rumUsage'] },
  ],
  concurrencyShare: 0.1,
  request: {
    title: 'GetRumResourceRequest',
    type: 'object',
    properties: {
      no_cache: {
        type: 'boolean',
        default: false,
        description:
          'Bypass the short-lived cache and read the record (plan, quotas, status) from its source; does not refresh the usage counts, which are read on every call',
      },
    },
  },
  response: rumResource,
  headers: ['Age'],
  example: {
    request: {},
    data: {
      account_id: 1,
      product: 'rum',
      version: 'professional',
      status: 'enabled',
      offering_id: 30_211,
      order_id: 'ord-20260418-0017',
      resource_id: 'rum-1-primary',
      resource_name: 'Web and mobile',
      created_at: 1_777_087_227,
      updated_at: 1_794_972_027,
      window_start_time: 1_794_194_427,
      window_end_time: 1_796_786_427,
      'action.days': 30,
      'error.days': 30,
      'long_task.days': 15,
      'resource.days': 15,
      'session.days': 30,
      'view.days': 30,
      session_limit_reached: false,
      'session_investigate.free_cnt': 100_000,
      'session_investigate.used_cnt': 41_873,
      'session_measure.free_cnt': 500_000,
      'session_measure.used_cnt': 203_114,
      'session_replay.free_cnt': 20_000,
      'session_replay.used_cnt': 7_950,
    },
  },
  refusals: [{ summary: 'The account has no RUM resource', name: 'rumResourceNotFound' }],
} as const satisfies Operation;
