import type { Deps } from '../../deps.ts';
import { callerOf, openCursor, sealCursor } from '../../http/app-keys.ts';
import type { CrossCheck } from '../../http/body.ts';
import { createOperationHandler } from '../../http/call.ts';
import { refusal } from '../../http/errors.ts';
import type { Call, Caller, Handler, RequestOf, ResponseOf } from '../../http/operation.ts';
import { type Int64, stringifyJson } from '../../shared/json.ts';
import { type Table, withSignal } from '../../table/client.ts';
import { keys } from '../../table/keys.ts';
import { openAlerts, queryOpenAlerts } from '../../table/open-alerts.ts';
import { batchGet } from '../../table/read.ts';
import { type AlertRow, SEVERITIES } from '../../table/rows.ts';
import { alertItemOf, readIncidentTitles } from '../alert-item.ts';
import { listAlerts } from './schema.ts';
import validate from './validate-list-alerts.ts';

type ListRequest = RequestOf<typeof listAlerts>;
type ListResponse = ResponseOf<typeof listAlerts>;

/** Maximum bytes of a page's items. The response of a function has at most 6 MB. */
const MAX_PAGE_BYTES = 4_000_000;
/** Half the price, and the index is behind anyway. */
const EVENTUAL = { consistent: false } as const;

const severitiesOf = ({ alert_severity = '' }: ListRequest): string[] =>
  alert_severity.split(',').flatMap((name) => name.trim() || []);
const isNamed = ({ alert_ids = [], alert_keys = [] }: ListRequest) => alert_ids.length + alert_keys.length > 0;
const isOpen = ({ open_partition }: AlertRow) => open_partition !== undefined;

/** What a cursor is for: the order and the filters of its list. */
const purposeOf = ({ asc, is_active, alert_severity, alert_ids, alert_keys }: ListRequest) =>
  `alert-cursor-1 ${JSON.stringify([asc, is_active, alert_severity, alert_ids, alert_keys])}`;

/** The place in the list after which the page begins; undefined for the first page, or for a cursor of another account or list. */
const placeBefore = (body: ListRequest, caller: Pick<Caller, 'cursorSecret'>): string | undefined =>
  body.search_after_ctx ? openCursor(caller, purposeOf(body), body.search_after_ctx) : undefined;

/** Rejects unknown severities, and a cursor that was not issued to the account for this list. */
const crossCheck: CrossCheck<ListRequest> = (body, offending, event) => {
  const { alert_severity, search_after_ctx } = listAlerts.request.properties;
  if (offending.size > 0) return [];
  if (!severitiesOf(body).every((name) => (SEVERITIES as readonly string[]).includes(name)))
    return [{ field: 'alert_severity', schema: { ...alert_severity, enum: SEVERITIES } }];
  if (!body.search_after_ctx || placeBefore(body, callerOf(event)) !== undefined) return [];
  return [{ field: 'search_after_ctx', schema: { ...search_after_ctx, format: 'filtered-cursor' } }];
};

/** An alert of the list: its place, and its row if that is read. */
type Candidate = { place: string; row?: AlertRow | undefined };
/** Finds the alerts after a place: at least as many as the page has, and one more if there are more. */
type Find = (table: Table, account: Int64, body: ListRequest, after: string | undefined) => Promise<Candidate[]>;

const findOpen: Find = async (table, account, body, after) => {
  const wanted = severitiesOf(body);
  const severities = SEVERITIES.filter((severity) => wanted.length === 0 || wanted.includes(severity));
  const options = { limit: body.limit + 1, after, descending: !body.asc };
  const partitions = openAlerts.partitions(account, severities);
  const found = await Promise.all(partitions.map((partition) => queryOpenAlerts(table, partition, options)));
  return found.flat().map((place) => ({ place }));
};

const findNamed: Find = async (table, account, body, after) => {
  const { alert_ids = [], alert_keys = [], is_active } = body;
  const wanted = severitiesOf(body);
  const keyRows = [...new Set(alert_keys)].map((key) => keys.alertKey(account, key));
  const last = await batchGet(table, keyRows, { ...EVENTUAL, attributes: ['alert_id'] });
  const ids = [...alert_ids.map((id) => id.toLowerCase()), ...[...last.rows.values()].map(({ alert_id }) => alert_id)];
  const { rows } = await batchGet(
    table,
    [...new Set(ids)].map((id) => keys.alert(account, id)),
    EVENTUAL,
  );
  return [...rows.values()].flatMap((row) => {
    // One without a key has no start, and counts as the earliest.
    const place = openAlerts.sortKey(row.started_at_ms ?? 0, row.sk);
    const isListed =
      (is_active ?? isOpen(row)) === isOpen(row) &&
      (wanted.length === 0 || wanted.includes(String(row.alert_severity))) &&
      (after === undefined || (body.asc ? place > after : place < after));
    return isListed ? [{ place, row }] : [];
  });
};

/** Lists open alerts by the index, or the alerts of some ids and keys. */
function createListAlerts({ table }: Pick<Deps, 'table'>) {
  return async function operate({ body, caller, signal }: Call<ListRequest>) {
    if (body.is_active === false && !isNamed(body)) throw refusal('endedAlertsUnnamed');
    const { accountId: account } = caller;
    const own = withSignal(table, signal);
    const candidates = await (isNamed(body) ? findNamed : findOpen)(own, account, body, placeBefore(body, caller));
    candidates.sort((a, b) => (a.place < b.place === body.asc ? -1 : 1));
    const page = candidates.slice(0, body.limit);
    const keyOf = ({ place }: Candidate) => keys.alert(account, openAlerts.alertIdOf(place));
    const { rows } = await batchGet(own, page.filter(({ row }) => !row).map(keyOf), EVENTUAL);
    // The index may still have an alert that has ended.
    const alerts = page.map(
      (candidate) => candidate.row ?? [rows.of(keyOf(candidate))].find((row) => row && isOpen(row)),
    );
    const titles = await readIncidentTitles(
      own,
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
    const last = candidates.length > shown ? page[shown - 1] : undefined;
    const data: ListResponse = {
      items: items.slice(0, shown).flatMap((item) => item ?? []),
      has_next_page: last !== undefined,
      ...(last && { search_after_ctx: sealCursor(caller, purposeOf(body), last.place) }),
    };
    return { data };
  };
}

export const createHandler = (deps: Deps): Handler =>
  createOperationHandler(listAlerts, { validate, crossCheck, operate: createListAlerts(deps) }, deps);
