import { int64Field, type TypeOf, textField } from '../shared/json.ts';
import { SEVERITIES } from '../table/rows.ts';

const seconds = (description: string) => int64Field(`${description}: Unix time in seconds`);

/** An alert as `/alert/list` and `/alert/info` return it. */
export const alertItem = {
  title: 'AlertItem',
  type: 'object',
  required: ['account_id', 'alert_id', 'title', 'labels'],
  properties: {
    account_id: int64Field('The account that the alert belongs to'),
    alert_id: textField('Identifier of the alert, for merges'),
    alert_key: textField('What the sender watches; absent if only records with alert_id have written the alert'),
    alert_severity: { type: 'string', enum: SEVERITIES, description: 'The latest status that was not Ok' },
    alert_status: {
      type: 'string',
      enum: [...SEVERITIES, 'Ok'],
      description: 'The severity while the alert is open, Ok once it has ended; absent without alert_key',
    },
    title: textField('Title'),
    description: textField('Description'),
    labels: { type: 'object', additionalProperties: { type: 'string' }, description: 'Labels, by their names' },
    source_url: textField('Where the sender shows the alert: an http or https URL'),
    start_time: seconds('When it started'),
    last_time: seconds('Time of the latest record'),
    end_time: seconds('When it ended, 0 while it is open'),
    created_at: seconds('When the service got its first record'),
    updated_at: seconds('When the service got its latest record'),
    incident: {
      title: 'AlertIncident',
      type: 'object',
      description: 'The incident that the alert is in; absent if none',
      required: ['incident_id'],
      properties: {
        incident_id: textField('Identifier of the incident'),
        title: textField('Its title; absent if there is no such incident'),
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const;

export type AlertItem = TypeOf<typeof alertItem>;

export const exampleAlert = {
  account_id: 1,
  alert_id: '23a5a8cc741f9d42df78f93f',
  alert_key: 'alertmanager 9a1c0f3f6ed1c1a4',
  alert_severity: 'Critical',
  alert_status: 'Critical',
  title: 'Disk 7 is full',
  labels: { alertname: 'DiskFull', instance: 'db-7', severity: 'critical' },
  start_time: 1795230747,
  last_time: 1795231227,
  end_time: 0,
  created_at: 1795231227,
  updated_at: 1795231227,
} as const satisfies AlertItem;
