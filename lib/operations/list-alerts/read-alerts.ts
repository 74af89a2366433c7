/** Reads open alerts by the index, or the alerts of some ids and keys. */
import type { RequestOf } from '../../http/operation.ts';
import { type AlertRow, isOpenAlert, SEVERITIES } from '../../model/alert.ts';
import { type Int64, stringifyJson } from '../../shared/json.ts';
import { alertIndex, queryAlertIndex } from '../../table/alert-index.ts';
import type { Table } from '../../table/client.ts';
import { keys } from '../../table/keys.ts';
import { batchGet } from '../../table/read.ts';
import { alertItemOf, readIncidentTitles } from '../alert-item.ts';
import type { AlertItem } from '../alert-schema.ts';
import type { Page } from '../list-pages.ts';
import type { listAlerts } from './schema.ts';

type AlertListRequest = RequestOf<typeof listAlerts>;

/** Maximum bytes of a page's items. The response of a function has at most 6 MB. */
const MAX_PAGE_BYTES = 4_000_000;
/** These reads cost half as much, and the index is behind anyway. */
const EVENTUAL = { consistent: false } as const;

/** The severities that a request asks for; empty: all. */
export const severitiesOf = ({ alert_severity = '' }: AlertListRequest): string[] =>
  alert_severity.split(',').flatMap((name) => name.trim() || []);
/** Whether a request names alerts by their ids or keys. */
export const isNamed = ({ alert_ids = [], alert_keys = [] }: AlertListRequest) =>
  alert_ids.length + alert_keys.length > 0;
/** Whether an alert has one of the severities that a request asks for. */
const isWanted = (body: AlertListRequest, { alert_severity }: AlertRow) => {
  const wanted = severitiesOf(body);
  return wanted.length === 0 || wanted.includes(String(alert_severity));
};

/** An alert of the list: its place, and its row if that is read. */
type Candidate = { place: string; row?: AlertRow | undefined };
/** Finds the alerts after a place: at least as many as the page has, and one more if there are more. */
type Find = (table: Table, account: Int64, body: AlertListRequest, after: string | undefined) => Promise<Candidate[]>;

const findOpen: Find = async (table, account, body, after) => {
  const wanted = severitiesOf(body);
  const severities = SEVERITIES.filter((severity) => wanted.length === 0 || wanted.includes(severity));
  const options = { limit: body.limit + 1, after, descending: !body.asc };
  const partitions = alertIndex.partitions(account, 'OPEN', severities);
  const found = await Promise.all(partitions.map((partition) => queryAlertIndex(table, partition, options)));
  // An alert whose severity changes meanwhile is found twice.
  return [...new Set(found.flat())].map((place) => ({ place }));
};

const findNamed: Find = async (table, account, body, after) => {
  const { alert_ids = [], alert_keys = [], is_active } = body;
  const keyRows = [...new Set(alert_keys)].map((key) => keys.alertKey(account, key));
  const last = await batchGet(table, keyRows, { ...EVENTUAL, attributes: ['alert_id'] });
  const lastIds = [...last.rows.values()].map(({ alert_id }) => alert_id);
  const ids = [...alert_ids.map((id) => id.toLowerCase()), ...lastIds];
  const { rows } = await batchGet(
    table,
    [...new Set(ids)].map((id) => keys.alert(account, id)),
    EVENTUAL,
  );
  return [...rows.values()].flatMap((row) => {
    // An alert without a key has no start, and counts as the earliest.
    const place = alertIndex.place(row.started_at_ms ?? 0, row.sk);
    const isListed =
      (is_active ?? isOpenAlert(row)) === isOpenAlert(row) &&
      isWanted(body, row) &&
      (after === undefined || (body.asc ? place > after : place < after));
    return isListed ? [{ place, row }] : [];
  });
};

/**
 * A page of alerts. The list may be two seconds behind.
 * @param after `next` of the page before; undefined: the first page
 * @returns `next`: the place of the last alert; undefined if none follows
 */
export async function readAlerts(
  table: Table,
  account: Int64,
  request: AlertListRequest,
  after: string | undefined,
): Promise<Page<AlertItem>> {
  const candidates = await (isNamed(request) ? findNamed : findOpen)(table, account, request, after);
  const sign = request.asc ? 1 : -1;
  candidates.sort((a, b) => (a.place < b.place ? -sign : sign));
  const page = candidates.slice(0, request.limit);
  const keyOf = ({ place }: Candidate) => keys.alert(account, alertIndex.alertIdOf(place));
  const { rows } = await batchGet(table, page.filter(({ row }) => !row).map(keyOf), EVENTUAL);
  // The index is read before the row, and decides nothing: an alert may have ended since, or changed its severity.
  const ifListed = (row: AlertRow | undefined) => (row && isOpenAlert(row) && isWanted(request, row) ? row : undefined);
  const alerts = page.map((candidate) => candidate.row ?? ifListed(rows.of(keyOf(candidate))));
  const titles = await readIncidentTitles(
    table,
    account,
    alerts.flatMap((row) => row ?? []),
    EVENTUAL,
  );

  const items = alerts.map((row) => row && alertItemOf(account, row, titles));
  let [shown, bytes] = [0, 0];
  for (const item of items) {
    bytes += item ? Buffer.byteLength(stringifyJson(item)) : 0;
    if (bytes > MAX_PAGE_BYTES) break;
    shown += 1;
  }
  return {
    items: items.slice(0, shown).flatMap((item) => item ?? []),
    next: candidates.length > shown ? page[shown - 1]?.place : undefined,
  };
}
