import type { Deps } from '../../deps.ts';
import { callerOf } from '../../http/app-keys.ts';
import type { CrossCheck } from '../../http/body.ts';
import { createOperationHandler } from '../../http/call.ts';
import { openCursor, sealCursor } from '../../http/cursors.ts';
import { refusal } from '../../http/errors.ts';
import type { Call, Caller, Handler, RequestOf, ResponseOf } from '../../http/operation.ts';
import { SEVERITIES } from '../../model/alert.ts';
import { withSignal } from '../../table/client.ts';
import { isNamed, readAlerts, severitiesOf } from './read-alerts.ts';
import { listAlerts } from './schema.ts';
import validate from './validate-list-alerts.ts';

type ListRequest = RequestOf<typeof listAlerts>;
type ListResponse = ResponseOf<typeof listAlerts>;

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

/** Lists open alerts by the index, or the alerts of some ids and keys. */
function createListAlerts({ table }: Pick<Deps, 'table'>) {
  return async function operate({ body, caller, signal }: Call<ListRequest>) {
    if (body.is_active === false && !isNamed(body)) throw refusal('endedAlertsUnnamed');
    const own = withSignal(table, signal);
    const { items, next } = await readAlerts(own, caller.accountId, body, placeBefore(body, caller));
    const data: ListResponse = {
      items,
      has_next_page: next !== undefined,
      ...(next !== undefined && { search_after_ctx: sealCursor(caller, purposeOf(body), next) }),
    };
    return { data };
  };
}

export const createHandler = (deps: Deps): Handler =>
  createOperationHandler(listAlerts, { validate, crossCheck, operate: createListAlerts(deps) }, deps);
