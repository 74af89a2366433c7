import type { Operation } from '../../http/operation.ts';
import { FEED_OPERATION } from '../feed-operation.ts';

export const sendRecords = {
  ...FEED_OPERATION,
  name: 'send-records',
  method: 'POST',
  path: '/feed/records',
  summary: 'Send records to the feed',
  description:
    'Requires the permission Feed Write (`feed`).\n\n' +
    'The records of feed.schema.json, of this account: `account_id` may be left out, and `at_ms` is by default the arrival of the call. ' +
    'The body may also be the array alone, or have a record a line. A record has at most 8,192 bytes, `account_id` and `at_ms` not counted. ' +
    'The records that can be taken are taken; the others are kept for the operator, and the response names the first ten. ' +
    'If none can be taken, the response is `InvalidParameter`. Once taken, they are applied within seconds. ' +
    'After a 503, which may come although they are taken, send them again with the same `at_ms`: then repeated records change nothing. ' +
    'Without `at_ms` each call makes them newer, so that a repetition may undo records that came between. ' +
    'By default an account may send 20,000 records and alerts in 3 seconds, and 60,000 in a minute, each counted once for each KB begun.',
  budgeted: 'records',
  itemTexts: 'records',
  request: {
    title: 'SendRecordsRequest',
    type: 'object',
    required: ['records'],
    properties: {
      records: {
        type: 'array',
        minItems: 1,
        maxItems: 1000,
        // openapi.json has the schemas of records. The function checks each by itself.
        items: { type: 'object' },
        description: '1 to 1000 records',
      },
    },
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
      summary: 'The only record has no title',
      name: 'noItemTaken',
      values: {
        list: 'records',
        refused: [{ index: 0, reason: 'title is required and must be a string of 1 to 512 characters' }],
        more: 0,
      },
    },
  ],
} as const satisfies Operation;
