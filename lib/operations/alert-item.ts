/** Makes the alerts that `/alert/list` and `/alert/info` return. */
import { type AlertRow, alert } from '../model/alert.ts';
import { answerOf, defined, secondsOf } from '../model/fields.ts';
import { type Order, sentOf, timeOf } from '../model/order.ts';
import type { Int64 } from '../shared/json.ts';
import type { Table } from '../table/client.ts';
import { keys } from '../table/keys.ts';
import { batchGet } from '../table/read.ts';
import type { AlertItem } from './alert-schema.ts';

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
  const { labels = {}, incident_id, row_order, key_order, alert_severity, ended_at_ms } = row;
  const orders = [row_order, key_order].filter((order) => order !== undefined);
  const latest = (read: (order: Order) => number) =>
    orders.length === 0 ? undefined : secondsOf(Math.max(...orders.map(read)));
  const item: { [Name in keyof AlertItem]-?: AlertItem[Name] | undefined } = {
    account_id: account,
    ...answerOf(alert.fields, row),
    labels,
    alert_status: key_order && (ended_at_ms === undefined ? alert_severity : 'Ok'),
    end_time: key_order && (secondsOf(ended_at_ms) ?? 0),
    last_time: latest(timeOf),
    updated_at: latest(sentOf),
    incident: incident_id === undefined ? undefined : { incident_id, ...defined({ title: titles.get(incident_id) }) },
  };
  return defined(item) as AlertItem;
}
