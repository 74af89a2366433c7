/** The alerts of an account, read as `/alert/list` and `/alert/info` read them. */

import { type AlertRow, alert, SEVERITIES, type Severity } from '../../../lib/model/alert.ts';
import { alertItemOf, readIncidentTitles } from '../../../lib/operations/alert-item.ts';
import type { AlertItem } from '../../../lib/operations/alert-schema.ts';
import { readAlerts } from '../../../lib/operations/list-alerts/read-alerts.ts';
import { codePoints, type Int64 } from '../../../lib/shared/json.ts';
import { alertIndex, queryAlertIndex } from '../../../lib/table/alert-index.ts';
import type { Table } from '../../../lib/table/client.ts';
import { keys } from '../../../lib/table/keys.ts';
import { getRow } from '../../../lib/table/read.ts';

export const OBJECT_ID = /^[0-9a-f]{24}$/i;
/** Open alerts that one call reads. */
const AT_ONCE = 100;

/** A page of open alerts, the latest start first. @param after `next` of the page before; undefined: the first page */
export const listOpenAlerts = (
  table: Table,
  account: Int64,
  { severity, limit = AT_ONCE, after }: { severity?: Severity | undefined; limit?: number; after?: string | undefined },
) =>
  readAlerts(table, account, { limit, asc: false, ...(severity !== undefined && { alert_severity: severity }) }, after);

/** All open alerts, the latest start first. */
export async function* allOpenAlerts(table: Table, account: Int64, severity?: Severity): AsyncGenerator<AlertItem> {
  for (let after: string | undefined; ; ) {
    const { items, next } = await listOpenAlerts(table, account, { severity, after });
    yield* items;
    if (next === undefined) return;
    after = next;
  }
}

/** How many alerts of each severity are open. @param limit for each partition of the index; `isMore`: one has more */
export async function countOpenAlerts(table: Table, account: Int64, limit: number) {
  return Promise.all(
    SEVERITIES.map(async (severity) => {
      const partitions = alertIndex.partitions(account, 'OPEN', [severity]);
      const found = await Promise.all(partitions.map((partition) => queryAlertIndex(table, partition, { limit })));
      const count = found.reduce((sum, { length }) => sum + length, 0);
      return { severity, count, isMore: found.some(({ length }) => length >= limit) };
    }),
  );
}

/** Alerts by their ids, the latest start first, as far as they exist. */
export const readAlertItems = async (table: Table, account: Int64, alertIds: readonly string[]) =>
  alertIds.length === 0
    ? []
    : (await readAlerts(table, account, { limit: alertIds.length, asc: false, alert_ids: [...alertIds] }, undefined))
        .items;

export const readAlert = (table: Table, account: Int64, id: string) => getRow(table, keys.alert(account, id));

/** Whether a text may be the key of an alert. */
export const isAlertKey = (text: string) =>
  text !== '' && text.isWellFormed() && codePoints(text) <= alert.fields.alert_key.schema.maxLength;

/** The alert with this id, or the last one of this key. An id takes precedence, since a key may look like one. */
export async function findAlert(table: Table, account: Int64, idOrKey: string): Promise<AlertRow | undefined> {
  const byId = OBJECT_ID.test(idOrKey) ? await readAlert(table, account, idOrKey) : undefined;
  if (byId || !isAlertKey(idOrKey)) return byId;
  const key = await getRow(table, keys.alertKey(account, idOrKey));
  return key && readAlert(table, account, key.alert_id);
}

/** An alert as the API returns it. */
export const itemOf = async (table: Table, account: Int64, row: AlertRow): Promise<AlertItem> =>
  alertItemOf(account, row, await readIncidentTitles(table, account, [row]));
