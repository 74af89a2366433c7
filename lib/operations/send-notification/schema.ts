import { type Operation, THROTTLE } from '../../http/operation.ts';

export const sendNotification = {
  name: 'send-notification',
  method: 'POST',
  path: '/feed/alertmanager',
  summary: 'Send a notification of Prometheus Alertmanager or Grafana to the feed',
  description:
    'Requires the permission Feed Write (`feed`).\n\n' +
    'A webhook receiver. The key of an alert is its fingerprint, or its labels: it stays open until a notification says that it is ' +
    'resolved. Its title is its summary, `alertname`, description or labels. Labels and annotations are strings, numbers or booleans. ' +
    'An alert that cannot be read is kept for the operator, and the others are taken. A body has at most 4 MiB. ' +
    'By default an account may send 20,000 records and alerts in 3 seconds, and 120,000 in a minute.',
  tag: 'Feed',
  permission: 'feed',
  budgeted: 'alerts',
  throttle: THROTTLE,
  grants: [
    { actions: ['GetItem'], on: ['appKey', 'rate'] },
    { actions: ['UpdateItem'], on: ['rate'] },
  ],
  sendsTo: ['ingest', 'refused'],
  // The most costly bodies take most of a second of a vCPU (`npm run bench -- bodies`).
  memoryMb: 1_769,
  concurrencyShare: 0.05,
  maxBodyBytes: 4 * 2 ** 20,
  request: {
    title: 'SendNotificationRequest',
    type: 'object',
    required: ['alerts'],
    properties: {
      alerts: { type: 'array', maxItems: 25_000, items: {}, description: 'The alerts of the notification' },
    },
  },
  response: {
    title: 'SendNotificationResult',
    type: 'object',
    required: ['accepted'],
    properties: {
      accepted: { type: 'integer', minimum: 0, description: 'How many alerts the feed has taken' },
      refused: {
        type: 'array',
        description: 'The first ten of the alerts that could not be read; absent if there are none',
        items: {
          title: 'RefusedAlert',
          type: 'object',
          required: ['index', 'reason'],
          properties: {
            index: { type: 'integer', minimum: 0, description: 'Its place in alerts, from 0' },
            reason: { type: 'string', description: 'What is wrong with it' },
          },
          additionalProperties: false,
        },
      },
      refused_count: {
        type: 'integer',
        minimum: 1,
        description: 'How many alerts could not be read; absent if there are none',
      },
    },
    additionalProperties: false,
  },
  example: {
    request: {
      alerts: [
        {
          status: 'firing',
          labels: { alertname: 'DiskFull', instance: 'db-7', severity: 'critical' },
          annotations: { summary: 'Disk 7 is full' },
          startsAt: '2026-11-20T08:30:00.125Z',
          fingerprint: '9a1c0f3f6ed1c1a4',
        },
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
  ],
} as const satisfies Operation;
