import { type Operation, THROTTLE } from '../../http/operation.ts';

export const sendRecords = {
  name: 'send-records',
  method: 'POST',
  path: '/feed/records',
  summary: 'Send records to the feed',
  description:
    'Requires the permission Feed Write (`feed`).\n\n' +
    'The records of feed.schema.json, of this account: `account_id` may be left out, and `at_ms` is by default the arrival of the call. ' +
    'All are taken or none; `InvalidParameter` names the first that cannot be. Once taken, they are applied within seconds. ' +
    'After a 503, which may come although they are taken, send them again with the same `at_ms`: then repeated records change nothing. ' +
    'Without `at_ms` each call makes them newer, so that a repetition may undo records that came between. ' +
    'By default an account may send 20,000 records and alerts in 3 seconds, and 120,000 in a minute.',
  tag: 'Feed',
  permission: 'feed',
  budgeted: 'records',
  throttle: THROTTLE,
  grants: [
    { actions: ['GetItem'], on: ['appKey', 'rate'] },
    { actions: ['UpdateItem'], on: ['rate'] },
  ],
  sendsTo: ['ingest'],
  concurrencyShare: 0.05,
  request: {
    title: 'SendRecordsRequest',
    type: 'object',
    required: ['records'],
    properties: {
      records: {
        type: 'array',
        minItems: 1,
        maxItems: 1000,
        items: { type: 'object' },
        description: '1 to 1000 records',
      },
    },
  },
  response: {
    title: 'SendRecordsResult',
    type: 'object',
    required: ['accepted'],
    properties: { accepted: { type: 'integer', minimum: 0, description: 'How many records the feed has taken' } },
    additionalProperties: false,
  },
  example: {
    request: {
      records: [
        { kind: 'alert', alert_key: 'queue of fra-2', alert_status: 'Warning', title: 'Queue of fra-2 is long' },
      ],
    },
    data: { accepted: 1 },
  },
  refusals: [
    {
      summary: 'The account lacks the permission Feed Write',
      explanation: { name: 'permissionMissing', values: { permission: 'feed' } },
    },
    {
      summary: 'More records and alerts than the account may send',
      explanation: { name: 'tooManyItems', values: { limit: 20_000, windowSeconds: 3 } },
    },
    {
      summary: 'A record has no title',
      explanation: { name: 'invalidRecords', values: { problems: ['records[0]: title is required'], more: 0 } },
    },
  ],
} as const satisfies Operation;
