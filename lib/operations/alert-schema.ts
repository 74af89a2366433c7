import { alert } from '../model/alert.ts';
import { answersOf } from '../model/fields.ts';
import { int64Field, type TypeOf } from '../shared/json.ts';

/** An alert as `/alert/list` and `/alert/info` return it. */
export const alertItem = {
  title: 'AlertItem',
  type: 'object',
  required: ['account_id', 'alert_id', 'title', 'labels'],
  properties: {
    account_id: int64Field('The account that the alert belongs to'),
    ...answersOf(alert.fields),
    last_time: int64Field('Time of its latest record, or of its end by silence: Unix time in seconds'),
    updated_at: int64Field(
      'When the service got its latest record, or time of its end by silence: Unix time in seconds',
    ),
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
