/** Makes the alerts that `/alert/list` and `/alert/info` return. */
import { sentOf, timeOf } from '../ingest/order.ts';
import type { Int64 } from '../shared/json.ts';
import type { Table } from '../table/client.ts';
import { keys } from '../table/keys.ts';
import { batchGet } from '../table/read.ts';
import type { AlertRow } from '../table/rows.ts';
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
  const { alert_id, alert_key, alert_severity, title, description, labels = {}, source_url, incident_id } = row;
  const { row_order, key_order, started_at_ms, ended_at_ms, created_at_ms } = row;
  const orders = [row_order, key_order].filter((order) => order !== undefined);
  const incidentTitle = incident_id === undefined ? undefined : titles.get(incident_id);
  const item: { [Name in keyof AlertItem]: AlertItem[Name] | undefined } = {
    account_id: account,
    alert_id,
    alert_key,
    alert_severity,
    alert_status: key_order && (ended_at_ms === undefined ? alert_severity : 'Ok'),
    title,
    description,
    labels,
    source_url,
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
