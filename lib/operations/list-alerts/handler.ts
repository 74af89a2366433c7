import { callerOf } from '../../http/app-keys.ts';
import type { CrossCheck } from '../../http/body.ts';
import { createOperationHandler } from '../../http/call.ts';
import { openCursor, sealCursor } from '../../http/cursor.ts';
import { type FieldError, refusal } from '../../http/errors.ts';
import type { Call, Caller, Handler, RequestOf, ResponseOf } from '../../http/operation.ts';
import type { Deps } from '../../shared/deps.ts';
import { type Int64, stringifyJson } from '../../shared/json.ts';
import { type Table, withSignal } from '../../table/client.ts';
import { keys, openAlerts } from '../../table/keys.ts';
import { batchGet, queryOpenAlerts } from '../../table/read.ts';
import { type AlertRow, SEVERITIES } from '../../table/rows.ts';
import { type AlertItem, alertItemOf, readIncidentTitles } from '../alert-item.ts';
import { listAlerts } from './schema.ts';
import validate from './validate-list-alerts.ts';

type ListRequest = RequestOf<typeof listAlerts>;
type ListResponse = ResponseOf<typeof listAlerts>;

/** Maximum bytes of a page's items. The response of a function has at most 6 MB. */
const MAX_PAGE_BYTES = 4_000_000;
/** Reads are half the price, and the index is behind anyway. */
const EVENTUAL = { consistent: false } as const;

const severitiesOf = ({ alert_severity = '' }: ListRequest): string[] =>
  alert_severity.split(',').flatMap((name) => name.trim() || []);

const isNamed = ({ alert_ids = [], alert_keys = [] }: ListRequest) => alert_ids.length + alert_keys.length > 0;

/** What a cursor is for: the order and the filters of the list. */
function purposeOf(body: ListRequest): string {
  const { asc, is_active = null, alert_ids = [], alert_keys = [] } = body;
  const sets = [severitiesOf(body), alert_ids.map((id) => id.toLowerCase()), alert_keys];
  return `alert-cursor-1 ${JSON.stringify([asc, is_active, ...sets.map((set) => [...new Set(set)].sort())])}`;
}

/** The place in the list after which the page begins; undefined for the first page, or for a cursor of another account or list. */
const placeBefore = (body: ListRequest, { cursorSecret }: Pick<Caller, 'cursorSecret'>): string | undefined =>
  body.search_after_ctx ? openCursor(cursorSecret, purposeOf(body), body.search_after_ctx) : undefined;

/** Rejects unknown severities, and a cursor that was not issued to the account for this list. */
const crossCheck: CrossCheck<ListRequest> = (body, offending, event) => {
  const { alert_severity, search_after_ctx } = listAlerts.request.properties;
  const known: readonly string[] = SEVERITIES;
  const errors: FieldError[] = [];
  if (!offending.has('alert_severity') && !severitiesOf(body).every((name) => known.includes(name)))
    errors.push({ field: 'alert_severity', schema: { ...alert_severity, enum: SEVERITIES } });
  if (offending.size > 0 || errors.length > 0 || !body.search_after_ctx) return errors;
  if (placeBefore(body, callerOf(event)) !== undefined) return errors;
  return [{ field: 'search_after_ctx', schema: { ...search_after_ctx, format: 'filtered-cursor' } }];
};

/** An alert of the list: its place, and its row if that is read. */
interface Candidate {
  place: string;
  row?: AlertRow | undefined;
}
type FindCandidates = (
  table: Table,
  account: Int64,
  body: ListRequest,
  after: string | undefined,
) => Promise<Candidate[]>;

/** From each partition of the index as many as the page has, and one more. */
const findOpen: FindCandidates = async (table, account, body, after) => {
  const wanted = new Set(severitiesOf(body));
  const severities = SEVERITIES.filter((severity) => wanted.size === 0 || wanted.has(severity));
  const options = { limit: body.limit + 1, after, descending: !body.asc };
  const found = await Promise.all(
    openAlerts.partitions(account, severities).map((partition) => queryOpenAlerts(table, partition, options)),
  );
  return found.flat().map((place) => ({ place }));
};

const findNamed: FindCandidates = async (table, account, body, after) => {
  const { alert_ids = [], alert_keys = [], is_active } = body;
  const wanted = new Set<string | undefined>(severitiesOf(body));
  const rowKeys = [...new Set(alert_keys)].map((key) => keys.alertKey(account, key));
  const last = await batchGet(table, rowKeys, { ...EVENTUAL, attributes: ['alert_id'] });
  const ids = [...alert_ids.map((id) => id.toLowerCase()), ...[...last.rows.values()].map(({ alert_id }) => alert_id)];
  const { rows } = await batchGet(
    table,
    [...new Set(ids)].map((id) => keys.alert(account, id)),
    EVENTUAL,
  );
  return [...rows.values()].flatMap((row) => {
    // One without a key has no start, and counts as the earliest.
    const place = openAlerts.sortKey(row.started_at_ms ?? 0, row.sk);
    const isWanted =
      (is_active ?? isOpen(row)) === isOpen(row) && (wanted.size === 0 || wanted.has(row.alert_severity));
    return isWanted && (after === undefined || place < after !== body.asc) && place !== after ? [{ place, row }] : [];
  });
};

const isOpen = ({ open_partition }: AlertRow) => open_partition !== undefined;

/** Lists open alerts by the index, or the alerts of some ids and keys. */
function createListAlerts({ table }: Pick<Deps, 'table'>) {
  return async function operate({ body, caller, signal }: Call<ListRequest>) {
    if (body.is_active === false && !isNamed(body)) throw refusal('endedAlertsUnnamed');
    const { accountId: account, cursorSecret } = caller;
    const own = withSignal(table, signal);
    const find = isNamed(body) ? findNamed : findOpen;
    const candidates = await find(own, account, body, placeBefore(body, caller));
    candidates.sort((a, b) => (a.place < b.place === body.asc ? -1 : 1));

    const page = candidates.slice(0, body.limit);
    const keyOf = ({ place }: Candidate) => keys.alert(account, openAlerts.alertIdOf(place));
    const { rows } = await batchGet(own, page.filter(({ row }) => !row).map(keyOf), EVENTUAL);
    // The index may still have alerts that have ended.
    const shown = page.map((candidate) => {
      const row = candidate.row ?? rows.of(keyOf(candidate));
      return { place: candidate.place, row: row && (isNamed(body) || isOpen(row)) ? row : undefined };
    });
    const titles = await readIncidentTitles(
      own,
      account,
      shown.flatMap(({ row }) => row ?? []),
      EVENTUAL,
    );

    const items: AlertItem[] = [];
    let bytes = 0;
    let last: string | undefined;
    for (const { place, row } of shown) {
      const item = row && alertItemOf(account, row, titles);
      bytes += item ? Buffer.byteLength(stringifyJson(item)) : 0;
      if (bytes > MAX_PAGE_BYTES) break;
      if (item) items.push(item);
      last = place;
    }
    const isLast = last === candidates.at(-1)?.place;
    const cursor =
      isLast || last === undefined ? {} : { search_after_ctx: sealCursor(cursorSecret, purposeOf(body), last) };
    const data: ListResponse = { items, has_next_page: !isLast, ...cursor };
    return { data };
  };
}

export const createHandler = (deps: Deps): Handler =>
  createOperationHandler(listAlerts, { validate, crossCheck, operate: createListAlerts(deps) }, deps);
