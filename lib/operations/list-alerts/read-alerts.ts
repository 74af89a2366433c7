/** Reads alerts by the index, or the alerts of some ids and keys. */
import type { RequestOf } from '../../http/operation.ts';
import { type AlertRow, isOpenAlert } from '../../model/alert.ts';
import { type Int64, stringifyJson } from '../../shared/json.ts';
import { alertIndex, queryAlertIndex } from '../../table/alert-index.ts';
import type { Table } from '../../table/client.ts';
import { keys, type Stored } from '../../table/keys.ts';
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

/** The severities that a request asks for, each once; empty: all. */
export const severitiesOf = ({ alert_severity = '' }: AlertListRequest): string[] => [
  ...new Set(alert_severity.split(',').flatMap((name) => name.trim() || [])),
];
/** Whether a request names alerts by their ids or keys. */
export const isNamed = ({ alert_ids = [], alert_keys = [] }: AlertListRequest) =>
  alert_ids.length + alert_keys.length > 0;
/** Whether a request asks for open alerts, or for others; undefined: for both. Without times and names it asks for open ones. */
const activityOf = (body: AlertListRequest) =>
  body.start_time === undefined && !isNamed(body) ? true : body.is_active;
/** Whether an alert has the severity and activity that a request asks for. */
const isWanted = (body: AlertListRequest, row: AlertRow) => {
  const severities = severitiesOf(body);
  return (
    (severities.length === 0 || severities.includes(String(row.alert_severity))) &&
    (activityOf(body) ?? isOpenAlert(row)) === isOpenAlert(row)
  );
};
// An alert without a key has no start, and counts as the earliest.
const placeOf = ({ started_at_ms = 0, sk }: Stored<'alert'>) => alertIndex.place(started_at_ms, sk);

/** An alert of the list: its place, and its row if that is read. */
type Candidate = { place: string; row?: Stored<'alert'> };
/** Finds the alerts after a place: at least as many as the page has, and one more if there are more. */
type Find = (table: Table, account: Int64, body: AlertListRequest, after: string | undefined) => Promise<Candidate[]>;

/** Keys that a query of the index reads at once, for half a read unit. Partitions that have more of the page are read on. */
const AT_ONCE = 21;

const findByStart: Find = async (table, account, body, after) => {
  const { limit, asc, start_time, end_time } = body;
  const severities = severitiesOf(body);
  const isActive = activityOf(body);
  const states = [...(isActive === false ? [] : (['OPEN'] as const)), ...(isActive ? [] : (['ENDED'] as const))];
  const firstAt = (seconds: number | bigint | undefined) =>
    seconds === undefined ? undefined : alertIndex.place(Number(seconds) * 1_000, '');
  const [from, to] = [firstAt(start_time), firstAt(end_time)];
  const isInSpan = (place: string) => (from === undefined || place > from) && (to === undefined || place < to);

  // An alert that moves to another partition meanwhile is found twice.
  const places = new Set<string>();
  const options = { limit: Math.min(limit + 1, AT_ONCE), descending: !asc };
  let unread = states
    .flatMap((state) => alertIndex.partitions(account, state, severities.length > 0 ? severities : undefined))
    .map((partition) => ({ partition, after: after ?? (asc ? from : to) }));
  for (;;) {
    const found = await Promise.all(
      unread.map(async ({ partition, after: begin }) => {
        const read = await queryAlertIndex(table, partition, { ...options, after: begin });
        for (const place of read) places.add(place);
        return { partition, after: read.length === options.limit ? read.at(-1) : undefined };
      }),
    );
    const inOrder = [...places].filter(isInSpan).sort();
    if (!asc) inOrder.reverse();
    const last = inOrder[limit];
    unread = found.filter(
      ({ after: end }) => end !== undefined && isInSpan(end) && (last === undefined || (asc ? end < last : end > last)),
    );
    if (unread.length === 0) return inOrder.map((place) => ({ place }));
  }
};

const findNamed: Find = async (table, account, body, after) => {
  const { alert_ids = [], alert_keys = [] } = body;
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
    const place = placeOf(row);
    const isAfter = after === undefined || (body.asc ? place > after : place < after);
    return isAfter && isWanted(body, row) ? [{ place, row }] : [];
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
  const candidates = await (isNamed(request) ? findNamed : findByStart)(table, account, request, after);
  const sign = request.asc ? 1 : -1;
  candidates.sort((a, b) => (a.place < b.place ? -sign : sign));
  const page = candidates.slice(0, request.limit);
  const keyOf = ({ place }: Candidate) => keys.alert(account, alertIndex.alertIdOf(place));
  const { rows } = await batchGet(table, page.filter(({ row }) => !row).map(keyOf), EVENTUAL);
  const alerts = page.map((candidate) => {
    const row = candidate.row ?? rows.of(keyOf(candidate));
    // The index is read before the row, and decides nothing: an alert may have ended since, or changed its severity or, by an import, its start.
    return row && placeOf(row) === candidate.place && isWanted(request, row) ? row : undefined;
  });
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
