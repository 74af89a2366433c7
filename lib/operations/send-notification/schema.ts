import type { Operation } from '../../http/operation.ts';
import { textField } from '../../shared/json.ts';
import { FEED_OPERATION } from '../feed-operation.ts';

/** Names and what is written as a text. */
const scalars = (description: string) =>
  ({
    type: 'object',
    additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
    description: `${description}. One that is null is as if absent`,
  }) as const;

/** What an alert of a notification is. A member that is optional here is ignored if it has another type, but for `status`, labels and annotations. */
const notifiedAlert = {
  title: 'NotifiedAlert',
  type: 'object',
  description: 'An alert as Alertmanager and Grafana send it. What is not listed is ignored',
  required: ['startsAt'],
  properties: {
    status: { type: 'string', description: '`firing` or `resolved`, in any letter case. Absent or empty: `firing`' },
    labels: scalars('Labels. `severity` tells the severity'),
    annotations: scalars('`summary` gives the title, `description` the description, the others the annotations'),
    startsAt: { type: 'string', format: 'date-time', description: 'When it started' },
    endsAt: textField('When it ended, if it is resolved'),
    generatorURL: textField('The http or https URL where the sender shows the alert'),
    fingerprint: textField('Identifies the alert. Absent or empty: its labels do'),
  },
} as const;

export const sendNotification = {
  ...FEED_OPERATION,
  name: 'send-notification',
  method: 'POST',
  path: '/feed/alertmanager',
  summary: 'Send a notification of Prometheus Alertmanager or Grafana to the feed',
  description:
    'Requires the permission Feed Write (`feed`).\n\n' +
    'A webhook receiver. The key of an alert is `source` and its fingerprint, or its labels: it stays open until a notification says that ' +
    'it is resolved or, by default, none has named it for a day. Its title is its summary, `alertname`, description or labels. ' +
    'An alert that cannot be read is kept for the operator, and the others are taken; if none can be, the response is `InvalidParameter`. ' +
    'A body has at most 4 MiB. By default an account may send 20,000 records and alerts in 3 seconds, and 60,000 in a minute, each counted once for each KB begun.',
  budgeted: 'alerts',
  itemSchema: notifiedAlert,
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
      name: 'noItemTaken',
      values: {
        list: 'alerts',
        refused: [{ index: 0, reason: 'startsAt is required and must be a time of RFC 3339' }],
        more: 0,
      },
    },
  ],
} as const satisfies Operation;
