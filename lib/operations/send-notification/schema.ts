import { type Operation, THROTTLE } from '../../http/operation.ts';

export const sendNotification = {
  name: 'send-notification',
  method: 'POST',
  path: '/feed/alertmanager',
  summary: 'Send a notification of Prometheus Alertmanager or Grafana to the feed',
  description:
    'Requires the permission Feed Write (`feed`).\n\n' +
    'A webhook receiver. An alert stays one alert over all its notifications, by its fingerprint (or labels) and `startsAt`. Its title is its ' +
    'summary, `alertname`, description or labels, with ` (resolved)` at the end once it is. An alert that cannot be read goes to the queue ' +
    'of refused records, and the others are taken. A body of at most 4 MiB.',
  tag: 'Feed',
  permission: 'feed',
  throttle: THROTTLE,
  grants: [{ actions: ['GetItem'], on: ['appKey'] }],
  sendsTo: ['feed', 'refused'],
  // 25,000 alerts, the most that a notification may have, take 0.3 s of a vCPU.
  memoryMb: 1_769,
  maxBodyBytes: 4 * 2 ** 20,
  request: {
    title: 'SendNotificationRequest',
    type: 'object',
    required: ['alerts'],
    properties: {
      // So that the answer, which may name each of them, stays below Lambda's 6 MB. As many with labels take 4 MiB.
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
        description: 'The alerts that could not be read; absent if there are none',
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
    },
    additionalProperties: false,
  },
  example: {
    request: {
      alerts: [
        {
          status: 'firing',
          labels: { alertname: 'DiskFull', instance: 'db-7' },
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
  ],
} as const satisfies Operation;
