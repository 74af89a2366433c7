/** The alerts of an account, read as `/alert/list` and `/alert/info` read them. */

import { type AlertRow, alert, type Severity } from '../../../lib/model/alert.ts';
import { alertItemOf, readIncidentTitles } from '../../../lib/operations/alert-item.ts';
import type { AlertItem } from '../../../lib/operations/alert-schema.ts';
import { readAlerts } from '../../../lib/operations/list-alerts/read-alerts.ts';
import { codePoints, type Int64 } from '../../../lib/shared/json.ts';
import type { Table } from '../../../lib/table/client.ts';
import { keys } from '../../../lib/table/keys.ts';
import { getRow } from '../../../lib/table/read.ts';

export const OBJECT_ID = /^[0-9a-f]{24}$/i;
/** Alerts that one call reads. */
const AT_ONCE = 100;

/** Which alerts are listed; without a span, the open ones. */
export interface AlertFilter {
  readonly severity?: Severity | undefined;
  /** When they started, in Unix seconds: from the first up to the second. */
  readonly span?: { readonly from: number; readonly to: number };
  /** Only open ones, or only others. */
  readonly isActive?: boolean;
}

/** A page of alerts, the latest start first. @param after `next` of the page before; undefined: the first page */
export const listAlerts = (
  table: Table,
  account: Int64,
  { severity, span, isActive }: AlertFilter,
  { limit = AT_ONCE, after }: { limit?: number; after?: string | undefined } = {},
) => {
  const request = {
    ...(severity !== undefined && { alert_severity: severity }),
    ...(span && { start_time: span.from, end_time: span.to }),
    ...(isActive !== undefined && { is_active: isActive }),
  };
  return readAlerts(table, account, { limit, asc: false, ...request }, after);
};

/** All such alerts, the latest start first. */
export async function* allAlerts(table: Table, account: Int64, filter: AlertFilter = {}): AsyncGenerator<AlertItem> {
  for (let after: string | undefined; ; ) {
    const { items, next } = await listAlerts(table, account, filter, { after });
    yield* items;
    if (next === undefined) return;
    after = next;
  }
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
