import type { Deps } from '../../deps.ts';
import { type FieldError, refusal } from '../../http/errors.ts';
import type { Handler, RequestOf } from '../../http/operation.ts';
import { SEVERITIES } from '../../model/alert.ts';
import { createListHandler, spanErrors } from '../list-pages.ts';
import { isNamed, readAlerts, severitiesOf } from './read-alerts.ts';
import { listAlerts, MAX_DAYS, MAX_NAMED } from './schema.ts';
import validate from './validate-list-alerts.ts';

type ListRequest = RequestOf<typeof listAlerts>;

/** Rejects unknown severities, and times that are no span. */
function check(body: ListRequest): readonly FieldError[] {
  const { alert_severity } = listAlerts.request.properties;
  if (!severitiesOf(body).every((name) => (SEVERITIES as readonly string[]).includes(name)))
    return [{ field: 'alert_severity', schema: { ...alert_severity, enum: SEVERITIES } }];
  return spanErrors(body, listAlerts.request, MAX_DAYS);
}

const read: typeof readAlerts = (table, account, body, after) => {
  const isTimed = body.start_time !== undefined;
  if (isTimed && isNamed(body)) throw refusal('namedAlertsWithTimes');
  if (body.is_active === false && !isTimed && !isNamed(body)) throw refusal('endedAlertsUnnamed');
  const given = (body.alert_ids?.length ?? 0) + (body.alert_keys?.length ?? 0);
  if (given > MAX_NAMED)
    throw refusal('tooManyNamed', { fields: ['alert_ids', 'alert_keys'], given, maximum: MAX_NAMED });
  return readAlerts(table, account, body, after);
};

export const createHandler = (deps: Deps): Handler => createListHandler(listAlerts, { validate, check, read }, deps);
