import type { Deps } from '../../deps.ts';
import type { CrossCheck } from '../../http/body.ts';
import { createOperationHandler } from '../../http/call.ts';
import { refusal } from '../../http/errors.ts';
import type { Call, Handler, RequestOf, ResponseOf } from '../../http/operation.ts';
import { SEVERITIES } from '../../model/alert.ts';
import { withSignal } from '../../table/client.ts';
import { cursorsOf, spanErrors } from '../list-pages.ts';
import { isNamed, readAlerts, severitiesOf } from './read-alerts.ts';
import { listAlerts, MAX_DAYS, MAX_NAMED } from './schema.ts';
import validate from './validate-list-alerts.ts';

type ListRequest = RequestOf<typeof listAlerts>;
type ListResponse = ResponseOf<typeof listAlerts>;

const cursors = cursorsOf(listAlerts);

/** Rejects unknown severities, times that are no span, and a cursor that was not issued to the account for this list. */
const crossCheck: CrossCheck<ListRequest> = (body, offending, event) => {
  const { alert_severity } = listAlerts.request.properties;
  if (offending.size > 0) return [];
  if (!severitiesOf(body).every((name) => (SEVERITIES as readonly string[]).includes(name)))
    return [{ field: 'alert_severity', schema: { ...alert_severity, enum: SEVERITIES } }];
  const errors = spanErrors(body, listAlerts.request, MAX_DAYS);
  return errors.length > 0 ? errors : cursors.cursorErrors(body, event);
};

/** Lists alerts by the index, or the alerts of some ids and keys. */
function createListAlerts({ table }: Pick<Deps, 'table'>) {
  return async function operate({ body, caller, signal }: Call<ListRequest>) {
    const isTimed = body.start_time !== undefined;
    if (isTimed && isNamed(body)) throw refusal('namedAlertsWithTimes');
    if (body.is_active === false && !isTimed && !isNamed(body)) throw refusal('endedAlertsUnnamed');
    const given = (body.alert_ids?.length ?? 0) + (body.alert_keys?.length ?? 0);
    if (given > MAX_NAMED)
      throw refusal('tooManyNamed', { fields: ['alert_ids', 'alert_keys'], given, maximum: MAX_NAMED });
    const after = cursors.placeBefore(body, caller);
    const page = await readAlerts(withSignal(table, signal), caller.accountId, body, after);
    const data: ListResponse = cursors.dataOf(page, body, caller);
    return { data };
  };
}

export const createHandler = (deps: Deps): Handler =>
  createOperationHandler(listAlerts, { validate, crossCheck, operate: createListAlerts(deps) }, deps);
