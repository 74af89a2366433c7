import type { Operation } from '../../http/operation.ts';
import { objectId } from '../../shared/json.ts';

export const mergeAlerts = {
  name: 'merge-alerts',
  method: 'POST',
  path: '/alert/merge',
  summary: 'Merge alerts into an incident',
  description:
    "All of the alerts are moved or none, however many. The incident's history gets one entry that lists where each came from. With an " +
    '`Idempotency-Key` a merge can be repeated for 24 hours without being done twice. After a 503 or a lost response the merge may have been done: ' +
    'repeat it with the same key to find out. `BadRequest`: an alert or the incident has too much stored data (400 KB) to be changed.',
  tag: 'Incidents',
  // Lower than that of other operations, since all merges of an account write one row, the head of its log.
  throttle: { rate: 20, burst: 40 },
  grants: [
    { actions: ['BatchGetItem'], on: ['alert', 'incident', 'member', 'logHead', 'idempotency'] },
    { actions: ['GetItem'], on: ['appKey', 'historyEntry', 'logHead', 'rateCount'] },
    { actions: ['Query'], on: ['logPointer'] },
    { actions: ['PutItem'], on: ['historyEntry', 'logPointer', 'idempotency'] },
    { actions: ['UpdateItem'], on: ['logHead', 'historyEntry', 'incident', 'alert', 'rateCount'] },
    { actions: ['ConditionCheckItem'], on: ['member'] },
  ],
  concurrencyShare: 0.2,
  idempotent: true,
  writes: true,
  request: {
    title: 'MergeAlertsRequest',
    type: 'object',
    required: ['alert_ids', 'incident_id'],
    properties: {
      alert_ids: {
        type: 'array',
        minItems: 1,
        items: objectId,
        description:
          'Alerts of the account, obtained from POST /alert/list: ObjectIDs in either letter case; repeated ids count once',
      },
      incident_id: {
        ...objectId,
        description:
          'The incident that takes the alerts, obtained from POST /incident/list: an ObjectID in either letter case',
      },
      comment: {
        type: 'string',
        maxLength: 1024,
        description: 'Recorded in the history with the merge: at most 1024 characters; empty counts as absent',
      },
      title: {
        type: 'string',
        maxLength: 512,
        description: 'New title of the incident: at most 512 characters; empty counts as absent',
      },
      owner_id: {
        type: 'integer',
        format: 'int64',
        description: 'Member id of the new owner of the incident, obtained from POST /member/list',
      },
    },
  },
  response: { type: 'null' },
  example: {
    request: {
      alert_ids: ['23a5a8cc741f9d42df78f93f', 'd3afd55730b974e815f545aa'],
      incident_id: '696648d86ece1da9c808ecde',
      owner_id: 103,
      comment: 'same cause',
    },
    data: null,
  },
  refusals: [
    {
      summary: 'An alert has too much stored data',
      name: 'alertsTooLarge',
      values: { named: ['5f0c2a9d1b7e4c3f8a6d9e01'], more: 0 },
    },
    {
      summary: 'The merges of the account write more than 12,000 units in 3 s',
      name: 'mergesWriteTooMuch',
      values: { limit: 12_000, windowSeconds: 3 },
    },
    {
      summary: 'An alert does not exist',
      name: 'mergeTargetsNotFound',
      values: { named: [{ kind: 'alert', id: 'ffffffffffffffffffffffff' }], more: 0, unread: 0 },
    },
  ],
} as const satisfies Operation;
