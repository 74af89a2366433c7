import type { Operation } from '../../http/operation.ts';
import { FEED_OPERATION } from '../feed-operation.ts';

export const sendNotification = {
  ...FEED_OPERATION,
  name: 'send-notification',
  method: 'POST',
  path: '/feed/alertmanager',
  summary: 'Send a notification of Prometheus Alertmanager or Grafana to the feed',
  description:
    'Requires the permission Feed Write (`feed`).\n\n' +
    'A webhook receiver. The key of an alert is its fingerprint, or its labels: it stays open until a notification says that it is ' +
    'resolved. Its title is its summary, `alertname`, description or labels. Labels and annotations are strings, numbers or booleans. ' +
    'An alert that cannot be read is kept for the operator, and the others are taken; if none can be, the response is `InvalidParameter`. ' +
    'A body has at most 4 MiB. By default an account may send 20,000 records and alerts in 3 seconds, and 120,000 in a minute.',
  budgeted: 'alerts',
  hasSource: true,
  // The most costly bodies take most of a second of a vCPU (`npm run bench -- bodies`).
  memoryMb: 1_769,
  maxBodyBytes: 4 * 2 ** 20,
  request: {
    title: 'SendNotificationRequest',
    type: 'object',
    required: ['alerts'],
    properties: {
      alerts: { type: 'array', maxItems: 25_000, items: {}, description: 'The alerts of the notification' },
    },
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
      summary: 'The only alert has no start',
      explanation: {
        name: 'noItemTaken',
        values: { reasons: ['alerts[0]: startsAt is required and must be a time of RFC 3339'], more: 0 },
      },
    },
  ],
} as const satisfies Operation;
