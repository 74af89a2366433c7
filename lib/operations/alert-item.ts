/** An alert as `/alert/list` and `/alert/info` return it. */
import { sentOf, timeOf } from '../ingest/order.ts';
import { type Int64, int64Field, type TypeOf, textField } from '../shared/json.ts';
import type { Table } from '../table/client.ts';
import { keys } from '../table/keys.ts';
import { batchGet } from '../table/read.ts';
import { type AlertRow, SEVERITIES } from '../table/rows.ts';

const seconds = (description: string) => int64Field(`${description}: Unix time in seconds`);

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
  alert_key: 'p99 above threshold on fra-1',
  alert_severity: 'Critical',
  alert_status: 'Critical',
  title: 'p99 above threshold on fra-1',
  labels: { cluster: 'fra-1', team: 'network' },
  source_url: 'https://grafana.example.com/d/clusters?var-cluster=fra-1',
  start_time: 1795230747,
  last_time: 1795231227,
  end_time: 0,
  created_at: 1795231227,
  updated_at: 1795231227,
} as const satisfies AlertItem;

/** The titles of the incidents that alerts are in, by the ids of the incidents. */
export async function readIncidentTitles(
  table: Table,
  account: Int64,
  alerts: readonly AlertRow[],
  options?: { consistent: boolean },
): Promise<Map<string, string>> {
  const ids = new Set(alerts.flatMap(({ incident_id }) => incident_id ?? []));
  const incidentKeys = [...ids].map((id) => keys.incident(account, id));
  const { rows } = await batchGet(table, incidentKeys, { ...options, attributes: ['title'] });
  return new Map([...rows.values()].map(({ sk, title }) => [sk, title]));
}

/** @param titles of incidents, by their ids */
export function alertItemOf(account: Int64, row: AlertRow, titles: ReadonlyMap<string, string>): AlertItem {
  const { alert_id, alert_key, alert_severity, title, description, labels = {}, source_url, incident_id } = row;
  const { feed_order, key_order, started_at_ms, ended_at_ms, created_at_ms } = row;
  const orders = [feed_order, key_order].filter((order) => order !== undefined);
  const incidentTitle = incident_id === undefined ? undefined : titles.get(incident_id);
  const item: { [Name in keyof AlertItem]: AlertItem[Name] | undefined } = {
    ...{ account_id: account, alert_id, alert_key, alert_severity },
    alert_status: key_order && (ended_at_ms === undefined ? alert_severity : 'Ok'),
    ...{ title, description, labels, source_url },
    start_time: secondsOf(started_at_ms),
    last_time: secondsOf(orders.length > 0 ? Math.max(...orders.map(timeOf)) : undefined),
    end_time: key_order && (secondsOf(ended_at_ms) ?? 0),
    created_at: secondsOf(created_at_ms),
    updated_at: secondsOf(orders.length > 0 ? Math.max(...orders.map(sentOf)) : undefined),
    incident:
      incident_id === undefined
        ? undefined
        : { incident_id, ...(incidentTitle !== undefined && { title: incidentTitle }) },
  };
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined)) as AlertItem;
}

const secondsOf = (atMs: number | undefined) => (atMs === undefined ? undefined : Math.floor(atMs / 1_000));
